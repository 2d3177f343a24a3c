import { pathToFileURL } from 'node:url';
import { OBJECT_KINDS } from '../../../client/object-kinds.gen.ts';
import { NAMED_TYPES } from '../../../client/object-kinds.ts';

/** What has pages of its own, as the segment before its ID in the address. */
export const NOUNS = [
  ...NAMED_TYPES.map((type) => OBJECT_KINDS[type].plural),
  'deliveries',
  'subscriptions',
  'installers',
  'providers',
  'credentials',
  'invitations',
  'requests',
  'reviews',
  'webhooks',
  'admin/webhooks',
] as const;

/** An object of each kind. */
export type Ids = Readonly<Record<(typeof NOUNS)[number], string>>;

const list = pathToFileURL('console/src/shell/pages.ts').href;
const { PAGES } = (await import(list)) as { PAGES: readonly { path: string }[] };

/** Every page of the console, as its own list has it, such as `/orgs/:org/teams/:id`. */
export const CONSOLE_ROUTES: readonly string[] = [
  '/welcome',
  '/signin/link',
  '/signin/forgot',
  '/signin/reset',
  '/signin/signup',
  '/invitations/:code',
  ...PAGES.map(({ path }) => path),
];

/** Views that the address alone does not show. */
const VIEWS: Readonly<Record<string, (ids: Ids) => readonly string[]>> = {
  '/orgs/:org/access/why': ({ clusters }) => [
    `?user=dan&relation=can_connect&object=cluster:${clusters}`,
    `?user=cat&relation=can_remove&object=cluster:${clusters}`,
  ],
  '/orgs/:org/access/who': ({ clusters }) => [`?relation=can_edit&type=cluster&id=${clusters}`],
  '/orgs/:org/access/map': () => ['?to=user:dan', '?on=organization'],
  '/orgs/:org/access/matrix': () => ['?relation=can_connect', '?type=team&differences=true', '?users=bob,cat'],
  '/orgs/:org/requests/new': ({ clusters }) => [`?object=cluster:${clusters}&relation=can_edit`],
  '/orgs/:org/reviews': () => ['?start=unused'],
  '/orgs/:org/reviews/:id': () => ['?item=1'],
  '/orgs/:org/clusters/:id': () => ['?tab=access', '?tab=health', '?tab=audit'],
};

/** Addresses that show something. A page without test data is an error. */
export function pathsOf(route: string, ids: Ids): readonly [string, ...string[]] {
  const path = route === '*' ? '/orgs/acme/nothing/like/this' : fill(route, ids);
  return [path, ...(VIEWS[route]?.(ids) ?? []).map((query) => path + query)];
}

/** At most so many of them, spread over the whole list. */
export function spread<T>(list: readonly T[], count: number): T[] {
  const step = Math.ceil(list.length / count);
  return list.filter((_, at) => at % step === 0);
}

/** Who sees all of the page. Undefined for pages of those who are not signed in. */
export function personFor(route: string): string | undefined {
  if (route.startsWith('/signin') || route === '/welcome' || route === '/invitations/:code') return undefined;
  return route.startsWith('/admin') ? 'root' : 'ann';
}

function fill(route: string, ids: Ids): string {
  const segments = route.split('/');
  return segments
    .map((segment, index) => {
      if (!segment.startsWith(':')) return segment;
      if (segment === ':org') return 'acme';
      if (segment === ':login') return 'dan';
      const before = segments.slice(0, index).filter((one) => one !== '');
      // Those of an organization and those of the deployment are different ones.
      const noun = [before.join('/'), before.at(-1)].map((name) => NOUNS.find((one) => one === name)).find(Boolean);
      if (noun === undefined) throw new Error(`the page ${route} has no test data: add it to NOUNS`);
      return ids[noun];
    })
    .join('/');
}
