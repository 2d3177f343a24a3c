import { createHash } from 'node:crypto';
import { type Query, sql } from '../db/db.ts';
import type { AuditEntry } from './audit-entry.ts';

// One writer at a time for each organization, or two rows would follow the same one.
const LOCK = sql('audit.lock', `select pg_advisory_xact_lock(hashtextextended('audit', $1))`);
const LAST = sql('audit.last', 'select hash, at from audit where organization_id = $1 order by id desc limit 1');
// The numbers are given out in the order of the arrays, so that they follow the chain.
const INSERT = sql(
  'audit.insert',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                      request_id, previous_hash, hash)
   select e.at, e.organization_id, e.actor_id, e.actor_name, e.action, e.object_type, e.object_id, e.before::json,
          e.after::json, e.request_id, e.previous_hash, e.hash
     from unnest($1::timestamptz[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[],
                 $8::text[], $9::text[], $10::text[], $11::bytea[], $12::bytea[]) with ordinality
          as e (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after, request_id,
                previous_hash, hash, place)
    order by e.place`,
);
const START = Buffer.alloc(32);

/** The end of a chain, which the next row follows. */
interface End {
  readonly hash: Buffer;
  readonly at: Date;
}

/** However many entries there are, a few statements write them: a thousand roles may change at once. */
export async function appendAudit(query: Query, entries: readonly AuditEntry[]): Promise<void> {
  const chains = Map.groupBy(entries, ({ organizationId }) => organizationId);
  // In one order for everybody, so that two who write to the same chains cannot block each other.
  for (const [organizationId, links] of [...chains].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const end = links[0]?.startsChain ? undefined : await endOf(query, organizationId);
    const rows = follow(end, links);
    await query(
      INSERT,
      Array.from({ length: 12 }, (_, column) => rows.map((row) => row[column])),
    );
  }
}

async function endOf(query: Query, organizationId: bigint): Promise<End | undefined> {
  await query(LOCK, [organizationId]);
  const [last] = await query<{ hash: Buffer; at: Date }>(LAST, [organizationId]);
  return last;
}

/** The rows of one chain. Its time never runs backwards, whatever the clocks of two machines say: by time is by number. */
function follow(end: End | undefined, entries: readonly AuditEntry[]): unknown[][] {
  const at = new Date(Math.max(Date.now(), end?.at.getTime() ?? 0));
  let previous = end?.hash ?? START;
  return entries.map((entry) => {
    const values = [
      at,
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
    previous = chainHash(previous, values);
    return [...values, previous];
  });
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
