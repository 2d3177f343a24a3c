import { createHash } from 'node:crypto';
import { type Query, sql } from '../db/db.ts';
import type { AuditEntry } from './audit-entry.ts';

// One writer at a time for each organization, otherwise two rows would follow the same one.
const LOCK = sql('audit.lock', `select pg_advisory_xact_lock(hashtextextended('audit', $1))`);
const LAST = sql('audit.last', 'select hash, at from audit where organization_id = $1 order by id desc limit 1');
// IDs are assigned in the order of the arrays, so that they follow the chain.
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
/** In one statement: states can be long, and hashing and sending them all at once would keep other requests waiting. */
const MAX_ROWS = 100;

/** The end of a chain, which the next row follows. */
interface End {
  readonly hash: Buffer;
  readonly at: Date;
}

/** Writes any number of entries with a few statements: a thousand roles may change at once. */
export async function appendAudit(query: Query, entries: readonly AuditEntry[]): Promise<void> {
  const chains = Map.groupBy(entries, ({ organizationId }) => organizationId);
  // In the same order for every writer, so that two that write to the same chains cannot block each other.
  for (const [organizationId, links] of [...chains].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let end = links[0]?.startsChain ? undefined : await endOf(query, organizationId);
    for (let first = 0; first < links.length; first += MAX_ROWS) {
      const { rows, last } = follow(end, links.slice(first, first + MAX_ROWS));
      end = last;
      await query(
        INSERT,
        Array.from({ length: 12 }, (_, column) => rows.map((row) => row[column])),
      );
    }
  }
}

async function endOf(query: Query, organizationId: bigint): Promise<End | undefined> {
  await query(LOCK, [organizationId]);
  const [last] = await query<{ hash: Buffer; at: Date }>(LAST, [organizationId]);
  return last;
}

/**
 * The rows of one chain. Its time never runs backwards, even if the clocks of two machines differ, so the order of
 * times is the order of IDs.
 */
function follow(end: End | undefined, entries: readonly AuditEntry[]): { rows: unknown[][]; last: End } {
  const at = new Date(Math.max(Date.now(), end?.at.getTime() ?? 0));
  let previous = end?.hash ?? START;
  const rows = entries.map((entry) => {
    const link: HashedEntry = {
      at,
      organization_id: entry.organizationId,
      actor_id: entry.actor.id,
      actor_name: entry.actor.name,
      action: entry.action,
      object_type: entry.objectType,
      object_id: entry.objectId,
      before: text(entry.before),
      after: text(entry.after),
      request_id: entry.actor.requestId,
      previous_hash: previous,
    };
    previous = chainHash(link);
    return [...hashedFields(link), previous];
  });
  return { rows, last: { hash: previous, at } };
}

/** What the hash of an entry covers, as it is stored. */
export interface HashedEntry {
  readonly at: Date | string;
  readonly organization_id: bigint;
  readonly actor_id: bigint;
  readonly actor_name: string;
  readonly action: string;
  readonly object_type: string;
  readonly object_id: bigint;
  readonly before: string | null;
  readonly after: string | null;
  readonly request_id: string;
  readonly previous_hash: Buffer;
}

/** In the order in which they are hashed, which is also that of the columns in INSERT. */
function hashedFields(entry: HashedEntry): unknown[] {
  return [
    entry.at,
    entry.organization_id,
    entry.actor_id,
    entry.actor_name,
    entry.action,
    entry.object_type,
    entry.object_id,
    entry.before,
    entry.after,
    entry.request_id,
    entry.previous_hash,
  ];
}

/** A changed, removed or inserted row breaks the chain after it. */
export function chainHash(entry: HashedEntry): Buffer {
  const fields = hashedFields(entry).map((value) => {
    if (value instanceof Date) return value.toISOString();
    return Buffer.isBuffer(value) ? value.toString('hex') : value === null ? null : String(value);
  });
  return createHash('sha256').update(entry.previous_hash).update(JSON.stringify(fields)).digest();
}

function text(state: object | undefined): string | null {
  if (state === undefined) return null;
  return JSON.stringify(state, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
}
