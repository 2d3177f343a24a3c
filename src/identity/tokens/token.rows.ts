import type { OwnedType } from '../../changes/object-kinds.ts';
import type { MaybeLimits, TokenLimits } from './token-limits.ts';
import type { TokenDetails } from './token-request.ts';

/** A token as it is selected for display: nothing in it grants access. */
export interface TokenRow {
  id: bigint;
  name: string;
  last_eight: string;
  scopes: string[];
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  can_rotate: boolean;
  delegated: boolean;
  limits: StoredLimits | null;
  supersedes: bigint | null;
  superseded_by: bigint | null;
}

/** IDs are text in JSON, because not every number is exact there. */
export interface StoredLimits {
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  readonly objects: readonly {
    readonly type: OwnedType;
    readonly id: string;
    readonly name: string;
    readonly owner: string;
  }[];
}

/** The scopes of a token with limits are where releases that know no limits do not look. */
export const SCOPES_OF_TOKEN = (token = 'token') => `coalesce(${token}.limited_scopes, ${token}.scopes) as scopes`;

export const TOKEN_COLUMNS = `id, name, last_eight, ${SCOPES_OF_TOKEN()}, created_at, last_used_at, expires_at, can_rotate,
  delegated, limits, supersedes, superseded_by`;

/** A delegated token ends with the session or the token that it was created with. */
export const HAS_ORIGIN = (token: string) =>
  `(${token}.session_id is null or exists (
     select from session o where o.account_id = ${token}.account_id and o.id = ${token}.session_id))
   and (${token}.parent_id is null or exists (select from token o where o.id = ${token}.parent_id))`;

export function toTokenDetails(row: TokenRow): TokenDetails {
  return {
    id: row.id,
    name: row.name,
    lastEight: row.last_eight,
    scopes: row.scopes,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    canRotate: row.can_rotate,
    isDelegated: row.delegated,
    limits: toLimits(row.limits),
    supersedes: row.supersedes,
    supersededBy: row.superseded_by,
  };
}

export function toLimits(stored: StoredLimits | null): MaybeLimits {
  if (stored === null) return undefined;
  return {
    organizations: stored.organizations.map(({ id, name }) => ({ id: BigInt(id), name })),
    objects: stored.objects.map(({ type, id, name, owner }) => ({
      type,
      id: BigInt(id),
      name,
      ownerId: BigInt(owner),
    })),
  };
}

export function fromLimits({ organizations, objects }: TokenLimits): StoredLimits {
  return {
    organizations: organizations.map(({ id, name }) => ({ id: id.toString(), name })),
    objects: objects.map(({ type, id, name, ownerId }) => ({
      type,
      id: id.toString(),
      name,
      owner: ownerId.toString(),
    })),
  };
}
