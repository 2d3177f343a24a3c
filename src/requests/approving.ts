import type { HeldPlaces } from '../authz/places/held-places.ts';
import { AppError, invalidField, reasonOf } from '../base/errors.ts';
import type { Reason } from '../base/reasons.ts';
import type { AccessRequest, RequestDecision } from './access-request.ts';
import type { ApproverStore, Approvers } from './approvers/approvers.ts';
import { newAssignment } from './asking.ts';
import type { Granting } from './granting.ts';
import type { RequestMails } from './mails/request-mails.ts';
import { changedSince, wasClosed, withRequest } from './request-errors.ts';
import { type RequestSetting, type RequestStore, type Requests, readComment, requireUser } from './requests.ts';
import type { RequestRule } from './rules/request-rule.ts';
import type { ShownRequest, ShownRequests } from './shown-requests.ts';

interface Parts {
  readonly store: Pick<RequestStore, 'get' | 'approve' | 'close'>;
  readonly requests: Pick<Requests, 'visible' | 'requireDecider' | 'ruleOf'>;
  readonly approvers: Approvers;
  readonly roles: ApproverStore;
  readonly held: Pick<HeldPlaces, 'rejectGiving'>;
  readonly shown: Pick<ShownRequests, 'fresh' | 'current' | 'effectsFor'>;
  readonly mails: RequestMails;
  /** How a rejected approval shows the request. */
  readonly present: (shown: ShownRequest) => object;
}

/** The change was rejected, and will be every time. */
const FATAL: ReadonlySet<Reason> = new Set(['guardrail_violated', 'already_assigned', 'not_a_member']);
const MAX_TRIES = 5;

export type Approving = ReturnType<typeof createApproving>;

/** The decisions changed while one was made. */
class OthersDecided extends Error {}

/**
 * Approves exactly what the digest stands for. The last approval that is needed makes the change, in one transaction,
 * with the rights of the approver who gives it.
 */
export function createApproving(parts: Parts) {
  const { store, requests, approvers, roles, held, shown, mails, present } = parts;
  return { approve };

  async function approve(
    setting: RequestSetting,
    id: bigint,
    digest: unknown,
    comment: string | undefined,
  ): Promise<ShownRequest> {
    const { actor } = setting;
    requireUser(setting);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const seen = await requests.visible(setting, id);
      await requests.requireDecider(setting, seen);
      if (typeof digest !== 'string') {
        throw invalidField('digest', 'digest must be that of the request as you have seen it');
      }
      const said = readComment(comment);
      const rule = await requests.ruleOf(seen);
      if (!rule) throw await failed(setting, seen, 'the request rules', wasClosed());
      const request = await shown.current(seen);
      if (request.digest !== digest) throw await stale(changedSince(), request, actor.id);
      try {
        const approved = await approveNow(setting, request, rule, said);
        if (approved.state === 'approved') mails.decided(approved);
        return await shown.fresh(approved, actor.id);
      } catch (error) {
        if (error instanceof OthersDecided) continue;
        if (!(error instanceof AppError)) throw error;
        const reason = reasonOf(error);
        if (reason === 'changed_since') throw await stale(error, request, actor.id);
        if (FATAL.has(reason)) throw await failed(setting, request, reason, error);
        throw error;
      }
    }
    throw new AppError('unavailable', 'others are deciding about this request at the same time', { retryAfter: 1 });
  }

  async function approveNow(
    { actor }: RequestSetting,
    request: AccessRequest,
    rule: RequestRule,
    comment: string,
  ): Promise<AccessRequest> {
    if (isApprovedBy(request, actor.id)) throw decidedAlready();
    const valid = await validApprovals(request, rule);
    const needed = Math.max(1, rule.approvals);
    const isLast = valid.length + 1 >= needed;
    const granting = isLast ? await grantBy(actor, request) : undefined;
    const counted = new Set(valid.map(({ userId }) => userId));
    const decide = (current: AccessRequest) => {
      if (isApprovedBy({ ...current, digest: request.digest }, actor.id)) throw decidedAlready();
      const now = approvalsOf(current, request.digest).filter(({ userId }) => counted.has(userId));
      const isNews = approvalsOf(current, request.digest).some(
        ({ userId }) => !request.decisions.some((one) => one.userId === userId),
      );
      if (isNews || now.length < counted.size) throw new OthersDecided();
    };
    return await store.approve(actor, request, { comment, digest: request.digest, needed, granting, decide });
  }

  /** Approvals of other users who could still decide, about what it is now. */
  async function validApprovals(request: AccessRequest, rule: RequestRule): Promise<RequestDecision[]> {
    const valid: RequestDecision[] = [];
    for (const decision of approvalsOf(request, request.digest)) {
      if (await approvers.mayDecide(decision.userId, request, rule)) valid.push(decision);
    }
    return valid;
  }

  async function grantBy(actor: RequestSetting['actor'], request: AccessRequest): Promise<Granting> {
    const { organizationId, change } = request;
    if (change.action === 'team.add_member') {
      const known = request.effects.grants.join();
      const reject = await approvers.rejectTeam(actor.id, request, change.team.id);
      return {
        actor,
        rejectTeam(grant) {
          reject(grant);
          const has = [
            `permission ${grant.permission}`,
            ...grant.roles.map(({ namespace, action }) => `${namespace} ${action}`),
            ...(grant.assignmentIds ?? []).map((id) => `assignment ${id}`),
          ];
          if (has.join() !== known) throw changedSince();
        },
      };
    }
    const gift = await approvers.giftOf(request);
    if (!gift) throw wasClosed();
    await held.rejectGiving(actor.id, organizationId, [gift]);
    return { actor, assignment: await newAssignment(request, roles) };
  }

  /** Closes the request, and shows it with the error. */
  async function failed(
    { actor }: RequestSetting,
    { id }: AccessRequest,
    because: string,
    error: AppError,
  ): Promise<AppError> {
    const closed = await store.close(actor, id, { state: 'failed', action: 'request.fail', because });
    if (closed) mails.decided(closed);
    const now = closed ?? (await store.get(id));
    return now ? await showing(error, now, actor.id) : error;
  }

  /** A decision that was made meanwhile changes what the request would change, too. */
  async function stale(error: AppError, request: AccessRequest, readerId: bigint): Promise<AppError> {
    const now = await store.get(request.id);
    return now?.state === 'open' ? await showing(error, request, readerId) : wasClosed();
  }

  async function showing(error: AppError, request: AccessRequest, readerId: bigint): Promise<AppError> {
    return withRequest(error, present(await shown.fresh(request, readerId)));
  }
}

function approvalsOf({ decisions }: AccessRequest, digest: string): RequestDecision[] {
  return decisions.filter((one) => one.isApproval && one.digest === digest);
}

function isApprovedBy(request: AccessRequest, userId: bigint): boolean {
  return approvalsOf(request, request.digest).some((one) => one.userId === userId);
}

function decidedAlready(): AppError {
  return new AppError('conflict', 'you have approved this already', { reason: 'already_decided' });
}
