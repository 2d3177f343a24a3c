import { chainHash } from '../changes/audit-chain.store.ts';
import type { AuditRow } from './audit.ts';
import type { ChainLink } from './verification.ts';

export interface EntryRow {
  id: bigint;
  moment: string;
  organization_id: bigint;
  actor_id: bigint;
  actor_name: string;
  action: string;
  object_type: string;
  object_id: bigint;
  before: string | null;
  after: string | null;
  request_id: string;
  previous_hash: Buffer;
  on_behalf_id: bigint | null;
  on_behalf_name: string | null;
  via: string | null;
  hash: Buffer;
}

// `before` and `after` are selected as text: read as JSON, a 64-bit number would lose digits.
export const AUDIT_COLUMNS = `id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as moment, organization_id, actor_id,
  actor_name, action, object_type, object_id, before::text as before, after::text as after, request_id, previous_hash,
  on_behalf_id, on_behalf_name, via::text as via, hash`;

export function toAuditRow(row: EntryRow): AuditRow {
  return {
    id: row.id,
    at: momentOf(row),
    organizationId: row.organization_id,
    actor: { id: row.actor_id, name: row.actor_name },
    onBehalfOf: row.on_behalf_id === null ? null : { id: row.on_behalf_id, name: row.on_behalf_name ?? '' },
    via: row.via,
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

export function toLink(row: EntryRow): ChainLink {
  const expected = chainHash({ ...row, at: momentOf(row) });
  return { id: row.id, previousHash: row.previous_hash, hash: row.hash, expected };
}

/** Milliseconds, as they were hashed. Forged finer digits must stay visible here, and break the chain. */
function momentOf({ moment }: EntryRow): string {
  return `${moment.replace(/000$/, '')}Z`;
}
