import { allowed } from '../../rebac/engine.ts';
import { createGraph, type Graph } from '../../rebac/graph.ts';
import { statedTo } from '../../rebac/stated.ts';
import type { Reason } from '../explain/all-paths.ts';
import { byId } from '../object-ref.ts';

/** Where rights come from: a team, a role of a team, or the deployment that the user is an administrator of. */
export interface Source {
  readonly kind: Exclude<Reason['kind'], 'owner'>;
  /** As in the graph, such as `team:4`. */
  readonly object: string;
  /** A role: the teams of the user that have it. */
  readonly teams: readonly string[];
  /** Everybody in one of these holds what comes from this source. */
  readonly subjects: readonly string[];
}

const SHOWN = { prefix: 'can_' };

/**
 * Everything that makes a user somebody in an organization. What a team gives by its roles comes from the roles, so that
 * a team and its roles are told apart.
 */
export function sourcesOf(graph: Graph, organization: string, user: string): Source[] {
  const stated = statedTo(graph, user);
  const teams = stated.filter(({ relation, object }) => relation === 'member' && object.startsWith('team:'));
  const found: Source[] = [];
  const roles = new Map<string, string[]>();
  for (const { relation, object } of stated) if (isRole(relation, object)) roles.set(object, []);
  for (const { object: team } of teams.sort((one, other) => byId(one.object, other.object))) {
    const given = statedTo(graph, `${team}#member`);
    const levels = given.filter(({ object }) => object === organization);
    const subjects = levels.map(({ relation }) => `${organization}#${relation}`);
    found.push({ kind: 'team', object: team, teams: [], subjects });
    for (const { relation, object } of given) {
      if (isRole(relation, object)) roles.set(object, [...(roles.get(object) ?? []), team]);
    }
  }
  for (const [object, through] of [...roles].sort(([one], [other]) => byId(one, other))) {
    found.push({ kind: 'role', object, teams: through, subjects: [`${object}#assignee`] });
  }
  for (const { relation, object } of stated) {
    if (!object.startsWith('platform:')) continue;
    found.push({ kind: 'platform', object, teams: [], subjects: [`${object}#${relation}`] });
  }
  return found;
}

/** The relations on an object that come from a source. A user who has the source may still be excluded from some. */
export function givenBy(graph: Graph, source: Source, object: string): ReadonlySet<string> {
  const given = new Set(source.subjects.flatMap((subject) => allowed(graph, subject, object, SHOWN)));
  if (source.object === object) for (const relation of ofMembers(graph, object)) given.add(relation);
  return given;
}

/** What follows for the members of a team from nothing but being a member: on the team itself. */
function ofMembers({ model }: Graph, team: string): readonly string[] {
  const user = 'user:0';
  return allowed(createGraph(model, [{ user, relation: 'member', object: team }]), user, team, SHOWN);
}

function isRole(relation: string, object: string): boolean {
  return relation === 'assignee' && object.startsWith('role:');
}
