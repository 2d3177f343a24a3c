import { randomBytes } from 'node:crypto';
import { requireAgreement } from '../assignments/assignment-input.ts';
import type { Judge } from '../authz/judge.ts';
import { isNamespacePattern } from '../authz/places/namespaces.ts';
import { AppError, invalidField } from '../base/errors.ts';
import type { Reason } from '../base/reasons.ts';
import { type Actor, SERVER } from '../changes/audit-entry.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { isRobotPrincipal, principalOf } from '../changes/principal.ts';
import { type Once, onceFor } from '../changes/write.ts';
import { type MaybeLimits, reachesOrganization } from '../identity/tokens/token-limits.ts';
import { type AccessRequest, type AskedFor, type AskedType, requestIdFrom } from './access-request.ts';
import type { ApproverStore, Approvers } from './approvers/approvers.ts';
import type { Granting } from './granting.ts';
import type { RequestMails } from './mails/request-mails.ts';
import { notRequestable } from './request-errors.ts';
import { endOf } from './request-term.ts';
import type { ChosenRemedy, RequestableChange, RequestableChanges, Wish } from './requestable-change.ts';
import { type Created, type RequestSetting, type RequestStore, sudoForbidden } from './requests.ts';
import type { RequestRule } from './rules/request-rule.ts';
import { isAskedType, type ObjectInput } from './rules/request-rules.ts';
import { digestOf, type ShownRequest, type ShownRequests } from './shown-requests.ts';

export interface RequestInput {
  readonly relation: string;
  readonly object: ObjectInput;
  readonly namespaces: readonly string[] | undefined;
  readonly for: string | undefined;
  readonly until: Date | undefined;
  readonly reason: string;
  readonly remedy: ChosenRemedy | undefined;
  readonly isBreakGlass: boolean;
  /** Rejects what no other person would approve: the caller may have been talked into it. */
  readonly needsApproval?: boolean;
}

/** Who asks, and with which token. */
export interface Asker extends RequestSetting {
  readonly organizationName: string;
  readonly tokenId: bigint | undefined;
}

