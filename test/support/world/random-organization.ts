import { createGraph, type Model } from '../../../packages/rebac/src/rebac.ts';
import type { Random } from '../checks/random.ts';

const USERS = 12;
const MAX_ASSIGNMENTS = 16;
const LEVELS = ['owner', 'admin', 'editor', 'viewer'];
export const HOME = 'organization:1';

/** The relations of a type that callers can ask about. */
export function shown(model: Model, type: string): string[] {
  const relations = model.typeIndex.get(type)?.relations ?? [];
  return relations.map(({ name }) => name).filter((name) => name.startsWith('can_'));
}

/** An organization as the database would state it, with some tuples that it would not. */
export function randomOrganization(model: Model, random: Random) {
  const users = Array.from({ length: USERS }, (_, at) => `user:${at + 1}`);
  const teams = Array.from({ length: 6 }, (_, at) => `team:${at + 1}`);
  const roles = Array.from({ length: 4 }, (_, at) => `role:${at + 1}`);
  const robots = ['robot_ac:1', 'robot_ac:2'];
  const sets = ['cluster_set:1', 'cluster_set:2'];
  const clusters = ['cluster:1', 'cluster:2', 'cluster:3'];
  const things = [...clusters, 'contract:1', 'contract:2', ...robots, 'token:1', 'token:2'];
  const grantable = shown(model, 'organization');
  const contents = (model.typeIndex.get('role')?.relations ?? []).map(({ name }) => name);
  const allowing = contents.filter((name) => name.startsWith('allows_'));
  const tuples = [
    { user: 'user:*', relation: 'anyone', object: 'platform:atrium' },
    { user: 'robot_ac:*', relation: 'anyone', object: 'platform:atrium' },
    ...robots.map((user) => ({ user, relation: 'robot', object: HOME })),
    { user: 'platform:atrium', relation: 'platform', object: HOME },
    ...random.some(users, 0.05).map((user) => ({ user, relation: 'admin', object: 'platform:atrium' })),
    ...random.some(users, 0.05).map((user) => ({ user, relation: 'last_owner', object: HOME })),
    ...teams.flatMap((team, at) => [
      { user: HOME, relation: at === 0 ? 'owned_by' : 'organization', object: team },
      { user: `${team}#member`, relation: 'participant', object: HOME },
      ...(random.chance(0.4) ? [{ user: `${team}#member`, relation: random.pick(LEVELS), object: HOME }] : []),
      ...(random.chance(0.3) ? [{ user: 'user:*', relation: 'built_in', object: team }] : []),
      ...(random.chance(0.2) ? [{ user: 'user:*', relation: 'kept', object: team }] : []),
      ...(random.chance(0.2) ? [{ user: `${HOME}#editor`, relation: 'steward', object: team }] : []),
      ...random.some(users, 0.25).map((user) => ({ user, relation: 'member', object: team })),
    ]),
    ...roles.flatMap((role) => [
      { user: HOME, relation: 'organization', object: role },
      ...random.some(teams, 0.3).map((team) => ({ user: `${team}#member`, relation: 'assignee', object: role })),
      ...random.some([...users, ...robots], 0.05).map((user) => ({ user, relation: 'assignee', object: role })),
      ...random.some(allowing, 0.2).map((relation) => ({ user: 'platform:atrium', relation, object: role })),
      ...random.some(grantable, 0.1).map((relation) => ({ user: `${role}#assignee`, relation, object: HOME })),
    ]),
    ...clusters.flatMap((object) => (random.chance(0.6) ? [{ user: random.pick(sets), relation: 'set', object }] : [])),
    ...assignments(),
    ...things.flatMap((object) => (random.chance(0.9) ? [{ user: HOME, relation: 'organization', object }] : [])),
  ];
  return { graph: createGraph(model, tuples), tuples, users, robots, objects: [HOME, ...teams, ...things] };

  /** Roles for users, robot accounts and teams, on objects of every kind. */
  function assignments() {
    const places = [...teams, ...sets, ...things.filter((object) => !object.startsWith('token:'))];
    return Array.from({ length: random.below(MAX_ASSIGNMENTS) }, (_, at) => {
      const [assignment, object] = [`assignment:${at + 1}`, random.pick(places)];
      const assignee = random.pick([...users, ...robots, ...teams.map((team) => `${team}#member`)]);
      return [
        { user: random.pick(roles), relation: 'role', object: assignment },
        { user: assignee, relation: 'assignee', object: assignment },
        { user: assignment, relation: object === 'team:1' ? 'view_assignment' : 'assignment', object },
      ];
    }).flat();
  }
}
