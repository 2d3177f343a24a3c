import { createHash } from 'node:crypto';
import { type Query, sql } from '../db/db.ts';
import type { AuditEntry } from './audit.ts';

// One writer at a time for each organization, or two rows would follow the same one.
const LOCK = sql('audit.lock', `select pg_advisory_xact_lock(hashtextextended('audit', $1))`);
const LAST = sql('audit.last', 'select hash from audit where organization_id = $1 order by id desc limit 1');
const INSERT = sql(
  'audit.insert',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                      request_id, previous_hash, hash)
   values ($1, $2, $3, $4, $5, $6, $7, $8::json, $9::json, $10, $11, $12)`,
);
const START = Buffer.alloc(32);

export async function appendAudit(query: Query, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) {
    const previous = entry.startsChain ? START : await lastHash(query, entry.organizationId);
    const values = [
      new Date(),
      entry.organizationId,
      entry.actor.id,
      entry.actor.name,
      entry.action,
      entry.objectType,
      entry.objectId,
      text(entry.before),
      text(entry.after),
      entry.actor.requestId,
      previous,
    ];
    await query(INSERT, [...values, chainHash(previous, values)]);
  }
}

async function lastHash(query: Query, organizationId: bigint): Promise<Buffer> {
  await query(LOCK, [organizationId]);
  const [last] = await query<{ hash: Buffer }>(LAST, [organizationId]);
  return last?.hash ?? START;
}

/** A changed, removed or inserted row breaks the chain behind it. */
export function chainHash(previous: Buffer, values: readonly unknown[]): Buffer {
  const said = values.map((value) => {
    if (value instanceof Date) return value.toISOString();
    return Buffer.isBuffer(value) ? value.toString('hex') : value === null ? null : String(value);
  });
  return createHash('sha256').update(previous).update(JSON.stringify(said)).digest();
}

function text(state: object | undefined): string | null {
  if (state === undefined) return null;
  return JSON.stringify(state, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
}
