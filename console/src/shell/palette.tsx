import { useSignal } from '@preact/signals';
import { useId, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useSettled } from '../data/filters.ts';
import { orgPath } from '../data/org.ts';
import { useResource } from '../data/resource.ts';
import { isSiteAdmin, me } from '../data/session.ts';
import { Icon, type IconName } from '../icons/icon.tsx';
import { useModal } from '../parts/modal.ts';
import { useCurrentOrg } from './current-org.ts';
import { organizationGroups, personalGroups } from './navigation.tsx';

interface Found {
  readonly href: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
}

const MAX_FOUND = 12;
const MAX_PEOPLE = 4;
const MIN_LETTERS = 2;

/** Goes anywhere: pages, organizations, clusters, teams and people, by any part of their name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const text = useSignal('');
  const active = useSignal(0);
  const { route } = useLocation();
  const everything = useEverything();
  const people = usePeople(text.value);
  const found = useMemo(() => search(everything, text.value, people), [everything, text.value, people]);
  const index = Math.min(active.value, found.length - 1);
  useModal(ref);

  function go(one: Found | undefined): void {
    if (!one) return;
    onClose();
    route(one.href);
  }

  return (
    <dialog
      ref={ref}
      class="dialog palette"
      aria-label="Search and go anywhere"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${index}` : undefined}
        placeholder="Go to a page, an organization, a cluster, a team, a person"
        autoComplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') go(found[index]);
          else if (event.key === 'ArrowDown') active.value = (index + 1) % Math.max(1, found.length);
          else if (event.key === 'ArrowUp') active.value = (index - 1 + found.length) % Math.max(1, found.length);
          else return;
          event.preventDefault();
        }}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Results">
        {found.map((one, place) => (
          <li
            key={`${one.href} ${one.title}`}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === index}
            class={place === index ? 'active' : undefined}
            onMouseEnter={() => (active.value = place)}
            onClick={() => go(one)}
          >
            <Icon name={one.icon} />
            <bdi class="cut">{one.title}</bdi>
            <span class="kind">{one.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="quiet" role="status">
          Nothing matches.
        </p>
      )}
    </dialog>
  );
}

/** People are found on the server, because nobody may see the list of all of them at once. */
function usePeople(text: string): readonly Found[] {
  const org = useCurrentOrg();
  const wanted = useSettled(text.trim());
  const isAdmin = isSiteAdmin.value;
  const isAsked = wanted.length >= MIN_LETTERS && text.trim() !== '';
  const { data } = useResource(
    isAsked ? 'GET /users/search' : undefined,
    isAsked ? { query: { q: wanted, limit: MAX_PEOPLE } } : undefined,
  );
  return useMemo(() => {
    if (!isAsked || (org === undefined && !isAdmin)) return [];
    return (data?.data ?? []).map(({ login, full_name }) => ({
      href: `${org === undefined ? '/admin/users' : orgPath(org, '/members')}/${encodeURIComponent(login)}`,
      title: full_name && full_name !== login ? `${login} (${full_name})` : login,
      kind: 'person',
      icon: 'members' as const,
    }));
  }, [data, org, isAdmin, isAsked]);
}

function useEverything(): readonly Found[] {
  const org = useCurrentOrg();
  const orgs = useResource('GET /orgs', { query: { limit: 50 } }).data;
  const clusters = useResource('GET /user/clusters', { query: { all: 'true' } }).data;
  const teams = useResource('GET /user/teams').data;
  return useMemo(() => {
    const pages = [...(org ? organizationGroups(org) : []), ...personalGroups()].flatMap(({ title, entries }) =>
      entries.map((entry) => ({ href: entry.href, title: entry.title, kind: title, icon: entry.icon })),
    );
    return [
      ...pages,
      ...(orgs ?? []).map(({ name }) => ({
        href: `/orgs/${encodeURIComponent(name)}`,
        title: name,
        kind: 'organization',
        icon: 'overview' as const,
      })),
      ...(teams ?? []).map((team) => ({
        href: `/orgs/${encodeURIComponent(team.organization.name)}/teams/${team.id}`,
        title: team.name,
        kind: `team of ${team.organization.name}`,
        icon: 'teams' as const,
      })),
      ...(clusters ?? []).map((cluster) => ({
        // One's own clusters are on a page of their own.
        href: cluster.ownerID === me.value?.id ? '/me/clusters' : orgPath(cluster.ownerName, `/clusters/${cluster.id}`),
        title: cluster.displayName || cluster.name,
        kind: `cluster of ${cluster.ownerName}`,
        icon: 'clusters' as const,
      })),
    ];
  }, [org, orgs, teams, clusters]);
}

/** Of ten thousand entries, lower case is made once and not at each letter. */
const texts = new WeakMap<Found, string>();

function textOf(one: Found): string {
  const text = texts.get(one) ?? `${one.title} ${one.kind}`.toLowerCase();
  texts.set(one, text);
  return text;
}

/** What starts with the text comes before what only contains it. Of the places, people keep some. */
export function search(all: readonly Found[], text: string, people: readonly Found[] = []): readonly Found[] {
  const places = MAX_FOUND - people.length;
  const wanted = text.trim().toLowerCase();
  const starting: Found[] = [];
  const containing: Found[] = [];
  for (const one of all) {
    const at = textOf(one).indexOf(wanted);
    if (at === 0) starting.push(one);
    else if (at > 0 && containing.length < places) containing.push(one);
    if (starting.length >= places) break;
  }
  return [...[...starting, ...containing].slice(0, places), ...people];
}
