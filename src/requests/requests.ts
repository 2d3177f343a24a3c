import type { Judge } from '../authz/judge.ts';
import { AppError, invalidField, missingRelation } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { isPrincipal, isRobotPrincipal } from '../changes/principal.ts';
import type { Once } from '../changes/write.ts';
import { isListed, type MaybeLimits, reachesOrganization } from '../identity/tokens/token-limits.ts';
import type { AccessRequest, OpenRequest, RequestEffects, RequestState } from './access-request.ts';
import type { Approvers } from './approvers/approvers.ts';
import type { Granting } from './granting.ts';
import type { RequestMails } from './mails/request-mails.ts';
import { requestNotFound, wasClosed } from './request-errors.ts';
import type { CountingRules } from './rules/counting-rules.ts';
import type { RequestRule } from './rules/request-rule.ts';
import type { ShownRequest, ShownRequests } from './shown-requests.ts';

/** Who calls, in which organization. */
export interface RequestSetting {
  readonly organizationId: bigint;
  readonly actor: Actor;
  /** Of the token. Objects outside of them do not exist for it. */
  readonly limits?: MaybeLimits;
}

export interface NewRequest {
  readonly request: AccessRequest;
  /** Set if it is granted immediately. */
  readonly granting: Granting | undefined;
}

export interface Created {
  readonly request: AccessRequest;
  /** False if the same was asked before, and is still open. */
  readonly isNew: boolean;
}

export interface Closing {
  readonly state: RequestState;
  readonly action: AuditAction;
  readonly because?: string;
  readonly comment?: string;
}

export interface Approval {
  readonly comment: string;
  readonly digest: string;
  readonly needed: number;
  /** Set for the last approval that is needed. */
  readonly granting: Granting | undefined;
  /** Sees the request while no other user can decide about it, and throws if it is not as expected. */
  readonly decide: (current: AccessRequest) => void;
}

export interface RequestFilter {
  readonly organizationId: bigint | undefined;
  readonly states: readonly RequestState[];
  /** The number of the user or robot who asked. */
  readonly by: bigint | undefined;
  /** Only what a token with these limits reaches. */
  readonly limits?: MaybeLimits;
  /** Only these, and with `own` also what that reader asked for or decided. Undefined: all. */
  readonly visible?: { readonly ids: readonly bigint[]; readonly own: bigint | undefined } | undefined;
}

