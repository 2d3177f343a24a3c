import type { GuardedType, Guardrail, GuardrailKind, RememberedNames } from './guardrail.ts';
import type { KnownViolation, KnownViolations } from './write-guard.ts';

export interface GuardrailRow {
  id: bigint;
  organization_id: bigint;
  name: string;
  description: string;
  kind: GuardrailKind;
  user_ids: bigint[];
  team_id: bigint | null;
  relation: string;
  object_type: GuardedType;
  object_id: bigint | null;
  count: number | null;
  names: RememberedNames;
  enforce: boolean;
  version: number;
  statement: number;
  created_at: Date;
  updated_at: Date;
}

export const GUARDRAIL_COLUMNS = `g.id, g.organization_id, g.name, g.description, g.kind, g.user_ids, g.team_id, g.relation,
  g.object_type, g.object_id, g.count, g.names, g.enforce, g.version, g.statement, g.created_at, g.updated_at`;

export function toGuardrail(row: GuardrailRow): Guardrail {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    kind: row.kind,
    userIds: row.user_ids,
    teamId: row.team_id ?? undefined,
    relation: row.relation,
    objectType: row.object_type,
    objectId: row.object_id ?? undefined,
    count: row.count ?? undefined,
    names: row.names,
    enforce: row.enforce,
    version: row.version,
    statement: row.statement,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** IDs are text in JSON, because not every number is exact there. */
type StoredViolations = Readonly<Record<string, { users: string[]; total: number; held?: number; statement: number }>>;

export function toViolations(stored: StoredViolations | undefined): KnownViolations {
  return new Map(
    Object.entries(stored ?? {}).map(([id, { users, total, held, statement }]): [bigint, KnownViolation] => [
      BigInt(id),
      { userIds: users.map(BigInt), total, held, statement },
    ]),
  );
}

export function fromViolations(violations: KnownViolations): StoredViolations {
  return Object.fromEntries(
    [...violations].map(([id, { userIds, total, held, statement }]) => [
      String(id),
      { users: userIds.map(String), total, ...(held !== undefined && { held }), statement },
    ]),
  );
}
