import { errors } from 'jose';
import * as oidc from 'openid-client';
import type { AppError } from '../base/errors.ts';
import type { KnownProvider } from './providers.ts';
import { quoted, signInFault } from './sign-in-fault.ts';

/** A fault in the answer of a provider, not on the way to it. */
const REJECTED = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

/** The keys themselves could not be had. */
const KEY_FAULTS = new Set<string>([errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code]);

/** The provider does not know us, or does not let us do this: our client is set up wrongly, there or here. */
const CLIENT_FAULTS = new Set(['invalid_client', 'unauthorized_client']);

interface Coded {
  readonly code?: unknown;
}

/** What a provider answers instead of tokens (RFC 6749, section 5.2). */
export interface OidcRejection {
  readonly status: number;
  readonly error: string;
  readonly description: string;
}

/** Says what is wrong to the user who tries to sign in. The cause is for the log. */
export async function explainOidcFaults<T>({ provider }: KnownProvider, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await wording(provider.displayName, error);
  }
}

async function wording(name: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || error.name === 'AppError') return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    const words = quoteOidcError(error.error, error.error_description);
    return signInFault('provider_refused', `${name} did not sign you in: ${words}`, error);
  }
  const rejection = await oidcRejectionIn(error);
  if (rejection) return faultOf(name, rejection, error);
  const isRejected =
    error instanceof errors.JOSEError ? !KEY_FAULTS.has(error.code) : REJECTED.has(String((error as Coded).code));
  if (isRejected) {
    return signInFault('sign_in_rejected', `what ${name} answered is not accepted: ${plainMessage(error)}`, error);
  }
  return signInFault('provider_failed', `${name} cannot be reached, or its answer makes no sense`, error);
}

function faultOf(name: string, { status, error, description }: OidcRejection, cause: Error): AppError {
  const words = quoteOidcError(error, description);
  if (status >= 500) return signInFault('provider_failed', `${name} answers with an error: ${words}`, cause);
  if (CLIENT_FAULTS.has(error) || status === 401) {
    const advice = 'a site administrator has to look at the client ID and the client secret';
    return signInFault(
      'client_rejected',
      `${name} does not accept this server as its client: ${words}; ${advice}`,
      cause,
    );
  }
  return signInFault('provider_refused', `${name} did not sign you in: ${words}`, cause);
}

/** What the provider itself says about a request that it rejects. Undefined if it says nothing that can be read. */
export async function oidcRejectionIn(error: unknown): Promise<OidcRejection | undefined> {
  if (error instanceof oidc.ResponseBodyError) {
    return { status: error.status, error: error.error, description: error.error_description ?? '' };
  }
  if (!(error instanceof oidc.WWWAuthenticateChallengeError)) return undefined;
  // A wrong secret in a header is answered with a challenge, and with the usual words in the body.
  const body = await error.response.json().catch(() => undefined);
  const said = { ...error.cause[0]?.parameters, ...(typeof body === 'object' && body !== null ? body : {}) };
  const text = (name: string) => {
    const value = (said as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    status: error.status,
    error: text('error') || `HTTP ${error.status}`,
    description: text('error_description'),
  };
}

/** The error of a provider as it writes it, with its explanation if there is one. */
export function quoteOidcError(error: string, description = ''): string {
  return `it says ${quoted(error)}${description === '' ? '' : ` (${quoted(description)})`}`;
}

/** The sentence of the library, which names the claim that is wrong. */
export function plainMessage(error: Error): string {
  return error.message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);
}