export interface RequestStore {
  /** By the clock of the database. */
  now(): Promise<Date>;
  get(id: bigint, organizationId?: bigint): Promise<AccessRequest | undefined>;
  /** The newest first. */
  list(filter: RequestFilter, page: PageRequest): Promise<Page<AccessRequest>>;
  /** The newest first. */
  some(ids: readonly bigint[]): Promise<AccessRequest[]>;
  /** The newest first. */
  open(organizationIds: readonly bigint[]): Promise<OpenRequest[]>;
  same(request: AccessRequest): Promise<AccessRequest | undefined>;
  /** How many this user or robot has made within an hour, at most so many, and in how many seconds the first leaves it. */
  recent(by: bigint, max: number): Promise<{ readonly count: number; readonly wait: number }>;
  /** Answers with the request that is open already, unless the key has an answer: then it throws that one. */
  repeat(request: AccessRequest, once?: Once<Created>): Promise<Created>;
  /** Removes some of those that were closed more than 400 days ago. */
  sweep(): Promise<void>;
  create(actor: Actor, made: NewRequest, once?: Once<Created>): Promise<Created>;
  close(actor: Actor, id: bigint, closing: Closing): Promise<AccessRequest | undefined>;
  approve(actor: Actor, request: AccessRequest, approval: Approval): Promise<AccessRequest>;
  acknowledge(actor: Actor, id: bigint): Promise<AccessRequest | undefined>;
  noteEffects(request: AccessRequest, effects: RequestEffects, digest: string): Promise<void>;
  /** The user who created a token. */
  tokenCreator(tokenId: bigint): Promise<bigint | undefined>;
  /** In lower case, by user. */
  teamNamesOf(organizationId: bigint, userIds: readonly bigint[]): Promise<ReadonlyMap<bigint, ReadonlySet<string>>>;
  teamNames(organizationId: bigint, userId: bigint): Promise<ReadonlySet<string>>;
  /** By cluster. Those that are in none are left out. */
  clusterSetsOf(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string>>;
  clusterSet(id: bigint): Promise<string | undefined>;
}

export interface ListQuestion {
  readonly organizationId: bigint | undefined;
  readonly readerId: bigint;
  readonly states: readonly RequestState[];
  readonly by: bigint | undefined;
  /** Only what the reader can decide. */
  readonly isForMe: boolean;
  readonly limits?: MaybeLimits;
}

interface Parts {
  readonly store: RequestStore;
  readonly judge: Pick<Judge, 'holds'>;
  readonly approvers: Approvers;
  /** Those that count for requests of one organization. */
  readonly rulesFor: CountingRules;
  readonly shown: ShownRequests;
  readonly mails: RequestMails;
  /** Ends what an approval made: the assignment or the membership. */
  readonly give: {
    endAssignment(setting: RequestSetting, id: bigint): Promise<void>;
    leaveTeam(setting: RequestSetting, teamId: bigint, userId: bigint): Promise<void>;
  };
}

const MAX_COMMENT = 1000;

export type Requests = ReturnType<typeof createRequests>;

/** What becomes of access requests, apart from asking and approving. */
export function createRequests(parts: Parts) {
  const { store, judge, approvers, rulesFor, shown, mails, give } = parts;
  return { get, list, inbox, deny, cancel, end, acknowledge, visible, visibleAmong, ruleOf, requireDecider };

  async function get(setting: RequestSetting, id: bigint): Promise<ShownRequest> {
    return await shown.fresh(await visible(setting, id), setting.actor.id);
  }

  /** Of one organization. */
  async function list(question: ListQuestion, page: PageRequest): Promise<Page<ShownRequest>> {
    const { organizationId, readerId, states, by, isForMe, limits } = question;
    const organizations = organizationId === undefined ? [] : [organizationId];
    if (isForMe) return await listForMe(question, organizations, page);
    const seesAll = organizationId !== undefined && (await seesLog(organizationId, readerId));
    const filter = { organizationId, states, by, limits };
    const decidable = seesAll || !isOpenAmong(states) ? [] : await decidableBy(readerId, organizations);
    const some = { ids: decidable.map(({ id }) => id), own: readerId };
    const found = await store.list(seesAll ? filter : { ...filter, visible: some }, page);
    return { ...found, items: await shown.listed(found.items, readerId) };
  }

  /** Over all organizations: what the user asked for, or what they can decide. */
  async function inbox(
    question: ListQuestion,
    organizations: readonly bigint[],
    page: PageRequest,
  ): Promise<Page<ShownRequest>> {
    const { readerId, states, isForMe, limits } = question;
    if (isForMe) return await listForMe(question, organizations, page);
    const found = await store.list({ organizationId: undefined, states, limits, by: readerId }, page);
    return { ...found, items: await shown.listed(found.items, readerId) };
  }

  /** What the reader can decide is known of every open request, so only those of the page are read. */
  async function listForMe(
    { readerId, states, by, limits }: ListQuestion,
    organizations: readonly bigint[],
    { offset, limit }: PageRequest,
  ): Promise<Page<ShownRequest>> {
    const decidable = isOpenAmong(states) ? await decidableBy(readerId, organizations) : [];
    const isAsked = (one: OpenRequest) => isWithin(limits, one) && (by === undefined || isPrincipal(one.by, by));
    const asked = decidable.filter(isAsked);
    const ids = asked.slice(offset, offset + limit).map(({ id }) => id);
    const found = ids.length === 0 ? [] : await store.some(ids);
    // What was closed meanwhile cannot be decided any more.
    const items = found.filter(({ state }) => state === 'open');
    return { items: await shown.listed(items, readerId), total: asked.length };
  }

  async function decidableBy(personId: bigint, organizationIds: readonly bigint[]): Promise<OpenRequest[]> {
    if (isRobotPrincipal(personId) || organizationIds.length === 0) return [];
    const open = await store.open(organizationIds);
    const decidable = new Set<bigint>();
    for (const requests of Map.groupBy(open, ({ organizationId }) => organizationId).values()) {
      const rules = await rulesFor(requests);
      const asked = requests.map((request, place) => ({ request, rule: rules[place] }));
      const answers = await approvers.mayDecideAll(personId, asked);
      for (const [place, { id }] of requests.entries()) if (answers[place]) decidable.add(id);
    }
    return open.filter(({ id }) => decidable.has(id));
  }

  /** What the reader may not see does not exist for them. */
  async function visible({ organizationId, actor, limits }: RequestSetting, id: bigint): Promise<AccessRequest> {
    const request = await store.get(id, organizationId);
    if (!request || !isWithin(limits, request) || !(await mayRead(request, actor.id))) throw requestNotFound();
    return request;
  }

  /** Those of these requests that the reader may see. Users who may view roles see that the rules have changed. */
  async function visibleAmong(
    organizationId: bigint,
    readerId: bigint,
    ids: readonly bigint[],
  ): Promise<ReadonlySet<bigint>> {
    const found = new Set<bigint>();
    for (const id of new Set(ids)) {
      const request = await store.get(id, organizationId);
      if (request && (await mayRead(request, readerId))) found.add(id);
    }
    return found;
  }

  async function mayRead(request: AccessRequest, readerId: bigint): Promise<boolean> {
    const { organizationId, by, decisions } = request;
    if (isPrincipal(by, readerId) || decisions.some(({ userId }) => userId === readerId)) return true;
    if (await seesLog(organizationId, readerId)) return true;
    const rule = await ruleOf(request);
    return rule !== undefined && (await approvers.mayDecide(readerId, request, rule));
  }

  async function seesLog(organizationId: bigint, readerId: bigint): Promise<boolean> {
    const organization = { type: 'organization', id: organizationId } as const;
    return await judge.holds(readerId, organizationId, 'can_view_audit_log', organization);
  }

  /** The rule that counts at this moment. Undefined if the request is not allowed any more. */
  async function ruleOf(request: AccessRequest): Promise<RequestRule | undefined> {
    return (await rulesFor([request]))[0];
  }

  /** Rejects a caller who may not decide about an open request, before anything else is looked at. */
  async function requireDecider({ actor }: RequestSetting, request: AccessRequest): Promise<void> {
    if (request.state !== 'open') throw wasClosed();
    if (isPrincipal(request.by, actor.id)) {
      throw new AppError('forbidden', 'you cannot decide about your own request', { reason: 'own_request' });
    }
    const rule = (await ruleOf(request)) ?? { approvers: undefined };
    if (await approvers.mayDecide(actor.id, request, rule as RequestRule)) return;
    throw new AppError('forbidden', 'only callers who could make the change themselves decide about the request', {
      reason: 'not_an_approver',
    });
  }

  async function deny(setting: RequestSetting, id: bigint, comment: string | undefined): Promise<ShownRequest> {
    requireUser(setting);
    const request = await readFor(setting, id);
    await requireDecider(setting, request);
    const said = readComment(comment);
    const closing = { state: 'denied', action: 'request.deny', comment: said } as const;
    return await closed(setting, request, closing);
  }

  async function cancel(setting: RequestSetting, id: bigint): Promise<ShownRequest> {
    const request = await readFor(setting, id);
    if (request.state !== 'open') throw wasClosed();
    if (!isPrincipal(request.by, setting.actor.id)) {
      throw new AppError('forbidden', 'only the requester can cancel a request');
    }
    return await closed(setting, request, { state: 'cancelled', action: 'request.cancel' });
  }

  async function closed(setting: RequestSetting, { id }: AccessRequest, closing: Closing): Promise<ShownRequest> {
    const done = await store.close(setting.actor, id, closing);
    if (!done) throw wasClosed();
    if (closing.state === 'denied') mails.decided(done);
    return await shown.fresh(done, setting.actor.id);
  }

  /** No caller acts on a request in the name of another user. */
  async function readFor(setting: RequestSetting, id: bigint): Promise<AccessRequest> {
    if (setting.actor.sudoBy) throw sudoForbidden();
    return await visible(setting, id);
  }

  /** The requester gives it back, or it is withdrawn. */
  async function end(setting: RequestSetting, id: bigint): Promise<ShownRequest> {
    const request = await readFor(setting, id);
    const { organizationId, actor } = setting;
    if (request.state === 'open') throw new AppError('conflict', 'the request is not approved: cancel it instead');
    if (request.state !== 'approved') throw wasClosed();
    const isOwn = isPrincipal(request.by, actor.id);
    const [relation, object, named] =
      request.change.action === 'assignment.create'
        ? (['assigner', { type: 'organization', id: organizationId }, 'assign_roles:org'] as const)
        : (['can_remove_member', { type: 'team', id: request.change.team.id }, 'remove_member:team'] as const);
    if (!isOwn && !(await judge.holds(actor.id, organizationId, relation, object))) throw missingRelation(named);
    await withdraw(setting, request);
    const ended = await store.get(id);
    if (ended?.state !== 'ended') throw wasClosed();
    return await shown.fresh(ended, actor.id);
  }

  async function withdraw(setting: RequestSetting, { assignmentId, change, by }: AccessRequest): Promise<void> {
    try {
      if (assignmentId !== null) await give.endAssignment(setting, assignmentId);
      else if (change.action === 'team.add_member') await give.leaveTeam(setting, change.team.id, by.id);
    } catch (error) {
      // Another user ended it at the same moment.
      if (error instanceof AppError && error.kind === 'notFound') throw wasClosed();
      throw error;
    }
  }

  async function acknowledge(setting: RequestSetting, id: bigint): Promise<ShownRequest> {
    requireUser(setting);
    const request = await readFor(setting, id);
    const { organizationId, actor } = setting;
    if (isPrincipal(request.by, actor.id)) {
      throw new AppError('forbidden', 'another owner must acknowledge it', { reason: 'own_request' });
    }
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(actor.id, organizationId, 'owner', organization))) throw missingRelation('owner');
    if (!request.isBreakGlass) throw new AppError('conflict', 'only the use of break glass is acknowledged');
    const done = await store.acknowledge(actor, id);
    if (!done) throw requestNotFound();
    return await shown.fresh(done, actor.id);
  }
}

