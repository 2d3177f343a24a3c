import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';

type Fields<Name extends string> = Readonly<Record<Name, Signal<string>>>;

/** Fields whose values are in the query of the address, so that every view is a link. */
export function useQueryFields<Name extends string>(defaults: Readonly<Record<Name, string>>): Fields<Name> {
  const { query, path, route } = useLocation();
  const names = Object.keys(defaults) as Name[];
  const fields = Object.fromEntries(
    names.map((name) => [name, useSignal(query[name] ?? defaults[name])]),
  ) as Fields<Name>;
  const search = new URLSearchParams(
    names.flatMap((name) => (fields[name].value === '' ? [] : [[name, fields[name].value]])),
  ).toString();
  useEffect(() => {
    if (location.pathname === path && location.search.slice(1) !== search) {
      route(search === '' ? path : `${path}?${search}`, true);
    }
  }, [search]);
  return fields;
}
