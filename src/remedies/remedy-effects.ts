import { allowed, check, type Tuple } from '../../packages/rebac/src/rebac.ts';
import type { RoleGrant } from '../authz/escalation.ts';
import type { Reach } from '../authz/explain/remedy.ts';
import { idOf } from '../authz/object-ref.ts';
import type { Yielder } from '../base/scheduling/slices.ts';
import { assignmentsOf, assignmentTuplesOf, ON_OBJECTS } from '../changes/derived-tuples.ts';
import type { RoleHolder, VisibleOrganization } from './visible-organization.ts';

/** A user who exists nowhere else: what a team gives is what it gives to them. */
const PROBE = 'user:0';
const MEMBERSHIP = 'probe';
const CHANGE = 'change';
/** A member of an organization can leave it. That is no permission to anything. */
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
  /** The role that contains more then. */
  readonly changedRole?: bigint | undefined;
}

export interface Effect {
  /** Whether the user then holds the relation that was asked about. */
  readonly isEnough: boolean;
  readonly gained: RelationSet;
  /** What they then hold on the object that was asked about, and did not hold before. */
  readonly gainedHere: RelationSet;
  /** How many other users and robots gain something. */
  readonly others: number;
  readonly reach: Reach;
}

export type RemedyEffects = ReturnType<typeof createRemedyEffects>;

/**
 * What a change would do, found by the engine in what the caller may see. A user holds what their teams give, so each
 * team is asked about once, by a user who is in no other.
 */
export function createRemedyEffects(
  { graph, subject, object: asked, teams, others, holdersOf, peers, newObject }: VisibleOrganization,
  organizationId: bigint,
  relation: string,
  yieldIfDue: Yielder,
) {
  const aim = { user: subject, relation, object: asked };
  const organization = `organization:${organizationId}`;
  const known = new Map<bigint, RelationSet>();
  const isOwners = asked.startsWith('team:') && teams.get(idOf(asked))?.permission === 'owner';
  const before = heldBy(aim.user);
  const beforeHere = heldHere(aim.user);
  const closed = peers.filter(({ object }) => !holdsAimOn(object));
  const isClosed = newObject !== undefined && !holdsAimOn(newObject);
  return { before, ofTeam, givesAim, givenHere, permissions, of };

  function heldBy(user: string): RelationSet {
    return new Set(allowed(graph, user, organization, { prefix: 'can_' }).filter((one) => one !== LEAVING));
  }

  function heldHere(user: string): RelationSet {
    return new Set(allowed(graph, user, asked, { prefix: 'can_' }));
  }

  /** What a role with only this permission gives on the object, if it is assigned there. */
  function givenHere({ relation: permission }: RoleGrant): RelationSet {
    graph.replaceSource('role:0', assignmentsOf(organizationId, '0', [permission], []));
    const tuples = assignmentTuplesOf({ id: '0', roleId: '0', to: PROBE, on: asked, isOnOwners: isOwners });
    graph.replaceSource(CHANGE, tuples);
    const found = heldHere(PROBE);
    graph.replaceSource(CHANGE, []);
    graph.replaceSource('role:0', []);
    return found;
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

  async function of({ tuples, teams: affected, joins, changedRole }: Addition): Promise<Effect> {
    const seen = affected.filter((id) => teams.has(id));
    const had = new Map(seen.map((id) => [id, ofTeam(id)]));
    const join = { object: `team:${joins}`, relation: 'member', user: aim.user };
    const added = joins === undefined ? tuples : [...tuples, join];
    const { isEnough, gained, gainedHere, gives, reach } = joined(joins, CHANGE, added, () => ({
      isEnough: check(graph, aim),
      gainedHere: heldHere(aim.user).difference(beforeHere),
      gained: heldBy(aim.user).difference(before),
      reach: reachNow(),
      gives: new Map(seen.map((id) => [id, givenAnew(id, had.get(id))])),
    }));
    await yieldIfDue();
    const grown = changedRole === undefined ? [] : await growing(changedRole, added);
    return { isEnough, gained, gainedHere, others: await countOthers(gives, grown), reach };
  }

  /** Those to whom the role is assigned themselves, or through a team on single objects, and who hold more by the change. */
  async function growing(roleId: bigint, added: readonly Tuple[]): Promise<RoleHolder[]> {
    const holders = await holdersOf(roleId);
    const had = new Map<RoleHolder, ReadonlySet<string>>();
    for (const holder of holders) {
      had.set(holder, heldOnAll(holder));
      await yieldIfDue();
    }
    const grown: RoleHolder[] = [];
    // What a role allows on single objects is stated about the role.
    const allowing = added.flatMap(({ relation: permission }) => ON_OBJECTS.get(permission) ?? []);
    graph.replaceSource(CHANGE, [
      ...added,
      ...allowing.map((name) => ({ object: `role:${roleId}`, relation: name, user: 'platform:atrium' })),
    ]);
    for (const holder of holders) {
      if (!heldOnAll(holder).isSubsetOf(had.get(holder) ?? new Set())) grown.push(holder);
      await yieldIfDue();
    }
    graph.replaceSource(CHANGE, []);
    return grown;
  }

  function heldOnAll({ subject: user, objects }: RoleHolder): ReadonlySet<string> {
    return new Set(
      [...objects].flatMap((object) => {
        const held = object === organization ? [...heldBy(user)] : allowed(graph, user, object, { prefix: 'can_' });
        return held.map((one) => `${object} ${one}`);
      }),
    );
  }

  function givenAnew(id: bigint, had: RelationSet = new Set()): RelationSet {
    return asMember(id, () => heldBy(PROBE)).difference(had);
  }

  async function countOthers(gives: ReadonlyMap<bigint, RelationSet>, grown: readonly RoleHolder[]): Promise<number> {
    let count = grown.reduce((sum, { size }) => sum + size, 0);
    if (gives.values().every((gained) => gained.size === 0)) return count;
    const counted = new Set(grown.map(({ subject: one }) => one));
    for (const { teamIds, size, subject: one } of others) {
      if (counted.has(one)) continue;
      const anew = teamIds.flatMap((id) => [...(gives.get(id) ?? [])]);
      if (anew.length > 0 && anew.some((one) => !teamIds.some((id) => ofTeam(id).has(one)))) count += size;
      await yieldIfDue();
    }
    return count;
  }
}
