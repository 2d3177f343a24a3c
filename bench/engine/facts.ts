import type { Tuple } from '../../packages/rebac/src/rebac.ts';

/** The bench world as plain maps, for peers that have no relations and leave walking them to the caller. */
export interface Facts {
  /** By subject (a user or a team): the teams and roles that it is directly in. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly admins: ReadonlyMap<string, ReadonlySet<string>>;
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
  readonly owners: ReadonlyMap<string, readonly string[]>;
  readonly organizationOf: ReadonlyMap<string, string>;
  readonly grants: readonly { readonly role: string; readonly organization: string; readonly permission: string }[];
}

export function factsOf(tuples: readonly Tuple[]): Facts {
  const groups = new Map<string, string[]>();
  const admins = new Map<string, Set<string>>();
  const members = new Map<string, Set<string>>();
  const owners = new Map<string, string[]>();
  const organizationOf = new Map<string, string>();
  const grants: { role: string; organization: string; permission: string }[] = [];
  for (const { user, relation, object } of tuples) {
    const [subject = ''] = user.split('#');
    if (object.startsWith('team:') || object.startsWith('role:')) push(groups, subject, object);
    else if (relation === 'organization') organizationOf.set(object, user);
    else if (relation === 'owner') push(owners, object, user);
    else if (relation === 'admin') admins.set(object, (admins.get(object) ?? new Set()).add(user));
    else if (relation === 'member') members.set(object, (members.get(object) ?? new Set()).add(user));
    else grants.push({ role: subject, organization: object, permission: relation });
  }
  return { groups, admins, members, owners, organizationOf, grants };
}

/** All teams and roles that a user is in, directly or indirectly. */
export function allGroups(facts: Facts, user: string): string[] {
  const found = new Set<string>();
  const queue = [user];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const group of facts.groups.get(next) ?? []) {
      if (found.has(group)) continue;
      found.add(group);
      queue.push(group);
    }
  }
  return [...found];
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key) ?? [];
  list.push(value);
  map.set(key, list);
}
