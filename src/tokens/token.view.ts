import Type, { type Static } from 'typebox';
import { Int64, named, readMoment, shownAs, Timestamp, timestamp } from '../http/schemas.ts';
import { SCOPES } from '../identity/scopes.ts';
import type { TokenDetails, TokenRequest } from '../identity/token-request.ts';

/** The rules reject a scope that does not exist, in their own words. */
const Scope = shownAs(Type.String(), { type: 'string', enum: SCOPES });

/** An access token as clients of this API family know it. */
export const AccessToken = named(
  'Token',
  Type.Object({
    id: Int64,
    name: Type.String(),
    sha1: Type.String({ description: 'The token itself, shown only when it is created.' }),
    token_last_eight: Type.String(),
    scopes: Type.Array(Type.String({ enum: SCOPES })),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Type.Union([Timestamp, Type.Null()], { description: 'Null if the token never expires.' }),
  }),
);

export const NewAccessToken = named(
  'NewToken',
  Type.Object({
    name: Type.String(),
    scopes: Type.Optional(Type.Array(Scope, { maxItems: 100 })),
    expires_at: Type.Optional(Type.Union([Timestamp, Type.Null()])),
  }),
);

export function readNewToken({ name, scopes, expires_at }: Static<typeof NewAccessToken>): TokenRequest {
  return { name, scopes, expiresAt: expires_at ? readMoment(expires_at, 'expires_at') : null };
}

/** `text` is the token itself, in the only response that shows it. */
export function presentToken(token: TokenDetails, text = '') {
  return {
    id: token.id,
    name: token.name,
    sha1: text,
    token_last_eight: token.lastEight,
    scopes: [...token.scopes],
    created_at: timestamp(token.createdAt),
    last_used_at: timestamp(token.lastUsedAt),
    expires_at: token.expiresAt && timestamp(token.expiresAt),
  };
}
