import { AppError, type ErrorKind } from '../../base/errors.ts';

/** Why a delivery was rejected, as a code that logs, metrics and the delivery log share. */
export type RejectionReason =
  | 'malformed'
  | 'secret_mismatch'
  | 'ip_outside_ranges'
  | 'invalid_binding'
  | 'invalid_options'
  | 'invalid_subscription'
  | 'invalid_event_time'
  | 'unknown_event_type'
  | 'wrong_marketplace'
  | 'installer_unknown'
  | 'installer_expired'
  | 'already_bound'
  | 'bound_elsewhere'
  | 'subscription_unknown'
  | 'subscription_deleted';

/** A final rejection: the marketplace will not send this delivery again. */
export class Rejection extends AppError {
  readonly reason: RejectionReason;

  constructor(kind: Extract<ErrorKind, 'invalid' | 'forbidden'>, reason: RejectionReason, message: string) {
    super(kind, message);
    this.reason = reason;
  }
}

export function invalid(reason: RejectionReason, message: string): Rejection {
  return new Rejection('invalid', reason, message);
}

export function forbidden(reason: RejectionReason, message: string): Rejection {
  return new Rejection('forbidden', reason, message);
}
