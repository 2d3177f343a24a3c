import { useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Answer } from '../../../client/client.ts';
import { OBJECT_KINDS } from '../../../client/object-kinds.gen.ts';
import { NAMED_TYPES, type NamedType } from '../../../client/object-kinds.ts';
import { api } from '../data/api.ts';
import { mayLeave } from '../data/draft.ts';
import { useSettled } from '../data/filters.ts';
import { orgPath } from '../data/org.ts';
import { recentPages } from '../data/recent-pages.ts';
import { useResource } from '../data/resource.ts';
import { isSiteAdmin, me } from '../data/session.ts';
import { Icon, type IconName } from '../icons/icon.tsx';
import { useModal } from '../parts/modal.ts';
import { readSentence, relationFor } from './asked-sentence.ts';
import { useCurrentOrg } from './current-org.ts';
import { allGroups } from './menu.ts';

interface Found {
  readonly href: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
}

const MAX_PLACES = 12;
const MAX_TEXT = 64;
const MAX_SENTENCES = 4;

/** Goes anywhere: pages, and everything that the caller may see, by any part of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const text = useSignal('');
  const active = useSignal(0);
  const { route } = useLocation();
  const places = usePlaces();
  const { answers, isPending } = useFound(text.value);
  const sentences = useSentences(text.value);
  const found = useMemo(
    () => [...sentences, ...search(places, text.value, answers)],
    [places, text.value, answers, sentences],
  );
  const index = Math.min(active.value, found.length - 1);
  useModal(ref);

  function go(one: Found | undefined): void {
    if (!one || !mayLeave()) return;
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
        placeholder="A page, a name, > for actions, or: dan connect prod"
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
        <p class="quiet nothing" role="status">
          {isPending ? 'Searching …' : 'Nothing matches.'}
        </p>
      )}
    </dialog>
  );
}

/** Everything that has a name is found on the server, which knows what the caller may see. The former search is aborted. */
function useFound(text: string): { answers: readonly Found[]; isPending: boolean } {
  const org = useCurrentOrg();
  const wanted = useSettled(text.trim()).slice(0, MAX_TEXT);
  const found = useSignal<Answer<'GET /search'> | undefined>(undefined);
  const answered = useSignal('');
  useEffect(() => {
    if (wanted === '') {
      found.value = undefined;
      answered.value = '';
      return;
    }
    const controller = new AbortController();
    api.call('GET /search', { query: { q: wanted }, signal: controller.signal }).then(
      (answer) => {
        found.value = answer;
        answered.value = wanted;
      },
      () => {
        if (controller.signal.aborted) return;
        found.value = undefined;
        answered.value = wanted;
      },
    );
    return () => controller.abort();
  }, [wanted]);
  const answer = text.trim() === '' ? undefined : found.value;
  const answers = useMemo(() => (answer === undefined ? [] : entriesOf(answer, org)), [answer, org]);
  return { answers, isPending: text.trim().slice(0, MAX_TEXT) !== answered.value };
}

type Answered = Answer<'GET /search'>;

/** In groups, as the server lists them. What has no page of its own is left out. */
function entriesOf(answer: Answered, org: string | undefined): readonly Found[] {
  const of = (type: NamedType) => {
    const { plural: kind, word } = OBJECT_KINDS[type];
    return answer[kind].flatMap(({ id, name, title, organization }): Found[] => {
      if (organization === undefined && kind !== 'clusters') return [];
      // One's own clusters are on a page of their own.
      const href = organization === undefined ? '/me/clusters' : orgPath(organization, `/${kind}/${id}`);
      const whose = organization === undefined ? `your ${word}` : `${word} of ${organization}`;
      return [{ href, title: title ?? name, kind: whose, icon: kind }];
    });
  };
  const people = org === undefined && !isSiteAdmin.value ? [] : answer.people;
  return [
    ...answer.organizations.map(({ name }) => organizationEntry(name)),
    ...NAMED_TYPES.flatMap(of),
    ...people.map(({ name, title }) => ({
      href: `${org === undefined ? '/admin/users' : orgPath(org, '/members')}/${encodeURIComponent(name)}`,
      title: title === undefined ? name : `${name} (${title})`,
      kind: 'person',
      icon: 'members' as const,
    })),
    ...answer.installers.map(({ id, marketplace }) => ({
      href: `/admin/installers/${encodeURIComponent(id)}`,
      title: id,
      kind: `installer of ${marketplace}`,
      icon: 'installers' as const,
    })),
  ];
}