interface Parts {
  readonly store: Pick<RequestStore, 'now' | 'same' | 'repeat' | 'recent' | 'create' | 'tokenCreator'>;
  readonly judge: Pick<Judge, 'holds'>;
  readonly approvers: Pick<Approvers, 'of'>;
  readonly roles: Pick<ApproverStore, 'role' | 'isOwnersTeam'>;
  readonly requestable: Pick<RequestableChanges, 'choose' | 'tellsOf'>;
  readonly shown: Pick<ShownRequests, 'effectsFor' | 'fresh' | 'listed'>;
  readonly mails: RequestMails;
  /** An object of the organization. Undefined if there is none. */
  readonly objectNamed: (organizationId: bigint, object: ObjectInput) => Promise<AskedFor | undefined>;
  readonly reaches: (limits: MaybeLimits, organizationId: bigint, object: AskedFor) => Promise<boolean>;
  readonly isRelation: (type: string, relation: string) => boolean;
  /** When what the caller holds ends. Null: never. */
  readonly heldUntil: (wish: Wish) => Promise<Date | null>;
  readonly names: (objects: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** What is shown of a new request, or of the one that is open already. */
export interface Asked {
  readonly shown: ShownRequest;
  readonly isNew: boolean;
}

const MAX_REASON = 1000;
const MAX_NAMESPACES = 50;
const MAX_PER_HOUR = 60;
const OPEN_HOURS = 24;
const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3600;
const BREAK_GLASS = 'PT1H';
const NOT_FOUND: Readonly<Record<AskedType, Reason>> = {
  organization: 'organization_not_found',
  team: 'team_not_found',
  cluster: 'cluster_not_found',
  contract: 'contract_not_found',
  robot_ac: 'robot_not_found',
};
/** Of what is not asked about like this. */
const NEVER_ASKED: ReadonlySet<string> = new Set(['role', ...OBJECT_TYPES.filter((type) => !isAskedType(type))]);

export type Asking = ReturnType<typeof createAsking>;

/** Asking for access: what is possible, what it would change, and who could approve it. */
export function createAsking(parts: Parts) {
  const { store, judge, approvers, roles, requestable, shown, mails } = parts;
  return { ask };

  async function ask(asker: Asker, input: RequestInput, once?: Once<Asked>): Promise<Asked> {
    const { organizationId, actor } = asker;
    if (actor.sudoBy) throw sudoForbidden();
    checkInput(input);
    const now = await store.now();
    const until = endOf(input, now);
    const object = await objectFor(asker, input);
    const namespaces = namespacesOf(input, object);
    const { relation, isBreakGlass } = input;
    const wish: Wish = { organizationId, callerId: actor.id, relation, object, namespaces, isBreakGlass };
    await requireNotAllowed(wish);
    const { change, rule } = await requestable.choose(wish, input.remedy);
    if (input.needsApproval && (isBreakGlass || rule.approvals === 0)) throw confirmationRequired();
    if (change.action !== 'assignment.create' && !reachesOrganization(asker.limits, organizationId)) {
      throw notRequestable('joining a team gives more than the limits of the token');
    }
    requireTerm(until, now, rule, isBreakGlass);
    const draft = await draftOf(asker, input, { change, rule }, { object, namespaces, until, now });
    const same = draft.state === 'open' ? await store.same(draft) : undefined;
    if (same) {
      const open: Asked = { shown: await shown.fresh(same, actor.id), isNew: false };
      if (once)
        await store.repeat(
          same,
          onceFor(once, () => open),
        );
      return open;
    }
    await requireAllowance(actor);
    const effects = await shown.effectsFor(draft);
    if (!effects) throw notRequestable('the role or team is gone');
    const request = { ...draft, effects, digest: digestOf(draft, effects) };
    const able = request.state === 'open' ? await approvers.of(request, rule) : [];
    if (request.state === 'open' && able.length < rule.approvals) {
      throw notRequestable(tooFew(rule, able.length));
    }
    const granting = request.state === 'open' ? undefined : await ownersGrant(request);
    const [view] = await shown.listed([request], actor.id);
    const complete = (created: Created): Asked => {
      if (!view) throw new Error('a new request is not shown');
      return { shown: { ...view, request: created.request }, isNew: created.isNew };
    };
    const created = await store.create(actor, { request, granting }, onceFor(once, complete));
    if (created.isNew) announce(created.request, able);
    return complete(created);
  }

  function announce(request: AccessRequest, able: readonly bigint[]): void {
    if (request.isBreakGlass) mails.brokeGlass(request);
    else if (request.state === 'open') mails.asked(request, able);
  }

  /** What the requester may not see does not exist for them, unless a rule names it for them. */
  async function objectFor(asker: Asker, { object, relation }: RequestInput): Promise<AskedFor> {
    const { organizationId, actor, limits } = asker;
    if (NEVER_ASKED.has(object.type)) throw notRequestable(`access to a ${object.type} is not given`);
    if (!isAskedType(object.type)) throw noObject(object.type);
    if (!parts.isRelation(object.type, relation)) {
      const message = `${object.type} has no relation ${JSON.stringify(relation.slice(0, 60))}`;
      throw new AppError('invalid', message, { reason: 'unknown_relation' });
    }
    if (object.id === undefined && object.name === undefined) {
      throw invalidField('object', 'object must have an id or a name');
    }
    const found = await parts.objectNamed(organizationId, object);
    if (!found || !(await parts.reaches(limits, organizationId, found))) throw noObject(object.type);
    const { type, id } = found;
    const isSeen =
      (await judge.holds(actor.id, organizationId, 'can_view', { type, id })) ||
      (await requestable.tellsOf({ organizationId, callerId: actor.id, relation, object: found }));
    if (!isSeen) throw noObject(object.type);
    requireAgreement('object', object, found);
    return found;
  }

  async function requireNotAllowed(wish: Wish): Promise<void> {
    const { callerId, organizationId, relation, object, namespaces } = wish;
    const { type, id } = object;
    const places = namespaces ? namespaces.map((namespace) => ({ type, id, namespace })) : [{ type, id }];
    for (const place of places) if (!(await judge.holds(callerId, organizationId, relation, place))) return;
    throw new AppError('conflict', 'you may do this already', {
      reason: 'already_allowed',
      members: { until: (await parts.heldUntil(wish))?.toISOString().replace('.000Z', 'Z') ?? null },
    });
  }

  async function requireAllowance({ id }: Actor): Promise<void> {
    const { count, wait } = await store.recent(id, MAX_PER_HOUR);
    if (count < MAX_PER_HOUR) return;
    const message = `at most ${MAX_PER_HOUR} new access requests an hour: wait, or change one of those that are open`;
    throw new AppError('limited', message, { retryAfter: wait });
  }

  async function draftOf(
    { organizationId, organizationName, actor, tokenId }: Asker,
    { relation, reason, isBreakGlass }: RequestInput,
    { change, rule }: RequestableChange,
    {
      object,
      namespaces,
      until,
      now,
    }: { object: AskedFor; namespaces: readonly string[] | null; until: Date; now: Date },
  ): Promise<AccessRequest> {
    const isRobot = isRobotPrincipal(actor.id);
    const creator = isRobot && tokenId !== undefined ? await store.tokenCreator(tokenId) : undefined;
    const isOpen = !isBreakGlass && rule.approvals > 0;
    const named = await parts.names([`organization:${organizationId}`, changedObject(change)]);
    return {
      ...{ id: requestIdFrom(randomBytes(8)), organizationId, organizationName, relation, object, namespaces, reason },
      state: isOpen ? 'open' : 'approved',
      by: { ...principalOf(actor.id), name: actor.name },
      change: withName(change, named.get(changedObject(change)) ?? ''),
      ...{ rule: rule.name === '' ? null : rule.name, approvals: isBreakGlass ? 0 : rule.approvals, isBreakGlass },
      ...{ acknowledgedAt: null, acknowledgedBy: null, tokenCreator: creator ?? null, createdAt: now, until },
      closesAt: new Date(Math.min(now.getTime() + OPEN_HOURS * HOUR_MS, until.getTime())),
      ...{ closedAt: isOpen ? null : now, because: null, assignmentId: null, digest: '', decisions: [], version: 1 },
      effects: { gains: [], loses: [], grants: [], total: 0 },
    };
  }

  /** What a rule approves by itself runs with the rights of the owners, who hold everything. */
  async function ownersGrant(request: AccessRequest): Promise<Granting> {
    return { actor: { ...SERVER }, assignment: await newAssignment(request, roles) };
  }
}

/** The assignment that a request asks for. */
export async function newAssignment(
  { organizationId, change, by, object, namespaces, until, reason }: AccessRequest,
  roles: Pick<ApproverStore, 'role' | 'isOwnersTeam'>,
) {
  if (change.action !== 'assignment.create') throw new AppError('internal', 'this request assigns no role');
  const role = await roles.role(organizationId, change.role.id);
  if (!role) throw notRequestable('the role is gone');
  const isOwners = object.type === 'team' && (await roles.isOwnersTeam(object.id));
  const on = { type: object.type, id: object.id, name: object.name, isOwners };
  return {
    role: { ...change.role, permissions: role.permissions },
    to: { type: by.type as 'user' | 'robot_ac', id: by.id, name: by.name },
    on: namespaces ? { ...on, namespaces } : on,
    ...{ reason, expiresAt: until },
  };
}

function confirmationRequired(): AppError {
  const message = 'no other person would approve this: ask in the web console';
  return new AppError('forbidden', message, { reason: 'confirmation_required' });
}

function checkInput({ reason }: RequestInput): void {
  const length = [...reason.trim()].length;
  if (length < 1 || [...reason].length > MAX_REASON) {
    throw invalidField('reason', `reason must have 1 to ${MAX_REASON} characters: approvers decide by it`);
  }
}

function namespacesOf({ namespaces }: RequestInput, { type }: AskedFor): readonly string[] | null {
  if (namespaces === undefined) return null;
  if (type !== 'cluster') throw invalidField('namespaces', 'namespaces are for requests about a cluster');
  if (namespaces.length < 1 || namespaces.length > MAX_NAMESPACES || !namespaces.every(isNamespacePattern)) {
    const message = `namespaces must be 1 to ${MAX_NAMESPACES} names of Kubernetes namespaces, or prefixes that end in *`;
    throw invalidField('namespaces', message);
  }
  return [...new Set(namespaces)];
}

function tooFew({ approvals, approvers }: RequestRule, count: number): string {
  const needed = approvals === 1 ? '1 approval' : `${approvals} approvals`;
  if (approvers === 'manager') {
    const known = count === 0 ? 'no member who could give it is known as your manager' : 'you have only one';
    return `it needs ${needed} of your manager, and ${known}`;
  }
  const users = count === 0 ? 'no user' : count === 1 ? 'only 1 user' : `only ${count} users`;
  return `it needs ${needed}, and ${users} could approve it`;
}

function requireTerm(until: Date, now: Date, rule: RequestRule, isBreakGlass: boolean): void {
  const isShorter = isBreakGlass && HOUR_SECONDS < rule.longestSeconds;
  const [longest, text] = isShorter ? [HOUR_SECONDS, BREAK_GLASS] : [rule.longestSeconds, rule.longest];
  if (until.getTime() - now.getTime() > longest * 1000) throw notRequestable(`at most for ${text}`, text);
}

function changedObject(change: AccessRequest['change']): string {
  return change.action === 'assignment.create' ? `role:${change.role.id}` : `team:${change.team.id}`;
}

function withName(change: AccessRequest['change'], name: string): AccessRequest['change'] {
  return change.action === 'assignment.create'
    ? { ...change, role: { ...change.role, name } }
    : { ...change, team: { ...change.team, name } };
}

function noObject(type: string): AppError {
  const reason = (NOT_FOUND as Readonly<Record<string, Reason>>)[type] ?? 'not_found';
  return new AppError('notFound', `${type.slice(0, 40)} does not exist`, { reason });
}
