import { check, type Graph, statedTo } from '../../packages/rebac/src/rebac.ts';
import type { ExplainStore } from '../authz/explain/question.ts';
import type { Graphs } from '../authz/graphs.ts';
import { idOf } from '../authz/object-ref.ts';
import { inOneMoment } from '../authz/one-moment.ts';
import { existsIn, viewpointOf } from '../authz/viewpoint.ts';
import { kindOf } from '../changes/object-kinds.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { NowGraphs, PastGraphs } from '../history/past.ts';
import { type Counted, type Drawing, type DrawnGrant, draw, type Line, placeKey } from './drawing.ts';
import { type Grant, isReaching, type MapSight, mapGrants, peopleOf } from './map-grants.ts';

export interface MapQuestion {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  /** Only what these have, such as `team:4`, `role:1` and `cluster:1`. */
  readonly to: string | undefined;
  readonly role: string | undefined;
  readonly on: string | undefined;
}

export interface MapNode {
  /** Unique in the map. Lines name it. */
  readonly key: string;
  readonly type: string;
  readonly id: bigint;
  readonly name: string;
  readonly people: number;
}

export interface AccessMap extends Pick<Drawing, 'leftOut' | 'lines'> {
  readonly people: readonly MapNode[];
  readonly teams: readonly MapNode[];
  readonly grants: readonly (Omit<DrawnGrant, 'role'> & {
    /** Absent if it is the permission of teams. */
    readonly role: { readonly id: bigint; readonly name: string } | undefined;
  })[];
  readonly places: readonly MapNode[];
}

export type GetMap = ReturnType<typeof createAccessMap>;

/** Who has access through what: people → teams → roles → what they are assigned on, all as of one moment. */
export function createAccessMap(present: Pick<Graphs, 'together'>, store: Pick<ExplainStore, 'names'>) {
  /** Callers must hold can_view_members. What they may not see is absent. */
  return async function getMap(question: MapQuestion, past?: PastGraphs): Promise<AccessMap> {
    const { organizationId, callerId } = question;
    const { people, teams, grants, places, lines, leftOut } = await inOneMoment(
      past ?? present,
      organizationId,
      callerId,
      (graph, own, now) => collect(graph, question, sightOf(question, graph, own, now)),
    );
    const asked = [...people, ...teams, ...places].map((one) => one.object);
    const roles = grants.flatMap(({ role }) => role ?? []);
    const users = lines.flatMap(({ why }) => why?.user ?? []);
    const names = await store.names([...new Set([...asked, ...roles, ...users])]);
    const former = await past?.names(organizationId);
    const nameOf = (one: string) => names.get(one) ?? former?.get(one) ?? '';
    const nodesOf = (column: readonly Counted[], keyOf?: (index: number) => string) =>
      column.map(({ object: one, people: count }, index) => ({
        ...{ key: keyOf?.(index) ?? one, type: typeOf(one), id: idOf(one) },
        ...{ name: nameOf(one), people: count },
      }));
    const askedName = (user: string) => (typeOf(user) === 'robot_ac' ? `robot:${nameOf(user)}` : nameOf(user));
    return {
      people: nodesOf(people),
      teams: nodesOf(teams),
      grants: grants.map(({ role, ...same }) => ({
        ...same,
        role: role === undefined ? role : { id: idOf(role), name: nameOf(role) },
      })),
      places: nodesOf(places, placeKey),
      lines: lines.map((line): Line => ({ ...line, why: line.why && { ...line.why, user: askedName(line.why.user) } })),
      leftOut,
    };
  };
}

/** The past is seen with the eyes of the present. */
function sightOf({ organizationId, callerId }: MapQuestion, graph: Graph, own: Graph, now?: NowGraphs): MapSight {
  const object = { type: 'organization', id: organizationId } as const;
  const { sees } = viewpointOf({ organizationId, callerId, object }, graph, own, now);
  const present = now?.first ?? graph;
  const user = subjectOfPrincipal(callerId);
  const home = `organization:${organizationId}`;
  const all = new Map<string, boolean>();
  /** Asked once: about a single object, the answer takes milliseconds for a caller in a thousand teams. */
  const seesAll = (type: string) => {
    const relation = kindOf(type)?.viewAll;
    const isSeen = all.get(type) ?? (relation !== undefined && check(present, { user, relation, object: home }));
    all.set(type, isSeen);
    return isSeen;
  };
  const seesRoles = seesAll('role');
  const known = new Map<string, boolean>();
  return {
    sees(thing) {
      const type = typeOf(thing);
      if (seesAll(type) && (type === 'user' || existsIn(present, home, thing))) return true;
      const isSeen = known.get(thing) ?? sees(thing);
      known.set(thing, isSeen);
      return isSeen;
    },
    // As in the list of assignments: otherwise they see the assignments to themselves and to their teams.
    seesAssigned: (holder, assignment) => seesRoles || (assignment === undefined ? holder === user : sees(assignment)),
  };
}

function* collect(graph: Graph, question: MapQuestion, sight: MapSight): Generator<void, Drawing, void> {
  const { organizationId, to, role, on } = question;
  const { sees } = sight;
  const mine = to === undefined ? undefined : holdersOf(graph, to);
  const wanted: Grant[] = [];
  for (const grant of yield* mapGrants(graph, `organization:${organizationId}`, sight)) {
    const holders = mine === undefined ? grant.holders : grant.holders.intersection(mine);
    const isWanted = (role === undefined || grant.role === role) && holders.size > 0;
    if (isWanted && (on === undefined || (sees(on) && isReaching(graph, grant, on))))
      wanted.push({ ...grant, holders });
    yield;
  }
  const members = new Map<string, readonly string[]>();
  for (const { holders } of wanted) {
    for (const holder of holders) {
      if (members.has(holder)) continue;
      members.set(holder, to === undefined || typeOf(to) === 'team' ? peopleOf(graph, holder) : [to]);
      yield;
    }
  }
  return yield* draw(graph, wanted, members, ({ place }) => on ?? place, sees);
}

/** A user or a robot with their teams, or a team. */
function holdersOf(graph: Graph, to: string): ReadonlySet<string> {
  const teams = statedTo(graph, to).filter(
    ({ relation, object }) => relation === 'member' && typeOf(object) === 'team',
  );
  return new Set([to, ...teams.map(({ object }) => object)]);
}

function typeOf(object: string): string {
  return object.slice(0, object.indexOf(':'));
}
