import { createHash } from 'node:crypto';
import type { Judge } from '../authz/judge.ts';
import { idOf, type ObjectRef } from '../authz/object-ref.ts';
import { isPrincipal, principalOf } from '../changes/principal.ts';
import { typeOf } from '../simulation/object-classes.ts';
import {
  type AccessRequest,
  MAX_NAMED,
  type NamedPrincipal,
  type RequestEffect,
  type RequestEffects,
} from './access-request.ts';
import type { ApproverStore, Approvers } from './approvers/approvers.ts';
import type { WholeChange } from './request-effects.ts';
import type { CountingRules } from './rules/counting-rules.ts';
import type { RequestRule } from './rules/request-rule.ts';

/** A request as one reader may see it. */
export interface ShownRequest {
  readonly request: AccessRequest;
  /** How many must approve, by the rules of now if it is open. */
  readonly approvals: number;
  /** The first of them. Empty for readers who may not see the members. */
  readonly approvers: readonly NamedPrincipal[];
  readonly approversCount: number;
  readonly seesMembers: boolean;
  readonly seesChange: boolean;
  readonly seesObject: boolean;
  readonly gains: readonly NamedEffect[];
  readonly loses: readonly NamedEffect[];
  /** How many effects are left out. */
  readonly more: number;
}

export interface NamedEffect extends RequestEffect {
  readonly name: string;
}

