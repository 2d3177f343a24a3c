import type { EscalationGuard, TeamGrant } from '../../authz/escalation.ts';
import type { Judge } from '../../authz/judge.ts';
import type { Givers, Giving } from '../../authz/places/givers.ts';
import { type Gift, givenWith, type HeldPlaces } from '../../authz/places/held-places.ts';
import { createSeesPlace } from '../../authz/places/sees-place.ts';
import { AppError } from '../../base/errors.ts';
import { createYielder } from '../../base/scheduling/slices.ts';
import { RELATION_OF } from '../../changes/derived-tuples.ts';
import { isPrincipal, isRobotPrincipal } from '../../changes/principal.ts';
import type { CatalogEntry } from '../../roles/catalog.ts';
import type { AccessRequest } from '../access-request.ts';
import type { RequestRule } from '../rules/request-rule.ts';

/** What must be known of a request to say who could make its change. */
export type DecidableRequest = Pick<
  AccessRequest,
  'organizationId' | 'by' | 'object' | 'namespaces' | 'change' | 'until' | 'tokenCreator'
>;

/** With the rule that counts. Without one, no user decides. */
export interface RuledRequest {
  readonly request: DecidableRequest;
  readonly rule: RequestRule | undefined;
}

export interface ApproverStore {
  /** Undefined if there is none any more. */
  role(organizationId: bigint, id: bigint): Promise<{ permissions: readonly CatalogEntry[] } | undefined>;
  /** What a user gets with the team. */
  teamGrant(organizationId: bigint, teamId: bigint): Promise<TeamGrant | undefined>;
  isOwnersTeam(id: bigint): Promise<boolean>;
  /** The members of a team, by its name. */
  membersOf(organizationId: bigint, team: string): Promise<ReadonlySet<bigint>>;
  /** Undefined if no user of the organization is known as the manager of this one. */
  managerOf(organizationId: bigint, userId: bigint): Promise<bigint | undefined>;
  inactive(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

interface Parts {
  readonly judge: Pick<Judge, 'holds' | 'allowed'>;
  readonly givers: Givers;
  readonly held: Pick<HeldPlaces, 'notHeld' | 'ofTeam'>;
  readonly escalation: EscalationGuard;
  readonly store: ApproverStore;
}

export type Approvers = ReturnType<typeof createApprovers>;

/**
 * Who decides about a request: exactly those who could make its change themselves at this moment, without the
 * requester, without the user who created the token that asked, and without those whom the rule leaves out. Robots
 * never decide.
 *
 * A list of users or of requests is found in one question; a decision itself is asked about alone.
 */
export function createApprovers({ judge, givers, held, escalation, store }: Parts) {
  const seesPlace = createSeesPlace(judge);
  return { of, ofAll, mayDecide, mayDecideAll, giftOf, rejectTeam };

  /** Members who may decide, by ID. Site administrators may decide, but are not listed unless they are members. */
  async function of(request: DecidableRequest, rule: RequestRule): Promise<bigint[]> {
    const [found = []] = await ofAll([{ request, rule }]);
    return found;
  }

  /** The same about many requests of one organization. */
  async function ofAll(asked: readonly RuledRequest[]): Promise<bigint[][]> {
    const able = await givingUsers(asked);
    // Many requests have the same ones.
    const distinct = [...new Set(able)];
    const inactive = await store.inactive([...new Set(distinct.flatMap((some) => [...some]))]);
    const byAge = (one: bigint, other: bigint) => (one < other ? -1 : 1);
    const listed = new Map(distinct.map((some) => [some, [...some.difference(inactive)].sort(byAge)]));
    return able.map((some) => listed.get(some) ?? []);
  }

  /** Whether a user may decide about each of many requests of one organization. */
  async function mayDecideAll(personId: bigint, asked: readonly RuledRequest[]): Promise<boolean[]> {
    return (await givingUsers(asked, [personId])).map((some) => some.has(personId));
  }

  /** For each request, those of the users whom the rule and the engine admit. */
  async function givingUsers(
    asked: readonly RuledRequest[],
    users?: readonly bigint[],
  ): Promise<ReadonlySet<bigint>[]> {
    const found: ReadonlySet<bigint>[] = asked.map(() => new Set());
    const [first] = asked;
    if (!first) return found;
    const facts = await factsOf(asked);
    const places: number[] = [];
    const givings: Giving[] = [];
    const yieldIfDue = createYielder();
    for (const [place, { request, rule }] of asked.entries()) {
      const giving = rule && givingWith(request, facts);
      if (giving) givings.push(giving);
      if (giving) places.push(place);
      // To wait for nothing a thousand times takes longer than the work.
      const rest = yieldIfDue();
      if (rest) await rest;
    }
    const able = await givers.among(first.request.organizationId, givings, users);
    for (const [at, place] of places.entries()) {
      const { request, rule } = asked[place] ?? first;
      const named = rule?.approvers === undefined ? undefined : await usersNamed(request, rule);
      found[place] = leftOf(able[at] ?? new Set(), request, named);
      const rest = yieldIfDue();
      if (rest) await rest;
    }
    return found;
  }

  /** Many requests are about the same few roles and teams. */
  async function factsOf(asked: readonly RuledRequest[]): Promise<Facts> {
    const facts: Facts = { roles: new Map(), owners: new Map(), teams: new Map(), gifts: new Map() };
    for (const { request, rule } of asked) {
      if (!rule) continue;
      const { organizationId, change, object } = request;
      const { roles, owners, teams, gifts } = facts;
      if (change.action === 'team.add_member') {
        const { id } = change.team;
        if (teams.has(id)) continue;
        teams.set(id, await store.teamGrant(organizationId, id));
        gifts.set(id, teams.get(id) ? await held.ofTeam(id) : []);
        continue;
      }
      const { id } = change.role;
      if (!roles.has(id)) roles.set(id, await store.role(organizationId, id));
      if (object.type === 'team' && !owners.has(object.id)) {
        owners.set(object.id, await store.isOwnersTeam(object.id));
      }
    }
    return facts;
  }

  async function mayDecide(personId: bigint, request: DecidableRequest, rule: RequestRule): Promise<boolean> {
    const named = await usersNamed(request, rule);
    if (isExcluded(personId, request) || !(named?.has(personId) ?? true)) return false;
    const { change, organizationId } = request;
    if (change.action === 'team.add_member') return await mayAdd(personId, request, change.team.id);
    const gift = await giftFor(personId, request);
    return gift !== undefined && (await held.notHeld(personId, organizationId, [gift])).length === 0;
  }

  /** Undefined if the user may not assign roles there at all, or if there is nothing to assign any more. */
  async function giftFor(personId: bigint, request: DecidableRequest): Promise<Gift | undefined> {
    const { organizationId, object } = request;
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(personId, organizationId, 'assigner', organization))) return undefined;
    if (!(await seesPlace(personId, organizationId, object))) return undefined;
    return await giftOf(request);
  }