/** Without states, requests in any state are asked for. */
function isOpenAmong(states: readonly RequestState[]): boolean {
  return states.length === 0 || states.includes('open');
}

/** A token that is limited to single objects reaches what gives access to one of them, and to nothing else. */
function isWithin(
  limits: MaybeLimits,
  { organizationId, object, change }: Pick<AccessRequest, 'organizationId' | 'object' | 'change'>,
): boolean {
  if (reachesOrganization(limits, organizationId)) return true;
  return change.action === 'assignment.create' && isListed(limits, object);
}

export function readComment(comment: string | undefined): string {
  if ([...(comment ?? '')].length <= MAX_COMMENT) return comment ?? '';
  throw invalidField('comment', `comment must have at most ${MAX_COMMENT} characters`);
}

/**
 * No caller decides in the name of another user, and no robot decides: they hear so before anything of a request shows.
 */
export function requireUser({ actor }: RequestSetting): void {
  if (actor.sudoBy) throw sudoForbidden();
  if (isRobotPrincipal(actor.id)) {
    throw new AppError('forbidden', 'robots do not decide about access requests', { reason: 'not_for_robots' });
  }
}

export function sudoForbidden(): AppError {
  return new AppError('forbidden', 'access requests cannot be made or decided on behalf of another user', {
    reason: 'sudo_forbidden',
  });
}
