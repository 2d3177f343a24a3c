import type { Tuple } from '../../packages/rebac/src/rebac.ts';

/** The permissions of the bench model. Plain members have the first FOR_MEMBERS of them, too. */
export const PERMISSIONS = [
  'can_view',
  'can_list',
  'can_watch',
  'can_comment',
  'can_edit',
  'can_scale',
  'can_restart',
  'can_backup',
  'can_restore',
  'can_upgrade',
  'can_delete',
  'can_share',
] as const;
export const FOR_MEMBERS = 4;

export const MODEL = `model
  schema 1.1
type user
type team
  relations
    define member: [user, team#member]
type role
  relations
    define assignee: [user, team#member]
type organization
  relations
    define admin: [user]
    define member: [user]
${PERMISSIONS.map((name, i) => `    define ${name}: [role#assignee] or admin${i < FOR_MEMBERS ? ' or member' : ''}`).join('\n')}
type cluster
  relations
    define organization: [organization]
    define owner: [user]
${PERMISSIONS.map((name) => `    define ${name}: owner or ${name} from organization`).join('\n')}
`;

/** The same, with roles that are assigned on single clusters, as in the model of the platform. */
export const ASSIGNED_MODEL = `${MODEL.replace(
  'type role',
  'type platform\n  relations\n    define anyone: [user:*]\ntype role',
)
  .replace(
    'type organization',
    `${PERMISSIONS.map((name) => `    define allows_${name}: [platform]\n    define ${name}: anyone from allows_${name}`).join('\n')}
type assignment
  relations
    define role: [role]
    define assignee: [user, team#member]
${PERMISSIONS.map((name) => `    define ${name}: assignee and ${name} from role`).join('\n')}
type organization`,
  )
  .replace('    define owner: [user]', '    define owner: [user]\n    define assignment: [assignment]')
  .replace(/: owner or (\w+) from organization/g, ': owner or $1 from organization or $1 from assignment')}`;

/**
 * One organization has a thousand tuples. 8 % of its users are in teams, which are nested and hold its custom roles.
 */
const USERS = 400;
const IN_TEAMS = 32;
const TEAMS = 12;
const ROLES = 8;
const CLUSTERS = 440;
/** With assignments: three tuples each, a tenth of all. As many clusters less as keep the number of tuples. */
const ASSIGNMENTS = 33;
export const ASSIGNED_CLUSTERS = CLUSTERS - 3 * ASSIGNMENTS - 10 * ROLES;

export interface Question {
  readonly org: number;
  readonly user: string;
  readonly object: string;
}

/** The same numbers on every run and every machine. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function* tuplesOf(org: number, isAssigned = false): IterableIterator<Tuple & { readonly source: string }> {
  const clusters = isAssigned ? ASSIGNED_CLUSTERS : CLUSTERS;
  const pick = random(org + 1);
  const organization = `organization:${org}`;
  for (let i = 0; i < USERS; i++)
    yield { user: person(org, i), relation: 'member', object: organization, source: `org:${org}` };
  for (let i = 0; i < 2; i++)
    yield { user: person(org, i), relation: 'admin', object: organization, source: `org:${org}` };
  for (let i = 0; i < IN_TEAMS; i++) {
    const team = pick(TEAMS);
    yield {
      user: person(org, 8 + i),
      relation: 'member',
      object: `team:${id(org, team)}`,
      source: `team:${id(org, team)}`,
    };
  }
  // Each team except the first is in an earlier one, so membership is three or four teams deep.
  for (let team = 1; team < TEAMS; team++) {
    const parent = `team:${id(org, Math.floor((team - 1) / 2))}`;
    yield { user: `team:${id(org, team)}#member`, relation: 'member', object: parent, source: parent };
  }
  for (let role = 0; role < ROLES; role++) {
    const name = `role:${id(org, role)}`;
    yield { user: `team:${id(org, pick(TEAMS))}#member`, relation: 'assignee', object: name, source: name };
    for (let i = 0; i < 10; i++) {
      const relation = PERMISSIONS[(role * 5 + i) % PERMISSIONS.length] as string;
      yield { user: `${name}#assignee`, relation, object: organization, source: name };
      if (isAssigned) yield { user: 'platform:1', relation: `allows_${relation}`, object: name, source: name };
    }
  }
  for (let i = 0; i < clusters; i++) {
    yield { user: organization, relation: 'organization', object: `cluster:${id(org, i)}`, source: `org:${org}` };
  }
  for (let i = 0; i < 27; i++) {
    yield {
      user: person(org, pick(USERS)),
      relation: 'owner',
      object: `cluster:${id(org, pick(clusters))}`,
      source: `org:${org}`,
    };
  }
  if (isAssigned) yield* assignmentsOf(org, pick);
}

/** A third of them to teams. */
function* assignmentsOf(org: number, pick: (below: number) => number): IterableIterator<Tuple & { source: string }> {
  if (org === 0) yield { user: 'user:*', relation: 'anyone', object: 'platform:1', source: 'platform:1' };
  for (let i = 0; i < ASSIGNMENTS; i++) {
    const name = `assignment:${id(org, i)}`;
    const assignee = i % 3 === 0 ? `team:${id(org, pick(TEAMS))}#member` : person(org, pick(USERS));
    const cluster = `cluster:${id(org, pick(ASSIGNED_CLUSTERS))}`;
    yield { user: `role:${id(org, pick(ROLES))}`, relation: 'role', object: name, source: name };
    yield { user: assignee, relation: 'assignee', object: name, source: name };
    yield { user: name, relation: 'assignment', object: cluster, source: name };
  }
}

export function* tuplesOfAll(orgs: number, isAssigned = false): IterableIterator<Tuple & { readonly source: string }> {
  for (let org = 0; org < orgs; org++) yield* tuplesOf(org, isAssigned);
}

/**
 * `even` picks everything equally often. `skewed` picks a fifth of the organizations, users and clusters four times out
 * of five, as real callers do.
 */
export type Habit = 'even' | 'skewed';

/** If u is uniform between 0 and 1, four fifths of all u to this power are below one fifth. */
const PARETO = Math.log(0.2) / Math.log(0.8);

export function questionsOf(
  orgs: number,
  count: number,
  habit: Habit = 'even',
  seed = 7,
  clusters = CLUSTERS,
): Question[] {
  const even = random(seed);
  const pick = (below: number): number =>
    habit === 'even' ? even(below) : Math.floor(below * (even(1_000_000) / 1_000_000) ** PARETO);
  return Array.from({ length: count }, () => {
    const org = pick(orgs);
    return { org, user: person(org, pick(USERS)), object: `cluster:${id(org, pick(clusters))}` };
  });
}

function person(org: number, number: number): string {
  return `user:${id(org, number)}`;
}

/** IDs are numbers, as on the platform. */
function id(org: number, number: number): number {
  return 100_000 + org * 1000 + number;
}