function organizationEntry(name: string): Found {
  return { href: orgPath(name), title: name, kind: 'organization', icon: 'overview' };
}

/** "dan connect prod" is a question: each person and object that it can mean is a sentence with an answer. */
function useSentences(text: string): readonly Found[] {
  const org = useCurrentOrg();
  const asked = readSentence(useSettled(text).slice(0, MAX_TEXT));
  const isAsked = org !== undefined && asked !== undefined;
  const model = useResource(isAsked ? 'GET /authz/model' : undefined).data;
  const people = useResource(isAsked ? 'GET /search' : undefined, {
    query: { q: asked?.person ?? '', org, types: 'people' },
  }).data?.people;
  const found = useResource(isAsked ? 'GET /search' : undefined, {
    query: { q: asked?.object ?? '', org, types: NAMED_TYPES.map((type) => OBJECT_KINDS[type].plural).join() },
  }).data;
  return useMemo(() => {
    if (!isAsked || !model || !people || !found) return [];
    const objects = NAMED_TYPES.flatMap((type) =>
      found[OBJECT_KINDS[type].plural].map((one) => ({ type, id: one.id, name: one.title ?? one.name })),
    );
    return people
      .slice(0, MAX_SENTENCES)
      .flatMap(({ name: user }) =>
        objects.flatMap(({ type, id, name }): Found[] => {
          const relations = model.types.find((one) => one.type === type)?.relations ?? [];
          const relation = relationFor(relations, asked.verb);
          if (relation === undefined) return [];
          const query = new URLSearchParams({ user, relation: relation.relation, object: `${type}:${id}` });
          return [
            {
              href: `${orgPath(org, '/access/why')}?${query}`,
              title: `May ${user} ${relation.title}: ${name}?`,
              kind: 'question',
              icon: 'why',
            },
          ];
        }),
      )
      .slice(0, MAX_SENTENCES);
  }, [isAsked, asked?.verb, model, people, found, org]);
}

/** What can be begun from anywhere. */
function actionsIn(org: string | undefined): readonly Found[] {
  const action = (href: string, title: string, icon: IconName): Found => ({ href, title, kind: 'action', icon });
  return [
    ...(org === undefined
      ? []
      : [
          action(orgPath(org, '/roles/new'), 'New role', 'roles'),
          action(orgPath(org, '/teams/new'), 'New team', 'teams'),
          action(orgPath(org, '/invitations'), 'Invite people', 'mail'),
          action(orgPath(org, '/clusters/import'), 'Import cluster', 'clusters'),
          action(orgPath(org, '/requests/new'), 'Request access', 'key'),
        ]),
    action('/orgs/new', 'New organization', 'overview'),
    action('/me/tokens', 'New token', 'code'),
  ];
}

/** What is there before anything is typed: pages, and one's organizations. */
function usePlaces(): readonly Found[] {
  const org = useCurrentOrg();
  const orgs = useResource('GET /orgs', { query: { limit: 50 } }).data;
  return useMemo(() => {
    const pages = allGroups(org).flatMap(({ title, entries }) =>
      entries.map((entry) => ({ href: entry.href, title: entry.title, kind: title || 'page', icon: entry.icon })),
    );
    const recent = recentPages(me.value?.id)
      .filter(({ href }) => href !== location.pathname)
      .map(({ href, title }): Found => ({ href, title, kind: 'recent', icon: 'audit' }));
    return [...recent, ...pages, ...actionsIn(org), ...(orgs ?? []).map(({ name }) => organizationEntry(name))];
  }, [org, orgs]);
}

/** Of the places, what starts with the text comes before what only contains it. Then comes what the server found. */
function search(places: readonly Found[], text: string, found: readonly Found[]): readonly Found[] {
  const isForActions = text.trim().startsWith('>');
  const wanted = text.trim().replace(/^>\s*/, '').toLowerCase();
  if (isForActions)
    return places.filter(({ kind, title }) => kind === 'action' && title.toLowerCase().includes(wanted));
  const at = (one: Found) => `${one.title} ${one.kind}`.toLowerCase().indexOf(wanted);
  const starting = places.filter((one) => at(one) === 0);
  const containing = wanted === '' ? [] : places.filter((one) => at(one) > 0);
  const seen = new Set<string>();
  const here = [...starting, ...containing]
    .filter(({ href }) => !seen.has(href) && seen.add(href))
    .slice(0, MAX_PLACES);
  const known = new Set(here.map(({ href }) => href));
  return [...here, ...found.filter(({ href }) => !known.has(href))];
}