interface Parts {
  readonly judge: Pick<Judge, 'holds' | 'allowed'>;
  readonly approvers: Pick<Approvers, 'ofAll'>;
  readonly roles: Pick<ApproverStore, 'role' | 'teamGrant' | 'isOwnersTeam'>;
  readonly effectsOf: (change: WholeChange) => Promise<RequestEffects>;
  readonly noteEffects: (request: AccessRequest, effects: RequestEffects, digest: string) => Promise<void>;
  readonly names: (objects: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  readonly rulesFor: CountingRules;
  /** Changes whenever anything that is remembered may be different. */
  readonly revision: () => bigint;
}

/** The rule of an open request, and who can decide about it. */
interface Deciding {
  readonly rule: RequestRule | undefined;
  readonly able: readonly bigint[];
}

const NOBODY: Deciding = { rule: undefined, able: [] };
const MAX_EFFECTS = 100;
const MAX_REMEMBERED = 1000;

export type ShownRequests = ReturnType<typeof createShownRequests>;

/** Requests with what they would change, as of now, and as far as a reader may see it. */
export function createShownRequests(parts: Parts) {
  const { judge, approvers, roles, effectsOf, noteEffects, names, rulesFor, revision } = parts;
  const remembered = new Map<bigint, { readonly revision: bigint; readonly current: Promise<AccessRequest> }>();
  return { fresh, listed, current, effectsFor };

  /** With its effects and its digest as of now, if it is open. */
  async function fresh(request: AccessRequest, readerId: bigint): Promise<ShownRequest> {
    const [shown] = await listed([await current(request)], readerId);
    if (!shown) throw new Error('a request that is shown is missing');
    return shown;
  }

  /** Requests at the same moment share the simulation. */
  async function current(request: AccessRequest): Promise<AccessRequest> {
    if (request.state !== 'open') return request;
    const now = revision();
    const known = remembered.get(request.id);
    if (known?.revision === now && known.current !== undefined)
      return { ...request, ...effectsIn(await known.current) };
    const entry = { revision: now, current: renewed(request) };
    remembered.delete(request.id);
    remembered.set(request.id, entry);
    entry.current.catch(() => remembered.delete(request.id));
    for (const id of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(id);
    }
    return await entry.current;
  }

  async function renewed(request: AccessRequest): Promise<AccessRequest> {
    const effects = await effectsFor(request);
    if (!effects) return request;
    const digest = digestOf(request, effects);
    if (digest !== request.digest) await noteEffects(request, effects, digest);
    return { ...request, effects, digest };
  }

  /** Undefined if what it would assign is gone: the request fails with it. */
  async function effectsFor(request: AccessRequest): Promise<RequestEffects | undefined> {
    const { organizationId, change, object } = request;
    const isOwners = object.type === 'team' && (await roles.isOwnersTeam(object.id));
    if (change.action === 'assignment.create') {
      const role = await roles.role(organizationId, change.role.id);
      return role && (await effectsOf({ request, permissions: role.permissions, isOwners, teamHas: [] }));
    }
    const grant = await roles.teamGrant(organizationId, change.team.id);
    if (!grant) return undefined;
    const has = [
      `permission ${grant.permission}`,
      ...grant.roles.map(({ namespace, action }) => `${namespace} ${action}`),
      ...(grant.assignmentIds ?? []).map((id) => `assignment ${id}`),
    ];
    return await effectsOf({ request, permissions: [], isOwners, teamHas: has });
  }

  /** With the effects as they were when a user last looked, so that a long list is shown quickly. */
  async function listed(requests: readonly AccessRequest[], readerId: bigint): Promise<ShownRequest[]> {
    const shown: ShownRequest[] = [];
    const named = await namesFor(requests);
    const deciding = await decidingAbout(requests);
    const able = [...deciding.values()].flatMap((one) => one.able.slice(0, MAX_NAMED));
    const who = able.length === 0 ? new Map<string, string>() : await names(distinct(able).map((id) => `user:${id}`));
    for (const request of requests) {
      shown.push(await shownTo(request, readerId, named, deciding.get(request) ?? NOBODY, who));
    }
    return shown;
  }

  /** Who can decide about those that are open, for all requests of an organization together. */
  async function decidingAbout(requests: readonly AccessRequest[]): Promise<ReadonlyMap<AccessRequest, Deciding>> {
    const found = new Map<AccessRequest, Deciding>();
    const open = requests.filter(({ state }) => state === 'open');
    for (const own of Map.groupBy(open, ({ organizationId }) => organizationId).values()) {
      const rules = await rulesFor(own);
      const asked = own.map((request, place) => ({ request, rule: rules[place] }));
      const able = await approvers.ofAll(asked);
      for (const [place, { request, rule }] of asked.entries()) found.set(request, { rule, able: able[place] ?? [] });
    }
    return found;
  }

  async function namesFor(requests: readonly AccessRequest[]) {
    const objects = requests.flatMap(({ effects }) =>
      [...effects.gains, ...effects.loses].slice(0, 2 * MAX_EFFECTS).map(({ object }) => object),
    );
    return objects.length === 0 ? new Map<string, string>() : await names(distinct(objects));
  }

  async function shownTo(
    request: AccessRequest,
    readerId: bigint,
    named: ReadonlyMap<string, string>,
    { rule, able }: Deciding,
    who: ReadonlyMap<string, string>,
  ): Promise<ShownRequest> {
    const { organizationId, by, change, object, effects } = request;
    const organization = { type: 'organization', id: organizationId } as const;
    const holds = (relation: string, on: ObjectRef) => judge.holds(readerId, organizationId, relation, on);
    const seesMembers = await holds('can_view_members', organization);
    const isOwn = isPrincipal(by, readerId);
    const changed =
      change.action === 'assignment.create'
        ? ({ type: 'role', id: change.role.id } as const)
        : ({ type: 'team', id: change.team.id } as const);
    const gains = await seen(effects.gains, readerId, organizationId, named);
    const loses = await seen(effects.loses, readerId, organizationId, named);
    return {
      request,
      approvals: rule ? Math.max(1, rule.approvals) : request.approvals,
      approvers: seesMembers
        ? able.slice(0, MAX_NAMED).map((id) => ({ ...principalOf(id), name: who.get(`user:${id}`) ?? '' }))
        : [],
      ...{ approversCount: able.length, seesMembers, gains, loses },
      seesChange: await holds('can_view', changed),
      seesObject: isOwn || (await holds('can_view', { type: object.type, id: object.id })),
      more: effects.gains.length + effects.loses.length - gains.length - loses.length,
    };
  }

  async function seen(
    effects: readonly RequestEffect[],
    readerId: bigint,
    organizationId: bigint,
    named: ReadonlyMap<string, string>,
  ): Promise<NamedEffect[]> {
    const found: NamedEffect[] = [];
    for (const effect of effects.slice(0, MAX_EFFECTS)) {
      const object = { type: typeOf(effect.object), id: idOf(effect.object) } as ObjectRef;
      const isSeen =
        object.type === 'organization' || (await judge.holds(readerId, organizationId, 'can_view', object));
      if (isSeen) found.push({ ...effect, name: named.get(effect.object) ?? '' });
    }
    return found;
  }
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function effectsIn({ effects, digest }: AccessRequest): Pick<AccessRequest, 'effects' | 'digest'> {
  return { effects, digest };
}

/**
 * Stands for what the request would change and what follows from it, with nothing hidden, so it is the same for every
 * reader.
 */
export function digestOf(request: AccessRequest, effects: RequestEffects): string {
  const { id, by, change, object, namespaces, until } = request;
  const what = change.action === 'assignment.create' ? change.role.id : change.team.id;
  const content = [
    ...[String(id), by.type, String(by.id), change.action, String(what), object.type, String(object.id)],
    ...[namespaces, until?.toISOString() ?? null, effects.grants, effects.total],
    ...[effects.gains.map(said), effects.loses.map(said)],
  ];
  return `sha256:${createHash('sha256').update(JSON.stringify(content)).digest('hex')}`;
}

function said({ object, relation, namespaces = [] }: RequestEffect): readonly unknown[] {
  return [object, relation, namespaces];
}
