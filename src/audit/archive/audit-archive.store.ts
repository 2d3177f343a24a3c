import { AppError } from '../../base/errors.ts';
import { mapInSlices } from '../../base/scheduling/slices.ts';
import { chainHash } from '../../changes/audit-chain.store.ts';
import { PLATFORM, type Write } from '../../changes/write.ts';
import { type Db, type Query, sql } from '../../db/db.ts';
import type { Fingerprint } from '../../users/erasure/erased-identifiers.ts';
import { eraseRestored } from '../../users/erasure/plain-entries.store.ts';
import { AUDIT_COLUMNS, type EntryRow, momentOf } from '../audit.rows.ts';
import type { SignAttestation } from '../verification/attestation-signer.ts';
import { attestedIn } from '../verification/attestations.store.ts';
import { createAttestations } from '../verification/attestations.ts';
import { archiveLine, storedIn, toArchived } from './archive-line.rows.ts';
import type { ArchivableChain, ArchiveFacts, ArchiveStore } from './audit-archive.ts';
import { SEGMENT_COLUMNS, type SegmentRow, toSegment } from './segment.rows.ts';
import type { SignedSegment } from './segment.ts';

const MAX_ID = 2n ** 63n - 1n;
const START = `'\\x${'0'.repeat(64)}'::bytea`;
/** What can be archived of a log: all before the moment except its last entry. */
const ARCHIVABLE = `cross join lateral (select at, id from audit where organization_id = c.chain order by organization_id, id limit 1) first
   cross join lateral (select id from audit where (organization_id, id) <= (c.chain, ${MAX_ID})
                        order by organization_id desc, id desc limit 1) last
   left join lateral (select last_hash from audit_segment where organization_id = c.chain order by last_id desc limit 1) s on true
   where first.at < $1 and first.id < last.id`;
const CHAIN_COLUMNS = `c.chain, last.id as last_id, coalesce(s.last_hash, ${START}) as previous_hash`;
// From log to log, each by one look into the index.
const CHAINS = sql(
  'archive.chains',
  `with recursive c (chain) as (
     (select organization_id from audit where organization_id > $2 order by organization_id, id limit 1)
     union all
     select n.organization_id from c cross join lateral (
       select organization_id from audit where organization_id > c.chain order by organization_id, id limit 1) n)
   select ${CHAIN_COLUMNS} from c ${ARCHIVABLE} limit $3`,
);
const CHAIN = sql('archive.chain', `select ${CHAIN_COLUMNS} from (select $2::bigint as chain) c ${ARCHIVABLE}`);
const ENTRIES = sql(
  'archive.entries',
  `select ${AUDIT_COLUMNS} from audit a
    where (organization_id, id) > ($1, $2) and (organization_id, id) <= ($1, ${MAX_ID}) order by organization_id, id limit $3`,
);
// One at a time, on all replicas.
const TURN = sql('archive.turn', `select pg_advisory_xact_lock(hashtextextended('audit archive', 0))`);
/** Of one statement: each is over long before its time is. */
const BATCH = 2000;
// Only what follows from the archived part of the log, and only if nothing is before it.
const FOLLOWING = sql(
  'archive.following',
  `select count(*)::integer as total
     from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as g (chain, first, previous)
     cross join lateral (select id, previous_hash from audit where organization_id = g.chain order by organization_id, id limit 1) a
     left join lateral (select last_hash from audit_segment where organization_id = g.chain order by last_id desc limit 1) s on true
    where a.id = g.first and a.previous_hash = g.previous and coalesce(s.last_hash, ${START}) = g.previous`,
);
// What tokens and access reviews that exist still need is kept, and what attests erased entries.
const REMOVE = sql(
  'archive.remove',
  `with gone as (
     delete from audit where id = any (array (
       select a.id from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as g (chain, first, last)
         cross join lateral (select id from audit where (organization_id, id) >= (g.chain, g.first)
            and (organization_id, id) <= (g.chain, g.last) order by organization_id, id limit $4) a limit $4))
     returning id, organization_id, action, actor_id, at, after, hash, object_type, object_id),
   kept as (
     insert into audit_kept (id, organization_id, action, actor_id, at, after, hash, token_id, review_id)
     select g.id, g.organization_id, g.action, g.actor_id, g.at, g.after::text, g.hash, t.id, r.id from gone g
       left join token t on g.object_type = 'token' and g.action = 'token.create' and t.id = g.object_id
       left join review r on g.object_type = 'review' and g.action in ('review.start', 'review.close') and r.id = g.object_id
      where t.id is not null or r.id is not null
         or (g.organization_id = 0 and g.action = 'user.erase' and g.after is not null)
     on conflict do nothing)
   select organization_id from gone`,
);
const KEEP = sql(
  'archive.keep',
  `insert into audit_segment (organization_id, first_id, last_id, entries, first_previous_hash, last_hash, closed_at, key_id,
                              signature, before_at, place)
   select *, $10::timestamptz, $11 from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::bytea[], $6::bytea[],
                                               $7::timestamptz[], $8::text[], $9::bytea[])`,
);
// What they cover is not there any more; the segment is signed, too.
const DROP_CHECKPOINTS = sql(
  'archive.dropCheckpoints',
  `delete from audit_checkpoint k using unnest($1::bigint[], $2::bigint[]) as g (chain, last)
    where k.organization_id = g.chain and k.last_id <= g.last`,
);
const LAST_SEGMENT = sql(
  'archive.lastSegment',
  `select ${SEGMENT_COLUMNS}, place from audit_segment where organization_id = $1 order by last_id desc limit 1`,
);
const HAS_SEGMENT = sql(
  'archive.hasSegment',
  'select 1 from audit_segment where organization_id = $1 and first_id = $2 and last_id = $3 and last_hash = $4',
);
const REOPEN = sql(
  'archive.reopen',
  `delete from audit_segment s where organization_id = $1 and last_id = $2
     and not exists (select 1 from audit_segment l where l.organization_id = $1 and l.last_id > $2) returning 1`,
);
const PUT_BACK = sql(
  'archive.putBack',
  `insert into audit (id, at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after, request_id,
                      previous_hash, hash, on_behalf_id, on_behalf_name, via, is_erased) overriding system value
   select id, at, $1, actor_id, actor_name, action, object_type, object_id, before::json, after::json, request_id,
          previous_hash, hash, on_behalf_id, on_behalf_name, via::json, is_erased
     from unnest($2::bigint[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[],
                 $10::text[], $11::text[], $12::bytea[], $13::bytea[], $14::bigint[], $15::text[], $16::text[], $17::boolean[])
          as e (id, at, actor_id, actor_name, action, object_type, object_id, before, after, request_id, previous_hash, hash,
                on_behalf_id, on_behalf_name, via, is_erased)`,
);
/** States can be long. */
const ROWS = 200;
/** As for other commands on the server's own machine. */
const OPERATOR = { id: 0n, name: 'operator', requestId: 'command' };

