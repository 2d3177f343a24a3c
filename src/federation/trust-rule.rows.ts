import { type StoredLimits, toLimits } from '../identity/tokens/token.rows.ts';
import type { JsonWebKeySet, TrustRule } from './trust-rule.ts';

export interface TrustRuleRow {
  id: bigint;
  robot_id: bigint;
  name: string;
  issuer: string;
  audience: string;
  jwks: JsonWebKeySet | null;
  claims: Record<string, string>;
  scopes: string[];
  limits: StoredLimits | null;
  lifetime_seconds: number;
  single_use: boolean;
  created_at: Date;
  last_used_at: Date | null;
  live_tokens: number;
  version: number;
}

/** Of `trust_rule t`. */
export const TRUST_RULE = `t.id, t.robot_id, t.name, t.issuer, t.audience, t.jwks, t.claims, t.scopes, t.limits, t.lifetime_seconds,
  t.single_use, t.created_at, t.last_used_at, t.version,
  (select count(*)::integer from token k where k.trust_rule_id = t.id and k.expires_at > now()) as live_tokens`;

export function toTrustRule(row: TrustRuleRow): TrustRule {
  return {
    id: row.id,
    robotId: row.robot_id,
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    jwks: row.jwks ?? undefined,
    claims: row.claims,
    scopes: row.scopes,
    limits: toLimits(row.limits),
    lifetimeSeconds: row.lifetime_seconds,
    singleUse: row.single_use,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    liveTokens: row.live_tokens,
    version: row.version,
  };
}
