import { LARGE } from './fill.ts';

/** What a request has cost the database, and how long its response took. */
export interface Cost {
  /** Pages of memory that PostgreSQL looked at. */
  readonly pages: number;
  readonly ms: number;
  readonly calls: number;
  readonly wallMs: number;
}

const AN_HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();

/** What the story of the examples does not ask: searches of the whole deployment, by callers who see more or less. */
export const MORE_REQUESTS: readonly (readonly [name: string, as: string, path: string])[] = [
  ['search of a member', 'ann', '/search?q=grown1'],
  ['search of a member, 1 character', 'ann', '/search?q=a'],
  ['search of an administrator', 'root', '/search?q=grown1'],
  ['search of an administrator, part of a name', 'root', '/search?q=rown'],
  ['search of an administrator, no hits', 'root', '/search?q=zzzq'],
  ['search of an administrator, 1 character', 'root', '/search?q=e'],
  ['search of an administrator, 2 characters', 'root', '/search?q=an'],
  ['users/search, all', 'ann', '/users/search?limit=50'],
  ['users/search, no hits', 'ann', '/users/search?q=zzzq'],
  // One hit with a thousand users, 1,111 with a million.
  ['users/search, few hits', 'ann', '/users/search?q=grown777'],
  ['users/search, most users', 'ann', '/users/search?q=grown&limit=50'],
  ['users/search, a sixteenth', 'ann', '/users/search?q=cleo&limit=50'],
  ['users/search, 1 character', 'ann', '/users/search?q=e&limit=50'],
  ['users/search, 2 characters, no hits', 'ann', '/users/search?q=qq'],
  ['admin/users', 'root', '/admin/users?limit=50'],
  ['admin/users, page 18', 'root', '/admin/users?limit=50&page=18'],
  ['admin/users, no hits', 'root', '/admin/users?q=zzzq'],
  ['admin/users, most users', 'root', '/admin/users?q=example&limit=50'],
  ['admin/users, active', 'root', '/admin/users?state=active&limit=50'],
  ['admin/users, administrators', 'root', '/admin/users?state=admin'],
  ['admin/orgs', 'root', '/admin/orgs?limit=50'],
  ['admin/orgs, all', 'root', '/admin/orgs?q=works&limit=50'],
  ['admin/orgs, no hits', 'root', '/admin/orgs?q=zzzq'],
  ['orgs of an administrator', 'root', '/orgs?limit=50'],
  ['admin/factors', 'root', '/admin/factors?limit=50'],
  ['user/clusters, all, administrator', 'root', '/user/clusters?all=true&limit=50'],
  ['user/clusters, all, by name', 'root', '/user/clusters?all=true&limit=50&sort=name'],
  ['user/clusters, all, no hits', 'root', '/user/clusters?all=true&limit=50&q=zzzq'],
  ['user/clusters, all, of a member', 'ann', '/user/clusters?all=true&limit=50'],
  ['audit of a large organization', 'root', `/orgs/${LARGE.name}/audit`],
  ['audit of a large organization, an hour ago', 'root', `/orgs/${LARGE.name}/audit?until=${AN_HOUR_AGO}`],
  ['audit of a large organization, by actor', 'root', `/orgs/${LARGE.name}/audit?actor=1000177`],
  ['audit of a large organization, by object', 'root', `/orgs/${LARGE.name}/audit?object=team:5000000`],
  ['audit of a large organization, by action', 'root', `/orgs/${LARGE.name}/audit?action=role.`],
  ['audit of a large organization, no hits', 'root', `/orgs/${LARGE.name}/audit?actor=1000177&action=contract.`],
  ['audit of a large organization, counts', 'root', `/orgs/${LARGE.name}/audit/actions`],
  ['audit of a large organization, histogram', 'root', `/orgs/${LARGE.name}/audit/histogram`],
  ['audit of all', 'root', '/admin/audit'],
  ['audit of all, by actor', 'root', '/admin/audit?actor=1000177'],
  ['audit of all, by action', 'root', '/admin/audit?action=team.update'],
  ['audit of all, counts', 'root', '/admin/audit/actions'],
  ['audit of all, histogram', 'root', '/admin/audit/histogram'],
];

/** Indexes get deeper, and a page has fifty users, each of whom is looked up in several of them. */
const SLACK = 400;
/** With a thousand users, these look at fewer rows than they may. In pages, from the first name that fits. */
const LONGEST: readonly (readonly [names: RegExp, pages: number])[] = [
  // A fixed number of names of each type.
  [/^search of an administrator/, 6_000],
  // A page like any other. With a thousand users, no entry is that old.
  [/^audit of a large organization, an hour ago$/, 1_000],
  // Up to ten thousand entries of each action, and fifty thousand of a histogram.
  [/^audit of .*(counts|histogram)$/, 60_000],
  // Ten thousand hits are counted, and each is looked up.
  [/^admin\/users, most users/, 100_000],
  [/most users|few hits|a sixteenth|character|^admin\/orgs, all|^user\/clusters, all|^admin\/factors/, 60_000],
];

/** At most one and a half times as much, or no more than the longest list that is looked at. */
export function isLevel(few: Cost | undefined, many: Cost, name = ''): boolean {
  if (few === undefined) return false;
  const longest = LONGEST.find(([names]) => names.test(name))?.[1] ?? 0;
  return many.pages <= Math.max(1.5 * few.pages + SLACK, longest);
}

export function tableOf(few: ReadonlyMap<string, Cost>, many: ReadonlyMap<string, Cost>): string[] {
  const shown = ({ pages, ms, wallMs }: Cost) => `${pages} | ${ms.toFixed(1)} | ${wallMs.toFixed(0)}`;
  return [...many].map(([name, cost]) => {
    const before = few.get(name);
    return `| ${name} | ${before ? shown(before) : '–'} | ${shown(cost)} |`;
  });
}
