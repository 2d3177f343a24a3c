import {
  allowed,
  check,
  createGraph,
  type Graph,
  type Stated,
  statedAbout,
  statedTo,
} from '../../../packages/rebac/src/rebac.ts';
import { ON_OBJECTS } from '../../changes/derived-tuples.ts';
import type { Reason } from '../explain/all-paths.ts';
import { byId } from '../object-ref.ts';

/** Where rights come from: a team, a role of a team, or the deployment that the user is an administrator of. */
export interface Source {
  readonly kind: Exclude<Reason['kind'], 'owner'>;
  /** As in the graph, such as `team:4`. */
  readonly object: string;
  /** A role: the teams of the user that have it. */
  readonly teams: readonly string[];
  /** Every user in one of these holds what comes from this source. */
  readonly subjects: readonly string[];
  /** A role: the single objects and sets of clusters on which the user has it, and how they point to the assignments. */
  readonly places?: ReadonlyMap<string, ReadonlySet<string>>;
}

const SHOWN = { prefix: 'can_' };

/**
 * Everything that gives a user something in an organization. What a team gives by its roles comes from the roles, so
 * that a team and its roles are told apart.
 */
export function sourcesOf(graph: Graph, organization: string, user: string): Source[] {
  const stated = statedTo(graph, user);
  const teams = stated.filter(({ relation, object }) => relation === 'member' && object.startsWith('team:'));
  const found: Source[] = [];
  /** The roles that count in the whole organization. */
  const whole = new Set<string>();
  const roles = new Map<string, Set<string>>();
  const places = new Map<string, Map<string, Set<string>>>();
  const note = (given: readonly Stated[], team?: string) => {
    for (const { relation, object } of given) {
      const isWhole = isRole(relation, object);
      if (isWhole) whole.add(object);
      const role = isWhole ? object : roleAt(graph, relation, object, places);
      if (role === undefined) continue;
      const through = roles.get(role) ?? new Set();
      if (team !== undefined) through.add(team);
      roles.set(role, through);
    }
  };
  note(stated);
  for (const { object: team } of teams.sort((one, other) => byId(one.object, other.object))) {
    const given = statedTo(graph, `${team}#member`);
    const levels = given.filter(({ object }) => object === organization);
    const subjects = levels.map(({ relation }) => `${organization}#${relation}`);
    found.push({ kind: 'team', object: team, teams: [], subjects });
    note(given, team);
  }
  for (const [object, through] of [...roles].sort(([one], [other]) => byId(one, other))) {
    const at = places.get(object);
    // On a single object, the role gives nothing elsewhere.
    const subjects = whole.has(object) ? [`${object}#assignee`] : [];
    found.push({ kind: 'role', object, teams: [...through], subjects, ...(at && { places: at }) });
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
  for (const relation of givenThere(graph, source, object)) given.add(relation);
  if (source.object === object) for (const relation of ofMembers(graph, object)) given.add(relation);
  return given;
}

/** The role of an assignment. Notes where it is. */
function roleAt(
  graph: Graph,
  relation: string,
  assignment: string,
  places: Map<string, Map<string, Set<string>>>,
): string | undefined {
  if (relation !== 'assignee' || !assignment.startsWith('assignment:')) return undefined;
  const [role] = statedAbout(graph, assignment, 'role');
  if (role === undefined) return undefined;
  const known = places.get(role) ?? new Map<string, Set<string>>();
  for (const { relation: points, object } of statedTo(graph, assignment)) {
    known.set(object, (known.get(object) ?? new Set()).add(points));
  }
  // On the whole organization, the role itself tells everything.
  if (known.size > 0) places.set(role, known);
  return known.size > 0 ? role : undefined;
}

/** What a role gives on an object that it is assigned on, or on a cluster of such a set. */
function givenThere(graph: Graph, { object: role, places }: Source, object: string): readonly string[] {
  if (places === undefined) return [];
  const isIn = (place: string) =>
    place === object ||
    (place.startsWith('cluster_set:') &&
      object.startsWith('cluster:') &&
      check(graph, { user: place, relation: 'set', object }));
  const points = new Set([...places].flatMap(([place, pointers]) => (isIn(place) ? [...pointers] : [])));
  if (points.size === 0) return [];
  const [user, assignment, platform] = ['user:0', 'assignment:0', 'platform:atrium'];
  const contains = [...ON_OBJECTS.values()].filter((relation) =>
    check(graph, { user: platform, relation, object: role }),
  );
  const alone = createGraph(graph.model, [
    { user: 'user:*', relation: 'anyone', object: platform },
    ...contains.map((relation) => ({ user: platform, relation, object: role })),
    { user: role, relation: 'role', object: assignment },
    { user, relation: 'assignee', object: assignment },
    ...[...points].map((relation) => ({ user: assignment, relation, object })),
  ]);
  return allowed(alone, user, object, SHOWN);
}

/** What follows for the members of a team from nothing but being a member: on the team itself. */
function ofMembers({ model }: Graph, team: string): readonly string[] {
  const user = 'user:0';
  return allowed(createGraph(model, [{ user, relation: 'member', object: team }]), user, team, SHOWN);
}

function isRole(relation: string, object: string): boolean {
  return relation === 'assignee' && object.startsWith('role:');
}
