import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Db, sql } from '../../../src/db/db.ts';

/** One audit entry as it is stored, its fields in the order in which they are hashed. */
export interface Entry {
  readonly id: bigint;
  readonly at: Date;
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
  readonly on_behalf_id: bigint | null;
  readonly on_behalf_name: string | null;
  readonly via: string | null;
  readonly hash: Buffer;
}

const ENTRIES = sql(
  'test.audit',
  `select id, at, organization_id, actor_id, actor_name, action, object_type, object_id, before::text, after::text,
          request_id, previous_hash, on_behalf_id, on_behalf_name, via::text as via, hash from audit where organization_id = $1 order by id`,
);

const TEXTS = sql(
  'test.auditTexts',
  `select encode(commitment, 'hex') as hash, salt, text from audit_text where organization_id = $1 and text is not null`,
);

/** The whole chain that a list of changes was taken from. */
const chains = new WeakMap<readonly Entry[], readonly Entry[]>();

/** Every change. Denied requests are written a moment later than they happen, so they would be there only sometimes. */
export async function auditOf(db: Db, organizationId: number | bigint): Promise<Entry[]> {
  const chain = await chainOf(db, organizationId);
  const stored = chain.filter(({ action }) => action !== 'access.denied');
  const known = await textsOf(db, organizationId);
  const reveal = (text: string | null) =>
    text?.replace(/sha256:([0-9a-f]{64})/g, (whole, hash) => known.get(hash) ?? whole);
  const changes = stored.map((entry) => ({
    ...entry,
    actor_name: reveal(entry.actor_name) ?? '',
    on_behalf_name: reveal(entry.on_behalf_name) ?? null,
    before: reveal(entry.before) ?? null,
    after: reveal(entry.after) ?? null,
  }));
  chains.set(changes, chain);
  return changes;
}

/** The texts of people in a chain, by their hashes. None of the texts in tests needs an escape in JSON. */
async function textsOf(db: Db, organizationId: number | bigint): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ hash: string; salt: Buffer; text: string }>(TEXTS, [organizationId]);
  for (const { hash, salt, text } of rows) {
    assert.equal(createHash('sha256').update(salt).update(text).digest('hex'), hash);
  }
  return new Map(rows.map(({ hash, text }) => [hash, text]));
}

/** Every entry, those of denied requests too. */
export async function chainOf(db: Db, organizationId: number | bigint): Promise<Entry[]> {
  return await db.query<Entry>(ENTRIES, [organizationId]);
}

/** The entries that do not follow from the one before, computed here from the documentation alone. */
export function brokenLinks(entries: readonly Entry[]): bigint[] {
  let previous = Buffer.alloc(32);
  return (chains.get(entries) ?? entries).flatMap((entry) => {
    const follows = entry.previous_hash.equals(previous) && digest(previous, entry).equals(entry.hash);
    previous = Buffer.from(entry.hash);
    return follows ? [] : [entry.id];
  });
}

function digest(previous: Buffer, { at, before, after, ...rest }: Entry): Buffer {
  const fields = [
    at.toISOString(),
    String(rest.organization_id),
    // A robot is stored as the negative of its ID.
    String(rest.actor_id < 0n ? -rest.actor_id : rest.actor_id),
    rest.actor_name,
    rest.action,
    rest.object_type,
    String(rest.object_id),
    before,
    after,
    rest.request_id,
    previous.toString('hex'),
    ...(rest.on_behalf_id === null ? [] : [String(rest.on_behalf_id), rest.on_behalf_name]),
    ...(rest.actor_id < 0n ? ['robot_ac'] : []),
    ...(rest.via === null ? [] : [rest.via]),
  ];
  return createHash('sha256').update(previous).update(JSON.stringify(fields)).digest();
}
