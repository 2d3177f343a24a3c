import { timestamp } from '../http/wire/schemas.ts';
import { expiryText } from '../organizations/expires-at.view.ts';
import { type AccessRequest, type RequestState, requestName } from '../requests/access-request.ts';
import type { ShownRequest } from '../requests/shown-requests.ts';
import { AUTHZEN_PREFIX } from './authzen-error.view.ts';

/** What the profile calls the states. What has ended was approved. */
const STATUS_OF: Readonly<Record<RequestState, string>> = {
  open: 'pending',
  approved: 'approved',
  denied: 'denied',
  cancelled: 'cancelled',
  expired: 'expired',
  failed: 'failed',
  ended: 'approved',
};

/** An access request as the access request profile of AuthZEN shows it: a task, and its result. */
export function presentTask({ request, approvals }: ShownRequest, baseUrl: string) {
  const name = requestName(request.id);
  const status = STATUS_OF[request.state];
  const endpoint = taskUrl(request, baseUrl);
  const given = request.decisions.filter(({ isApproval, digest }) => isApproval && digest === request.digest).length;
  const progress = {
    ...{ current_step: Math.min(given + 1, approvals), total_steps: approvals },
    ...{ step_name: 'approval', awaiting: 'approvers' },
  };
  return {
    task: {
      ...{ id: name, status, status_endpoint: endpoint, expires_at: expiryText(request.closesAt) },
      ...(status === 'pending' && { progress }),
      links: {
        review: `${baseUrl}/orgs/${request.organizationName}/requests/${name}`,
        ...(status === 'pending' && { cancel: `${endpoint}/cancel` }),
      },
    },
    ...(status === 'approved' && { result: { mode: 'reevaluate', approval: approvalOf(request, name) } }),
  };
}

export function taskUrl({ organizationName, id }: AccessRequest, baseUrl: string): string {
  return `${baseUrl}${AUTHZEN_PREFIX}/${organizationName}/requests/${requestName(id)}`;
}

function approvalOf({ decisions, createdAt, until, state, closedAt }: AccessRequest, id: string) {
  const last = decisions.filter(({ isApproval }) => isApproval).at(-1);
  const hasEnded = state === 'ended';
  const end = hasEnded ? (closedAt ?? until) : until;
  return {
    id,
    approved_at: timestamp(last?.decidedAt ?? createdAt),
    approved_until: end && expiryText(end),
    state: hasEnded ? 'ended' : 'active',
  };
}
