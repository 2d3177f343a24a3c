import { check, possibleUsers } from '../../packages/rebac/src/rebac.ts';
import type { EscalationGuard, TeamGrant } from '../authz/escalation.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import type { Gift, HeldPlaces } from '../authz/places/held-places.ts';
import { createSeesPlace } from '../authz/places/sees-place.ts';
import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { isPrincipal, isRobotPrincipal, principalOfSubject } from '../changes/principal.ts';
import type { CatalogEntry } from '../roles/catalog.ts';
import type { AccessRequest } from './access-request.ts';
import type { RequestRule } from './request-rule.ts';

/** What must be known of a request to say who could make its change. */
export type DecidableRequest = Pick<
  AccessRequest,
  'organizationId' | 'by' | 'object' | 'namespaces' | 'change' | 'until' | 'tokenCreator'
>;

/** With the rule that counts. Without one, nobody decides. */
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
  inactive(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

interface Parts {
  readonly judge: Pick<Judge, 'holds' | 'allowed'>;
  readonly graphs: Pick<Graphs, 'of'>;
  readonly held: Pick<HeldPlaces, 'notHeld'>;
  readonly escalation: EscalationGuard;
  readonly store: ApproverStore;
}

export type Approvers = ReturnType<typeof createApprovers>;

/**
 * Who decides about a request: exactly those who could make its change themselves at this moment, without the requester,
 * without whoever created the token that asked, and without those whom the rule leaves out. Robots never decide.
 */
export function createApprovers({ judge, graphs, held, escalation, store }: Parts) {
  const seesPlace = createSeesPlace(judge);
  return { of, ofAll, mayDecide, mayDecideAll, giftOf, rejectTeam };

  /** Members who may decide, by ID. Site administrators may decide, but are not listed unless they are members. */
  async function of(request: DecidableRequest, rule: RequestRule): Promise<bigint[]> {
    const [found = []] = await ofAll([{ request, rule }]);
    return found;
  }

  /** The same about many requests of one organization: each user who could decide about any of them is looked at once. */
  async function ofAll(asked: readonly RuledRequest[]): Promise<bigint[][]> {
    const found: bigint[][] = asked.map(() => []);
    const places = new Map<bigint, number[]>();
    const known = new Map<string, readonly bigint[]>();
    for (const [place, { request, rule }] of asked.entries()) {
      if (!rule) continue;
      const key = request.change.action === 'assignment.create' ? 'role' : `team:${request.change.team.id}`;
      const members = known.get(key) ?? (await candidates(request));
      known.set(key, members);
      for (const id of members) places.set(id, [...(places.get(id) ?? []), place]);
    }
    const inactive = await store.inactive([...places.keys()]);
    for (const [id, own] of [...places].sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (inactive.has(id)) continue;
      const answers = await mayDecideAll(
        id,
        own.flatMap((place) => asked[place] ?? []),
      );
      for (const [at, place] of own.entries()) if (answers[at]) found[place]?.push(id);
    }
    return found;
  }

  /** Members who may make changes of this kind there. */
  async function candidates({ organizationId, change }: DecidableRequest): Promise<bigint[]> {
    const graph = await graphs.of(organizationId);
    const organization = `organization:${organizationId}`;
    const [relation, object] =
      change.action === 'assignment.create' ? ['assigner', organization] : ['can_add_member', `team:${change.team.id}`];
    const isMember = (user: string) => check(graph, { user, relation: 'participant', object: organization });
    return possibleUsers(graph, { object, relation, filter: 'user' })
      .filter((user) => !user.endsWith(':*') && isMember(user))
      .map(principalOfSubject);
  }

  async function mayDecide(personId: bigint, request: DecidableRequest, rule: RequestRule): Promise<boolean> {
    const [may = false] = await mayDecideAll(personId, [{ request, rule }]);
    return may;
  }

  /** The same about many requests of one organization. */
  async function mayDecideAll(personId: bigint, asked: readonly RuledRequest[]): Promise<boolean[]> {
    const answers: boolean[] = [];
    const gifts = new Map<number, Gift>();
    const yieldIfDue = createYielder();
    for (const [place, { request, rule }] of asked.entries()) {
      answers[place] =
        rule !== undefined && !isExcluded(personId, request) && (await isInTeam(personId, request, rule));
      if (!answers[place]) continue;
      const { change } = request;
      if (change.action === 'team.add_member') answers[place] = await mayAdd(personId, request, change.team.id);
      else {
        const gift = await giftFor(personId, request);
        if (gift) gifts.set(place, gift);
        else answers[place] = false;
      }
      await yieldIfDue();
    }
    const [first] = asked;
    if (!first || gifts.size === 0) return answers;
    for (const place of await withoutRights(personId, first.request.organizationId, gifts)) answers[place] = false;
    return answers;
  }

  /** Whoever holds everything until the last end holds it until the others, too: most are then known in one question. */
  async function withoutRights(
    personId: bigint,
    organizationId: bigint,
    gifts: ReadonlyMap<number, Gift>,
  ): Promise<number[]> {
    const ends = [...gifts.values()].map(({ until }) => until?.getTime() ?? Number.POSITIVE_INFINITY);
    const last = Math.max(...ends);
    const until = Number.isFinite(last) ? new Date(last) : null;
    const longest = new Map([...gifts].map(([place, gift]) => [place, { ...gift, until }]));
    const missing = new Set(
      (await held.notHeld(personId, organizationId, [...longest.values()])).map(({ gift }) => gift),
    );
    const doubtful = [...longest].filter(([, gift]) => missing.has(gift)).map(([place]) => place);
    const places: number[] = [];
    for (const place of doubtful) {
      const gift = gifts.get(place);
      if (gift && (await held.notHeld(personId, organizationId, [gift])).length > 0) places.push(place);
    }
    return places;
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
    return { place: { type: object.type, id: object.id, isOwners, namespaces }, grants: role.permissions, until };
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

  async function isInTeam(personId: bigint, { organizationId }: DecidableRequest, { approvers }: RequestRule) {
    return approvers === undefined || (await store.membersOf(organizationId, approvers)).has(personId);
  }
}

function isExcluded(personId: bigint, { by, tokenCreator }: DecidableRequest): boolean {
  return isRobotPrincipal(personId) || isPrincipal(by, personId) || tokenCreator === personId;
}
