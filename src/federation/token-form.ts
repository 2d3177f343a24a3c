import { AppError, type OAuthError } from '../base/errors.ts';
import type { TokenRequest } from './token-exchange.ts';

/** A token request of one of the three grants, and the error that its grant has for a token that is not accepted. */
export interface GrantedRequest extends TokenRequest {
  readonly rejection: OAuthError;
}

const TYPE = 'urn:ietf:params:oauth:token-type:';
export const ACCESS_TOKEN_TYPE = `${TYPE}access_token`;
const SUBJECT_TYPES = [`${TYPE}jwt`, `${TYPE}id_token`];
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
export const GRANT_TYPES = [
  'urn:ietf:params:oauth:grant-type:token-exchange',
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'client_credentials',
] as const;

type Fields = ReadonlyMap<string, string>;

/** `audience` is what the issued token is for: this server and nothing else. */
export function readTokenForm(fields: Fields, audience: string): GrantedRequest {
  const grant = required(fields, 'grant_type');
  const [exchange, bearer, credentials] = GRANT_TYPES;
  if (grant === exchange) return { ...common(fields, audience), ...readExchange(fields), rejection: 'invalid_request' };
  if (grant === bearer) {
    const token = required(fields, 'assertion');
    return { ...common(fields, audience), token, rejection: 'invalid_grant' };
  }
  if (grant === credentials) {
    const token = required(fields, 'client_assertion');
    const type = required(fields, 'client_assertion_type');
    if (type !== ASSERTION_TYPE) throw wrong('client_assertion_type is not supported', 'invalid_client');
    return { ...common(fields, audience), token, rejection: 'invalid_client' };
  }
  throw wrong('grant_type is not supported', 'unsupported_grant_type');
}

function readExchange(fields: Fields): { readonly token: string } {
  const token = required(fields, 'subject_token');
  if (!SUBJECT_TYPES.includes(required(fields, 'subject_token_type'))) {
    throw wrong('subject_token_type must be that of a JWT or an ID token');
  }
  if (fields.has('actor_token') || fields.has('actor_token_type')) throw wrong('actor_token is not supported');
  if ((fields.get('requested_token_type') ?? ACCESS_TOKEN_TYPE) !== ACCESS_TOKEN_TYPE) {
    throw wrong('requested_token_type must be that of an access token');
  }
  return { token };
}

function common(fields: Fields, audience: string): Pick<TokenRequest, 'clientId' | 'scopes'> {
  const clientId = required(fields, 'client_id');
  for (const name of ['resource', 'audience']) {
    if ((fields.get(name) ?? audience) !== audience) {
      throw wrong(`${name} must be the address of this server`, 'invalid_target');
    }
  }
  const scopes = (fields.get('scope') ?? '').split(' ').filter((scope) => scope !== '');
  return { clientId, scopes: scopes.length === 0 ? undefined : [...new Set(scopes)] };
}

/** RFC 6749: a parameter without a value counts as left out. */
function required(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw wrong(`${name} is required`);
  return value;
}

/** The parameters of a form. None may be repeated, because two readers could take another one each. */
export function readForm(text: string): Fields {
  const fields = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (seen.has(name)) throw wrong('a parameter is repeated');
    seen.add(name);
    if (value !== '') fields.set(name, value);
  }
  return fields;
}

function wrong(message: string, oauthError: OAuthError = 'invalid_request'): AppError {
  const kind = oauthError === 'invalid_client' ? 'unauthenticated' : 'invalid';
  return new AppError(kind, message, { oauthError });
}
