import { createGraph } from '../../src/rebac/graph.ts';
import type { Model } from '../../src/rebac/model.ts';
import type { Random } from './random.ts';

const USERS = 12;
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
  const things = ['cluster:1', 'cluster:2', 'cluster:3', 'token:1', 'token:2'];
  const grantable = shown(model, 'organization');
  const tuples = [
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
      ...random.some(users, 0.05).map((user) => ({ user, relation: 'assignee', object: role })),
      ...random.some(grantable, 0.1).map((relation) => ({ user: `${role}#assignee`, relation, object: HOME })),
    ]),
    ...things.flatMap((object) => (random.chance(0.9) ? [{ user: HOME, relation: 'organization', object }] : [])),
  ];
  return { graph: createGraph(model, tuples), tuples, users, objects: [HOME, ...teams, ...things] };
}