interface ChainRow {
  chain: bigint;
  last_id: bigint;
  previous_hash: Buffer;
}

export function createAuditArchiveStore(
  { query }: Pick<Db, 'query'>,
  write: Write,
  { fingerprint, attest }: { readonly fingerprint: Fingerprint; readonly attest: SignAttestation },
): ArchiveStore {
  /** Of the log that is being archived, so that what is attested is read once for all its parts. */
  let settling: { readonly chainId: bigint; readonly settle: ReturnType<typeof createAttestations> } | undefined;
  return {
    async chains(after, before, limit) {
      return (await query<ChainRow>(CHAINS, [before, after, limit])).map(toChain);
    },
    async chain(chainId, before) {
      return (await query<ChainRow>(CHAIN, [before, chainId])).map(toChain)[0];
    },
    async entries(chainId, after, limit) {
      const rows = await query<EntryRow>(ENTRIES, [chainId, after, limit]);
      if (settling?.chainId !== chainId) {
        settling = { chainId, settle: createAttestations(() => attestedIn(query, chainId)) };
      }
      const { settle } = settling;
      if (rows.length < limit) settling = undefined;
      const stored = new Map(rows.map((row) => [row.id, { ...row, at: momentOf(row) }]));
      const entries = await settle(await mapInSlices([...stored.values()], toArchived));
      return await mapInSlices(entries, (entry) => {
        const row = stored.get(entry.id);
        const isAttested = row && entry.isErased && entry.expected.equals(entry.hash);
        return isAttested ? { ...entry, line: archiveLine(row, attest({ ...entry, left: chainHash(row) })) } : entry;
      });
    },
    remove: async (segments, archive) => void (await write(removing(segments, archive))),
    async lastSegment(chainId) {
      const rows = await query<SegmentRow & { place: string }>(LAST_SEGMENT, [chainId]);
      return rows.map((row) => ({ ...toSegment(row), place: row.place }))[0];
    },
    async hasSegment({ chainId, first, last, lastHash }) {
      return (await query(HAS_SEGMENT, [chainId, first, last, lastHash])).length > 0;
    },
    putBack: async (segment, entries, place) =>
      void (await write(async (query, _touch, record) => {
        await query(TURN);
        if ((await query(REOPEN, [segment.chainId, segment.last])).length === 0) throw meanwhile();
        const stored = await mapInSlices(entries, ({ line }) => storedIn(line));
        const erased = await eraseRestored(query, record, stored, fingerprint);
        for (let first = 0; first < erased.length; first += ROWS) {
          const rows = erased.slice(first, first + ROWS);
          await query(PUT_BACK, [
            segment.chainId,
            ...[rows.map(({ id }) => id), rows.map(({ at }) => at), rows.map((row) => row.actor_id)],
            ...[rows.map((row) => row.actor_name), rows.map(({ action }) => action)],
            ...[rows.map((row) => row.object_type), rows.map((row) => row.object_id)],
            ...[rows.map(({ before }) => before), rows.map(({ after }) => after), rows.map((row) => row.request_id)],
            ...[rows.map((row) => row.previous_hash), rows.map(({ hash }) => hash)],
            ...[rows.map((row) => row.on_behalf_id), rows.map((row) => row.on_behalf_name), rows.map(({ via }) => via)],
            rows.map((row) => row.is_erased),
          ]);
        }
        record({ ...COMMON, action: 'audit.restore', after: { archive: place, ...told([segment]) } });
      })),
  };
}