  /** What the change gives, if it assigns a role. */
  async function giftOf({ organizationId, change, object, namespaces, until }: DecidableRequest) {
    if (change.action !== 'assignment.create') return undefined;
    const role = await store.role(organizationId, change.role.id);
    if (!role) return undefined;
    const isOwners = object.type === 'team' && (await store.isOwnersTeam(object.id));
    return giftWith({ object, namespaces, until }, role.permissions, isOwners);
  }

  async function mayAdd(personId: bigint, request: DecidableRequest, teamId: bigint): Promise<boolean> {
    const { organizationId } = request;
    const team = { type: 'team', id: teamId } as const;
    if (!(await judge.holds(personId, organizationId, 'can_add_member', team))) return false;
    const grant = await store.teamGrant(organizationId, teamId);
    if (!grant) return false;
    const reject = await rejectTeam(personId, request, teamId);
    try {
      reject(grant);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'forbidden') return false;
      throw error;
    }
  }

  /** Throws for what the user may not give. */
  async function rejectTeam(personId: bigint, { organizationId, until }: DecidableRequest, teamId: bigint) {
    const { rejectEscalation } = await escalation(personId, organizationId, { teamId, until });
    return rejectEscalation;
  }

  /** Those whom a rule lets approve at all. Undefined if it names none. A robot has no manager. */
  async function usersNamed(
    { organizationId, by }: DecidableRequest,
    rule: RequestRule | undefined,
  ): Promise<ReadonlySet<bigint> | undefined> {
    const { approvers } = rule ?? {};
    if (approvers === undefined) return undefined;
    if (approvers !== 'manager') return await store.membersOf(organizationId, approvers.team);
    const manager = by.type === 'user' ? await store.managerOf(organizationId, by.id) : undefined;
    return new Set(manager === undefined ? [] : [manager]);
  }
}

/** What must be known of roles and teams to say what making the changes of many requests takes. */
interface Facts {
  readonly roles: Map<bigint, Awaited<ReturnType<ApproverStore['role']>>>;
  /** Whether a team is that of the owners. */
  readonly owners: Map<bigint, boolean>;
  readonly teams: Map<bigint, TeamGrant | undefined>;
  /** What teams have on single objects. */
  readonly gifts: Map<bigint, readonly Gift[]>;
}

/** What making the change takes. Undefined if there is nothing to assign or to join any more. */
function givingWith(request: DecidableRequest, { roles, owners, teams, gifts }: Facts): Giving | undefined {
  const { organizationId, change, object, until } = request;
  const organization = { type: 'organization', id: organizationId } as const;
  if (change.action === 'assignment.create') {
    const role = roles.get(change.role.id);
    const sees = object.type === 'organization' ? [] : [{ relation: 'can_view', object }];
    const now = [{ relation: 'assigner', object: organization }, ...sees];
    return (
      role && {
        now,
        gifts: [giftWith(request, role.permissions, object.type === 'team' && owners.get(object.id) === true)],
      }
    );
  }
  const team = { type: 'team', id: change.team.id } as const;
  const grant = teams.get(team.id);
  if (!grant) return undefined;
  const own = grant.permission === 'none' ? [] : [RELATION_OF[grant.permission]];
  const relations = [...own, ...grant.roles.map(({ relation }) => relation)];
  const onOrganization = relations.map((relation) => ({ relation, object: organization }));
  return {
    now: [{ relation: 'can_add_member', object: team }, ...onOrganization],
    gifts: givenWith(gifts.get(team.id) ?? [], { until }),
  };
}

function giftWith(
  { object, namespaces, until }: Pick<DecidableRequest, 'object' | 'namespaces' | 'until'>,
  grants: readonly CatalogEntry[],
  isOwners: boolean,
): Gift {
  return { place: { type: object.type, id: object.id, isOwners, namespaces }, grants, until };
}

/** Without the users whom the request or the rule excludes. Usually none of them could make the change. */
function leftOf(able: ReadonlySet<bigint>, request: DecidableRequest, named: ReadonlySet<bigint> | undefined) {
  const { by, tokenCreator } = request;
  const excluded = [by.type === 'user' ? by.id : null, tokenCreator].filter((id) => id !== null && able.has(id));
  if (!named && excluded.length === 0) return able;
  return new Set([...able].filter((id) => !isExcluded(id, request) && (named?.has(id) ?? true)));
}

function isExcluded(personId: bigint, { by, tokenCreator }: DecidableRequest): boolean {
  return isRobotPrincipal(personId) || isPrincipal(by, personId) || tokenCreator === personId;
}
