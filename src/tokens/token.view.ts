import Type, { type Static } from 'typebox';
import { OWNED_TYPES, type OwnedType } from '../changes/object-kinds.ts';
import {
  Int64,
  Int64Input,
  named,
  readIdNumber,
  readMoment,
  shownAs,
  Timestamp,
  timestamp,
} from '../http/wire/schemas.ts';
import { SCOPES } from '../identity/scopes.ts';
import type { TokenLimits } from '../identity/tokens/token-limits.ts';
import type { TokenDetails } from '../identity/tokens/token-request.ts';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS, type RotationRequest } from '../identity/tokens/token-rotation.ts';
import { MAX_LIMITS, type WantedLimits } from './limit-request.ts';
import { brokenRules, TOKEN_RULES, type TokenRules } from './token-policy.ts';
import type { WantedToken } from './tokens.ts';

/** The rules reject a scope that does not exist, in their own words. */
export const Scope = shownAs(Type.String(), { type: 'string', enum: SCOPES });
const LIMIT_TYPES = OWNED_TYPES.map(({ type }) => type);

export const TokenLimitsResponse = named(
  'TokenLimits',
  Type.Object({
    organizations: Type.Array(Type.Object({ id: Int64, name: Type.String() }), {
      description: 'Organizations that the token reaches, with their names at the time of its creation.',
    }),
    objects: Type.Array(Type.Object({ type: Type.String({ enum: LIMIT_TYPES }), id: Int64, name: Type.String() }), {
      description: 'Single objects that the token reaches, with their names at the time of its creation.',
    }),
  }),
);

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
    expires_soon: Type.Boolean({ description: 'Whether requests with the token get the X-Token-Expires-At header.' }),
    can_rotate: Type.Boolean({ description: 'Whether the token may rotate itself.' }),
    delegated: Type.Boolean({
      description: 'Whether its user gave it to an agent. What is done with it has both names in the audit log.',
    }),
    limits: Type.Optional(TokenLimitsResponse),
    replaces: Type.Optional(
      Type.Unsafe<number | bigint>({
        ...Int64,
        description: 'ID of the token that this one replaced, which may be gone.',
      }),
    ),
    replaced_by: Type.Optional(
      Type.Unsafe<number | bigint>({
        ...Int64,
        description: 'ID of the token that replaces this one. Until expires_at, both work.',
      }),
    ),
    beyond_policy: Type.Array(Type.String({ enum: [...TOKEN_RULES] }), {
      description: 'Rules of the token policy that the token breaks, because it is older than they are.',
    }),
  }),
);

export const NewLimits = named(
  'NewTokenLimits',
  Type.Object({
    organizations: Type.Optional(
      Type.Array(Type.String(), { maxItems: MAX_LIMITS, description: 'Names of organizations.' }),
    ),
    objects: Type.Optional(
      Type.Array(Type.Object({ type: Type.Union(LIMIT_TYPES.map((type) => Type.Literal(type))), id: Int64Input }), {
        maxItems: MAX_LIMITS,
        description: 'Single objects, also of other organizations.',
      }),
    ),
  }),
);

export const NewAccessToken = named(
  'NewToken',
  Type.Object({
    name: Type.String(),
    scopes: Type.Optional(Type.Array(Scope, { maxItems: 100 })),
    expires_at: Type.Optional(Type.Union([Timestamp, Type.Null()])),
    can_rotate: Type.Optional(Type.Boolean({ description: 'Whether the token may rotate itself; false by default.' })),
    limits: Type.Optional(NewLimits),
    delegated: Type.Optional(
      Type.Boolean({
        description: [
          'For an agent that acts for the user under this name. It reads, and asks for access; its limits are required.',
          'It ends within an hour, and with the session or the token that creates it.',
        ].join(' '),
      }),
    ),
  }),
);

const Overlap = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: MAX_OVERLAP_HOURS,
    description: `Hours for which the old token goes on working; ${DEFAULT_OVERLAP_HOURS} by default.`,
  }),
);
export const RotateOwnToken = named('RotateOwnToken', Type.Object({ overlap_hours: Overlap }));
export const RotateToken = named(
  'RotateToken',
  Type.Object({
    overlap_hours: Overlap,
    expires_at: Type.Optional(
      Type.Union([Timestamp, Type.Null()], {
        description: 'End of the new token. By default, it gets the lifetime that the old one was given.',
      }),
    ),
  }),
);

export function readNewToken(body: Static<typeof NewAccessToken>): WantedToken {
  const { name, scopes, expires_at, can_rotate, limits } = body;
  return {
    name,
    scopes,
    expiresAt: expires_at ? readMoment(expires_at, 'expires_at') : null,
    canRotate: can_rotate,
    limits: readLimits(limits),
  };
}

export function readLimits(limits: Static<typeof NewLimits> | undefined): WantedLimits | undefined {
  const objects = limits?.objects?.map(({ type, id }) => ({
    type: type as OwnedType,
    id: readIdNumber(id, 'object ID'),
  }));
  return limits && { organizations: limits.organizations ?? [], objects: objects ?? [] };
}

const HOUR_MS = 3_600_000;

export function readRotation(body: Static<typeof RotateToken>): RotationRequest {
  const { overlap_hours: hours = DEFAULT_OVERLAP_HOURS, expires_at } = body;
  const overlapMs = Math.round(hours * HOUR_MS);
  if (expires_at === undefined) return { overlapMs, expiresAt: undefined };
  return { overlapMs, expiresAt: expires_at ? readMoment(expires_at, 'expires_at') : null };
}

interface Shown {
  /** The token itself, in the only response that shows it. */
  readonly text?: string;
  /** Tokens that end until then end soon. */
  readonly soon: Date;
  /** The rules of now. A new token keeps them. */
  readonly rules?: TokenRules;
}

export function presentToken(token: TokenDetails, { text = '', soon, rules }: Shown) {
  return {
    id: token.id,
    name: token.name,
    sha1: text,
    token_last_eight: token.lastEight,
    scopes: [...token.scopes],
    created_at: timestamp(token.createdAt),
    last_used_at: timestamp(token.lastUsedAt),
    expires_at: token.expiresAt && timestamp(token.expiresAt),
    expires_soon: token.expiresAt !== null && token.expiresAt <= soon,
    can_rotate: token.canRotate,
    delegated: token.isDelegated,
    ...(token.limits && { limits: presentLimits(token.limits) }),
    ...(token.supersedes !== null && { replaces: token.supersedes }),
    ...(token.supersededBy !== null && { replaced_by: token.supersededBy }),
    beyond_policy: rules ? brokenRules(rules, token) : [],
  };
}

export function presentLimits(limits: TokenLimits) {
  return {
    organizations: limits.organizations.map(({ id, name }) => ({ id, name })),
    objects: limits.objects.map(({ type, id, name }) => ({ type, id, name })),
  };
}
