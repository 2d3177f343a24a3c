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
}

export const TOKEN_COLUMNS = 'id, name, last_eight, scopes, created_at, last_used_at, expires_at';

export function toTokenDetails(row: TokenRow): TokenDetails {
  return {
    id: row.id,
    name: row.name,
    lastEight: row.last_eight,
    scopes: row.scopes,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
