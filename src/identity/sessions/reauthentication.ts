import { AppError } from '../../base/errors.ts';

/** The session is fine, but its user was last seen to be themselves too long ago for something sensitive. */
export function reauthenticationNeeded(): AppError {
  const message = 'prove again who you are (POST /user/reauthenticate), then repeat the request';
  return new AppError('forbidden', message, { reason: 'reauthentication_required' });
}
