import { reasonOf } from '../base/errors.ts';
import type { Reason } from '../base/reasons.ts';
import { type ErrorFormat, platformFormat, STATUS } from '../http/error-format.ts';

export const AUTHZEN_PREFIX = '/access/v1';

/** Errors of the AuthZEN API: the body of the platform, and 400 for whatever is wrong with a request. */
export function authzenFormat(documentationUrl: () => string): ErrorFormat {
  return {
    ...platformFormat(documentationUrl),
    statuses: { ...STATUS, malformed: 400 },
    challenge: 'Bearer',
  };
}

const TYPE = 'urn:openid:authzen:access-request:error:';
/** The types of the access request profile, and their statuses. What it does not name has no type of its own. */
const PROBLEMS: Partial<Record<Reason, { readonly type: string; readonly status: number }>> = {
  not_requestable: { type: 'not_requestable', status: 400 },
  expired_denial: { type: 'expired_denial', status: 410 },
  invalid_denial_binding: { type: 'invalid_denial_binding', status: 400 },
  idempotency_key_reused: { type: 'duplicate_request', status: 409 },
  request_not_found: { type: 'unknown_task', status: 404 },
  request_closed: { type: 'invalid_task_state', status: 409 },
};

/** Errors of the access request profile: RFC 9457. */
export const problemFormat: ErrorFormat = {
  statuses: { ...STATUS, malformed: 400 },
  statusOf: (error) => PROBLEMS[reasonOf(error)]?.status ?? problemFormat.statuses[error.kind],
  contentType: 'application/problem+json',
  challenge: 'Bearer',
  body: (error) => {
    const reason = reasonOf(error);
    const problem = PROBLEMS[reason];
    return {
      type: problem === undefined ? 'about:blank' : `${TYPE}${problem.type}`,
      title: error.message,
      status: problem?.status ?? problemFormat.statuses[error.kind],
      reason,
      ...(error.detail.relation !== undefined && { relation: error.detail.relation }),
      ...error.detail.members,
    };
  },
};
