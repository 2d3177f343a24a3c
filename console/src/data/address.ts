import { batch, type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';

type Fields<Name extends string> = Readonly<Record<Name, Signal<string>>>;

/**
 * Fields whose values are in the query of the address, so that every view is a link. They follow the address too: a
 * link to the same page with another query changes them.
 */
export function useQueryFields<Name extends string>(defaults: Readonly<Record<Name, string>>): Fields<Name> {
  const { query, path, route } = useLocation();
  // Until the next page has loaded, this one is still there, and must leave the new address alone.
  const isShown = useRoute().path === path;
  const names = Object.keys(defaults) as Name[];
  const fields = Object.fromEntries(
    names.map((name) => [name, useSignal(query[name] ?? defaults[name])]),
  ) as Fields<Name>;
  // What this page wrote into the address and has not seen there yet. A user who types fast is ahead of the address.
  const written = useRef(new Set<string>());
  const search = searchOf(names.map((name) => [name, fields[name].value]));
  const address = searchOf(names.map((name) => [name, query[name] ?? '']));
  const seen = useRef(address);
  useEffect(() => {
    if (!isShown) return;
    const isForeign = address !== seen.current && !written.current.has(address);
    seen.current = address;
    if (search === address) {
      written.current.clear();
    } else if (isForeign) {
      batch(() => {
        for (const name of names) fields[name].value = query[name] ?? defaults[name];
      });
    } else {
      written.current.add(search);
      route(search === '' ? path : `${path}?${search}`, true);
    }
  }, [search, address, isShown]);
  return fields;
}

function searchOf(pairs: readonly (readonly [string, string])[]): string {
  return new URLSearchParams(
    pairs.filter(([, value]) => value !== '').map(([name, value]) => [name, value]),
  ).toString();
}
