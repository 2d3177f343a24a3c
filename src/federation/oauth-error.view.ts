import { type AppError, type OAuthError, reasonOf } from '../base/errors.ts';
import { type ErrorFormat, STATUS } from '../http/error-format.ts';

export const OAUTH_PREFIX = '/oauth';

/** What RFC 6749 lets a description contain. */
const UNSAYABLE = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/** Errors as RFC 6749 wants them (section 5.2). */
export const oauthFormat: ErrorFormat = {
  statuses: { ...STATUS, malformed: 400, forbidden: 400 },
  challenge: 'Bearer',
  body: (error) => ({ error: wordOf(error), error_description: error.message.replace(UNSAYABLE, "'") }),
};

function wordOf(error: AppError): OAuthError {
  if (error.detail.oauthError) return error.detail.oauthError;
  if (error.kind === 'limited') return 'slow_down';
  if (error.kind === 'internal') return 'server_error';
  return reasonOf(error) === 'unavailable' || error.kind === 'unavailable'
    ? 'temporarily_unavailable'
    : 'invalid_request';
}
