import type { RoleGrant } from '../authz/escalation.ts';
import type { Reach } from '../authz/explain/remedy.ts';
import type { Pace } from '../base/slices.ts';
import { allowed, check } from '../rebac/engine.ts';
import type { Tuple } from '../rebac/tuple.ts';
import type { VisibleOrganization } from './visible-organization.ts';

/** A user who exists nowhere else: what a team gives is what it gives to them. */
const PROBE = 'user:0';
const MEMBERSHIP = 'probe';
const CHANGE = 'change';
/** Whoever is in an organization can leave it. That is no permission to anything. */
const LEAVING = 'can_leave';
/** What is stated about the owners' team while it has a single member, so not any more when a user joins. */
export const OF_A_SINGLE_MEMBER = ['kept', 'last_owner'];

/** Permissions of an organization. */
export type RelationSet = ReadonlySet<string>;

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
  readonly gained: RelationSet;
  /** How many other users gain something. */
  readonly others: number;
  readonly reach: Reach;
}

export type RemedyEffects = ReturnType<typeof createRemedyEffects>;

/**
 * What a change would do, found by the engine in what the caller may see. A user holds what their teams give, so each
 * team is asked about once, by a user who is in no other.
 */
export function createRemedyEffects(
  { graph, subject, object: asked, teams, others, peers, newObject }: VisibleOrganization,
  organizationId: bigint,
  relation: string,
  pace: Pace,
) {
  const aim = { user: subject, relation, object: asked };
  const organization = `organization:${organizationId}`;
  const known = new Map<bigint, RelationSet>();
  const before = heldBy(aim.user);
  const closed = peers.filter(({ object }) => !holdsAimOn(object));
  const isClosed = newObject !== undefined && !holdsAimOn(newObject);
  return { before, ofTeam, givesAim, permissions, of };

  function heldBy(user: string): RelationSet {
    return new Set(allowed(graph, user, organization, { prefix: 'can_' }).filter((one) => one !== LEAVING));
  }

  function holdsAimOn(object: string): boolean {
    return check(graph, { ...aim, object });
  }

  function reachNow(): Reach {
    const opened = closed.filter(({ object }) => holdsAimOn(object));
    return {
      objects: opened.reduce((sum, { count }) => sum + count, 0),
      isOpen: isClosed && newObject !== undefined && holdsAimOn(newObject),
    };
  }

  /** What a team gives to its members, as it is. */
  function ofTeam(id: bigint): RelationSet {
    const held = known.get(id) ?? asMember(id, () => heldBy(PROBE));
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

  /** With these tuples, among which a user joins the team, if a team is named. */
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
      return { grant, gives: heldBy(PROBE), isEnough: check(graph, { ...aim, user: PROBE }) };
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
      gained: heldBy(aim.user).difference(before),
      reach: reachNow(),
      gives: new Map(seen.map((id) => [id, givenAnew(id, had.get(id))])),
    }));
    await pace();
    return { isEnough, gained, others: await countOthers(gives), reach };
  }

  function givenAnew(id: bigint, had: RelationSet = new Set()): RelationSet {
    return asMember(id, () => heldBy(PROBE)).difference(had);
  }

  async function countOthers(gives: ReadonlyMap<bigint, RelationSet>): Promise<number> {
    let count = 0;
    if (gives.values().every((gained) => gained.size === 0)) return 0;
    for (const { teamIds, size } of others) {
      const anew = teamIds.flatMap((id) => [...(gives.get(id) ?? [])]);
      if (anew.length > 0 && anew.some((one) => !teamIds.some((id) => ofTeam(id).has(one)))) count += size;
      await pace();
    }
    return count;
  }
}
