import {
  allowed,
  check,
  type Graph,
  possibleObjects,
  possibleUsers,
  statedAbout,
  statedTo,
} from '../../packages/rebac/src/rebac.ts';
import { givenBy, type Source } from '../authz/matrix/sources.ts';
import { byId } from '../authz/object-ref.ts';

/**
 * A custom role, or the permission of a team, in one place. It stands between who has it and what it opens, so each way
 * from a holder through a grant to its place is true. A role that is assigned in two places is two grants.
 */
export interface Grant {
  /** Such as `role:1`. Absent if it is the permission of teams. */
  readonly role?: string;
  readonly permission?: string;
  /** What it is on, such as `cluster:1` or `cluster_set:3`. */
  readonly place: string;
  /** If it counts in some namespaces of its place only. */
  readonly namespaces: readonly string[];
  /** Teams, users and robots, such as `team:4`. */
  readonly holders: ReadonlySet<string>;
  readonly source: Source;
}

/** What a team gives its members in the organization, by the relation that says so. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  viewer: 'read',
  editor: 'write',
  admin: 'admin',
  owner: 'owner',
};
const SHOWN = { prefix: 'can_' };

/** Whether the caller may know of an object such as `team:4`. */
export type Sees = (object: string) => boolean;

export interface MapSight {
  readonly sees: Sees;
  /**
   * Whether the caller may know that a user or robot has a role in the whole organization or, with an assignment, that a
   * holder has it by that one. Callers may see a role, a user and a cluster, and yet not who has the role there.
   */
  seesAssigned(holder: string, assignment?: string): boolean;
}

/** Every grant of an organization between things that the caller sees. It can take long to ask what that is. */
export function* mapGrants(
  graph: Graph,
  home: string,
  { sees, seesAssigned }: MapSight,
): Generator<void, Grant[], void> {
  const grants = new Map<string, Grant & { readonly holders: Set<string> }>();
  const note = (key: string, holder: string, create: () => Omit<Grant, 'holders'>) => {
    const grant = grants.get(key) ?? { ...create(), holders: new Set<string>() };
    grants.set(key, grant);
    grant.holders.add(holder);
  };
  const noteRole = (role: string, holder: string) =>
    note(role, holder, () => {
      const source: Source = { kind: 'role', object: role, teams: [], subjects: [`${role}#assignee`] };
      return { role, place: home, namespaces: [], source };
    });
  const assigned = new Map<string, { readonly role: string; readonly places: readonly Placed[] }>();
  const noteAssignment = (assignment: string, holder: string) => {
    const { role, places = [] } = assigned.get(assignment) ?? {};
    if (role === undefined) return;
    for (const { object: place, relation, namespaces } of places) {
      note([role, place, relation, ...namespaces].join(' '), holder, () => {
        const source: Source = {
          ...{ kind: 'role', object: role, teams: [], subjects: [] },
          places: new Map([[place, new Set([relation])]]),
        };
        return { role, place, namespaces, source };
      });
    }
  };
  for (const role of partsOf(graph, home, 'role')) {
    for (const holder of statedAbout(graph, role, 'assignee')) {
      if (seesAssigned(holder) && sees(holder)) noteRole(role, holder);
      yield;
    }
    for (const { relation, object } of statedTo(graph, role)) {
      if (relation !== 'role') continue;
      const places = placesOf(graph, object).filter(({ object: place }) => sees(place));
      assigned.set(object, { role, places });
      for (const holder of statedAbout(graph, object, 'assignee')) {
        if (seesAssigned(holder, object) && sees(holder)) noteAssignment(object, holder);
      }
      yield;
    }
    yield;
  }
  for (const team of partsOf(graph, home, 'team')) {
    yield;
    if (!sees(team)) continue;
    for (const { relation, object } of statedTo(graph, `${team}#member`)) {
      const permission = PERMISSIONS[relation];
      if (object === home && permission !== undefined) {
        note(relation, team, () => {
          const source: Source = { kind: 'team', object: team, teams: [], subjects: [`${home}#${relation}`] };
          return { permission, place: home, namespaces: [], source };
        });
      }
      if (relation !== 'assignee') continue;
      if (object.startsWith('role:')) noteRole(object, team);
      else if (seesAssigned(team, object)) noteAssignment(object, team);
      yield;
    }
  }
  return [...grants.values()];
}

interface Placed {
  readonly object: string;
  readonly relation: string;
  readonly namespaces: readonly string[];
}

function placesOf(graph: Graph, assignment: string): readonly Placed[] {
  const names = (relation: string, end = '') =>
    statedAbout(graph, assignment, relation).map((one) => `${one.slice(one.indexOf(':') + 1)}${end}`);
  const namespaces = [...names('namespace'), ...names('namespace_prefix', '*')].sort();
  return statedTo(graph, assignment).map((one) => ({ ...one, namespaces }));
}

/** The teams or roles of an organization, by ID. */
export function partsOf(graph: Graph, home: string, type: 'team' | 'role'): readonly string[] {
  const ties = type === 'team' ? ['organization', 'owned_by'] : ['organization'];
  return ties.flatMap((relation) => possibleObjects(graph, { user: home, relation, type })).sort(byId);
}

/** The users that a holder stands for; a robot stands for itself. */
export function peopleOf(graph: Graph, holder: string): readonly string[] {
  if (!holder.startsWith('team:')) return [holder];
  return possibleUsers(graph, { object: holder, relation: 'member', filter: 'user' });
}

/** Whether a grant counts on an object: assigned there, through the set of a cluster, or through the organization. */
export function isReaching(graph: Graph, grant: Grant, object: string): boolean {
  if (grant.place === object) return true;
  if (grant.place.startsWith('cluster_set:')) {
    return object.startsWith('cluster:') && check(graph, { user: grant.place, relation: 'set', object });
  }
  return grant.source.subjects.some((subject) => allowed(graph, subject, object, SHOWN).length > 0);
}

/** An object that questions about a place can name. A set of clusters is no object, so one of its clusters stands for it. */
export function* exampleOf(graph: Graph, place: string, sees: Sees): Generator<void, string | undefined, void> {
  if (!place.startsWith('cluster_set:')) return place;
  for (const cluster of possibleObjects(graph, { user: place, relation: 'set', type: 'cluster' }).sort(byId)) {
    if (sees(cluster)) return cluster;
    yield;
  }
  return undefined;
}

/** What the model excludes everyone from, and because of what. */
const BARS: Readonly<Record<string, string>> = { can_delete: 'built_in', can_remove_member: 'kept' };

/** What a grant allows on an object, in the order of the model. */
export function relationsOf(graph: Graph, { source }: Grant, object: string): readonly string[] {
  const given = givenBy(graph, source, object);
  const type = object.slice(0, object.indexOf(':'));
  const all = graph.model.typeIndex.get(type)?.relations.map(({ name }) => name) ?? [];
  const isBarred = (name: string) => {
    const relation = type === 'team' ? BARS[name] : undefined;
    return relation !== undefined && check(graph, { user: 'user:0', relation, object });
  };
  return all.filter((name) => given.has(name) && !isBarred(name));
}
