import { AppError } from '../base/errors.ts';

export function requestNotFound(): AppError {
  return new AppError('notFound', 'access request does not exist', { reason: 'request_not_found' });
}

export function wasClosed(): AppError {
  return new AppError('conflict', 'the access request is closed already', { reason: 'request_closed' });
}

export function notAcknowledged(): AppError {
  const message = 'an earlier use of break glass must be acknowledged by an owner first';
  return new AppError('conflict', message, { reason: 'not_acknowledged' });
}

/** With the longest time that could be asked for, if it is only about that. */
export function notRequestable(why: string, longest?: string): AppError {
  return new AppError('malformed', `this cannot be requested: ${why}`, {
    reason: 'not_requestable',
    ...(longest !== undefined && { members: { longest } }),
  });
}

export function changedSince(): AppError {
  const message = 'what the request would change is different from what the digest stands for: look at it again';
  return new AppError('conflict', message, { reason: 'changed_since' });
}

/** The same error, which also shows the request as it is now. */
export function withRequest(error: AppError, request: object): AppError {
  return new AppError(error.kind, error.message, { ...error.detail, members: { request } });
}