const COMMON = { actor: OPERATOR, organizationId: PLATFORM, objectType: 'deployment', objectId: 0n } as const;

function removing(segments: readonly SignedSegment[], { place, sha256, before }: ArchiveFacts): Parameters<Write>[0] {
  const chains = segments.map(({ chainId }) => chainId);
  const firsts = segments.map(({ first }) => first);
  const lasts = segments.map(({ last }) => last);
  return async (query, _touch, record) => {
    await query(TURN);
    await requireFollowing(query, segments);
    await removeEntries(query, segments, [chains, firsts, lasts]);
    await query(KEEP, [
      ...[chains, firsts, lasts, segments.map(({ count }) => count)],
      ...[segments.map((one) => one.firstPreviousHash), segments.map(({ lastHash }) => lastHash)],
      ...[segments.map(({ closedAt }) => closedAt), segments.map(({ keyId }) => keyId)],
      ...[segments.map(({ signature }) => signature), before, place],
    ]);
    await query(DROP_CHECKPOINTS, [chains, lasts]);
    const after = { archive: place, sha256, before: before.toISOString(), ...told(segments) };
    record({ ...COMMON, action: 'audit.archive', after });
  };
}

/** Nothing may be missing, and nothing may be in between: neither would be in the archive. */
async function removeEntries(query: Query, segments: readonly SignedSegment[], ranges: readonly unknown[]) {
  const left = new Map(segments.map(({ chainId, count }) => [chainId, count]));
  for (;;) {
    const removed = await query<{ organization_id: bigint }>(REMOVE, [...ranges, BATCH]);
    for (const { organization_id: chainId } of removed) left.set(chainId, (left.get(chainId) ?? 0) - 1);
    if (removed.length < BATCH) break;
  }
  if ([...left.values()].some((count) => count !== 0)) throw meanwhile();
}

/** Another archive may have been made while this one was written. */
async function requireFollowing(query: Query, segments: readonly SignedSegment[]): Promise<void> {
  const [row] = await query<{ total: number }>(FOLLOWING, [
    segments.map(({ chainId }) => chainId),
    segments.map(({ first }) => first),
    segments.map(({ firstPreviousHash }) => firstPreviousHash),
  ]);
  if (row?.total !== segments.length) throw meanwhile();
}

function meanwhile(): AppError {
  return new AppError('conflict', 'the audit log was archived or restored at the same time: nothing was changed');
}

function told(segments: readonly SignedSegment[]) {
  const entries = segments.reduce((sum, { count }) => sum + count, 0);
  return { entries, logs: segments.length, lastHash: segments.at(-1)?.lastHash.toString('hex') };
}

function toChain(row: ChainRow): ArchivableChain {
  return { chainId: row.chain, last: row.last_id, previousHash: row.previous_hash };
}
