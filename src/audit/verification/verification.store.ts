import { type Db, only, sql } from '../../db/db.ts';
import { SEGMENT_COLUMNS, type SegmentRow, toSegment } from '../archive/segment.rows.ts';
import type { SignedSegment } from '../archive/segment.ts';
import { AUDIT_COLUMNS, type EntryRow, toLink } from '../audit.rows.ts';
import { attestedIn } from './attestations.store.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import type { VerificationStore } from './verification.ts';

const MAX_ID = 2n ** 63n - 1n;
// Only one index has this order: else a small chain is looked for among all entries.
const CHAIN = sql(
  'audit.chain',
  `select ${AUDIT_COLUMNS} from audit a
    where (organization_id, id) > ($1, $2) and (organization_id, id) <= ($1, ${MAX_ID}) order by organization_id, id limit $3`,
);
const COLUMNS = 'organization_id, last_id, entries, hash, created_at, signature';
const CHECKPOINTS = sql(
  'auditCheckpoints.list',
  `select ${COLUMNS} from audit_checkpoint where organization_id = $1 and last_id > $2 order by last_id limit $3`,
);
const LAST = sql(
  'auditCheckpoints.last',
  `select ${COLUMNS} from audit_checkpoint where organization_id = $1 order by last_id desc limit 1`,
);
const KEEP = sql(
  'auditCheckpoints.keep',
  `insert into audit_checkpoint (${COLUMNS}) values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
);
// Of the chains with the newest entries, those that have grown by so many since their last checkpoint.
const GROWN = sql(
  'auditCheckpoints.grown',
  `select c.organization_id from (
       select distinct organization_id from (select organization_id from audit order by id desc limit $1) n) c
     cross join lateral (select coalesce((select max(k.last_id) from audit_checkpoint k
                                           where k.organization_id = c.organization_id), 0) as last_id) k
     cross join lateral (select 1 from audit a
        where (a.organization_id, a.id) > (c.organization_id, k.last_id)
          and (a.organization_id, a.id) <= (c.organization_id, ${MAX_ID})
        order by a.organization_id, a.id offset $2 limit 1) far
    order by c.organization_id limit $3`,
);

const ERASED = sql(
  'audit.erased',
  'select count(*)::integer as count from audit where organization_id = $1 and is_erased',
);
const SEGMENTS = sql(
  'auditSegments.list',
  `select ${SEGMENT_COLUMNS} from audit_segment where organization_id = $1 and last_id > $2 order by last_id limit $3`,
);
const SEGMENTS_IN_PAGE = 1000;

interface CheckpointRow {
  organization_id: bigint;
  last_id: bigint;
  entries: bigint;
  hash: Buffer;
  created_at: Date;
  signature: Buffer;
}

export function createVerificationStore(db: Db): VerificationStore {
  return {
    async chain(chainId, after, limit) {
      return (await db.query<EntryRow>(CHAIN, [chainId, after, limit])).map(toLink);
    },
    async segments(chainId) {
      const found: SignedSegment[] = [];
      for (;;) {
        const rows = await db.query<SegmentRow>(SEGMENTS, [chainId, found.at(-1)?.last ?? 0n, SEGMENTS_IN_PAGE]);
        found.push(...rows.map(toSegment));
        if (rows.length < SEGMENTS_IN_PAGE) return found;
      }
    },
    async checkpoints(chainId, after, limit) {
      return (await db.query<CheckpointRow>(CHECKPOINTS, [chainId, after, limit])).map(toCheckpoint);
    },
    async lastCheckpoint(chainId) {
      return (await db.query<CheckpointRow>(LAST, [chainId])).map(toCheckpoint)[0];
    },
    async keep({ chainId, lastId, entries, hash, createdAt, signature }) {
      await db.query(KEEP, [chainId, lastId, entries, hash, createdAt, signature]);
    },
    attested: (chainId) => attestedIn(db.query, chainId),
    async erased(chainId) {
      return only(await db.query<{ count: number }>(ERASED, [chainId])).count;
    },
    async grown({ newest, entries, limit }) {
      const rows = await db.query<{ organization_id: bigint }>(GROWN, [newest, entries, limit]);
      return rows.map((row) => row.organization_id);
    },
  };
}

function toCheckpoint(row: CheckpointRow): SignedCheckpoint {
  const { hash, signature } = row;
  return {
    ...{ chainId: row.organization_id, lastId: row.last_id, entries: Number(row.entries) },
    ...{ hash, createdAt: row.created_at, signature },
  };
}
