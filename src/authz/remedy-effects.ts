import type { createPace } from '../base/slices.ts';
import { allowed, check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import type { Tuple } from '../rebac/tuple.ts';
import type { RoleGrant } from './escalation.ts';
import type { Scene } from './remedy-scene.ts';

/** A user who exists nowhere else: what a team gives is what it gives to them. */
const PROBE = 'user:0';
const MEMBERSHIP = 'probe';
const CHANGE = 'change';
/** Whoever is in an organization can leave it. That is no permission to anything. */
const LEAVING = 'can_leave';
/** What is said of the owners' team while it has a single member, so not any more when somebody joins. */
const OF_A_SINGLE_MEMBER = ['kept', 'last_owner'];

/** Permissions of an organization that somebody holds. */
export type Held = ReadonlySet<string>;

/** What is added to the graph by a change. */
export interface Addition {
  readonly tuples: readonly Tuple[];
  /** Teams whose members hold more then. */
  readonly teams: readonly bigint[];
  /** The team that the user joins. */
  readonly joins?: bigint | undefined;
}

export interface Effect {
  /** Whether the user then holds the relation that was asked about. */
  readonly isEnough: boolean;
  readonly gained: Held;
  /** How many others gain something. */
  readonly others: number;
  readonly reach: Reach;
}

/** Where else the user would hold the relation that was asked about. */
export interface Reach {
  /** On how many other objects of the type, as far as the caller may see them. */
  readonly objects: number;
  /** Whether also on those that do not exist yet. */
  readonly isOpen: boolean;
}

export interface Aim {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export type Effects = ReturnType<typeof createEffects>;

/**
 * What a change would do, found by the engine in the graph of the scene. A user holds what their teams give, whoever
 * they are, so each team is asked about once, by a user who is in no other.
 */
export function createEffects(
  { graph, teams, crowds, peers, newcomer }: Scene,
  organizationId: bigint,
  aim: Aim,
  pace: ReturnType<typeof createPace>,
) {
  const organization = `organization:${organizationId}`;
  const known = new Map<bigint, Held>();
  const before = heldBy(graph, aim.user);
  const closed = peers.filter(({ object }) => !holdsAimOn(object));
  const isClosed = newcomer !== undefined && !holdsAimOn(newcomer);
  return { before, ofTeam, givesAim, permissions, of };

  function heldBy(on: Graph, user: string): Held {
    return new Set(allowed(on, user, organization, { prefix: 'can_' }).filter((relation) => relation !== LEAVING));
  }

  function holdsAimOn(object: string): boolean {
    return check(graph, { ...aim, object });
  }

  function reachNow(): Reach {
    const opened = closed.filter(({ object }) => holdsAimOn(object));
    return {
      objects: opened.reduce((sum, { count }) => sum + count, 0),
      isOpen: isClosed && newcomer !== undefined && holdsAimOn(newcomer),
    };
  }

  /** What a team gives to its members, as it is. */
  function ofTeam(id: bigint): Held {
    const held = known.get(id) ?? asMember(id, () => heldBy(graph, PROBE));
    known.set(id, held);
    return held;
  }

  /** Whether a team gives the relation that was asked about. */
  function givesAim(id: bigint): boolean {
    return asMember(id, () => check(graph, { ...aim, user: PROBE }));
  }

  function asMember<T>(id: bigint, ask: () => T): T {
    return joined(id, MEMBERSHIP, [{ object: `team:${id}`, relation: 'member', user: PROBE }], ask);
  }

  /** With these tuples, among which somebody joins the team, if one is named. */
  function joined<T>(team: bigint | undefined, source: string, tuples: readonly Tuple[], ask: () => T): T {
    const before = team === undefined ? [] : [...graph.tuplesOf(`team:${team}`)];
    const after = before.filter(({ relation }) => !OF_A_SINGLE_MEMBER.includes(relation));
    graph.replaceSource(source, tuples);
    if (after.length < before.length) graph.replaceSource(`team:${team}`, after);
    try {
      return ask();
    } finally {
      graph.replaceSource(source, []);
      if (after.length < before.length) graph.replaceSource(`team:${team}`, before);
    }
  }

  /** What each permission of the catalogue gives in a role, and whether it gives the relation that was asked about. */
  function permissions(catalog: readonly RoleGrant[]) {
    const found = catalog.map((grant) => {
      const holder = { object: organization, relation: grant.relation, user: 'role:0#assignee' };
      graph.replaceSource('role:0', [holder, { object: 'role:0', relation: 'assignee', user: PROBE }]);
      return { grant, gives: heldBy(graph, PROBE), isEnough: check(graph, { ...aim, user: PROBE }) };
    });
    graph.replaceSource('role:0', []);
    return found;
  }

  async function of({ tuples, teams: affected, joins }: Addition): Promise<Effect> {
    const seen = affected.filter((id) => teams.has(id));
    const had = new Map(seen.map((id) => [id, ofTeam(id)]));
    const join = { object: `team:${joins}`, relation: 'member', user: aim.user };
    const added = joins === undefined ? tuples : [...tuples, join];
    const { isEnough, gained, gives, reach } = joined(joins, CHANGE, added, () => ({
      isEnough: check(graph, aim),
      gained: heldBy(graph, aim.user).difference(before),
      reach: reachNow(),
      gives: new Map(seen.map((id) => [id, givenAnew(id, had.get(id))])),
    }));
    await pace();
    return { isEnough, gained, others: await countOthers(gives), reach };
  }

  function givenAnew(id: bigint, had: Held = new Set()): Held {
    return asMember(id, () => heldBy(graph, PROBE)).difference(had);
  }

  async function countOthers(gives: ReadonlyMap<bigint, Held>): Promise<number> {
    let others = 0;
    if (gives.values().every((gained) => gained.size === 0)) return 0;
    for (const crowd of crowds) {
      const anew = crowd.teams.flatMap((id) => [...(gives.get(id) ?? [])]);
      if (anew.length > 0 && anew.some((relation) => !crowd.teams.some((id) => ofTeam(id).has(relation)))) {
        others += crowd.size;
      }
      await pace();
    }
    return others;
  }
}
