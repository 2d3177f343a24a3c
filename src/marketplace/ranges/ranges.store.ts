import { type Query, sql } from '../../db/db.ts';
import type { RangeStore } from './ranges.ts';

const VERSIONS = sql(
  'ranges.versions',
  `select sync_token, prefixes, etag, last_modified, last_seen_at from address_ranges r
    where source = $1 and (last_seen_at between $2 and $3
       or sync_token = (select max(sync_token) from address_ranges n where n.source = $1))`,
);
const SAVE = sql(
  'ranges.save',
  `insert into address_ranges (source, sync_token, prefixes, etag, last_modified, first_seen_at, last_seen_at)
   values ($1, $2, $3::text[], $4, $5, $6, $6)
   on conflict (source, sync_token) do update set prefixes = excluded.prefixes, etag = excluded.etag,
     last_modified = excluded.last_modified, last_seen_at = excluded.last_seen_at`,
);

interface Row {
  sync_token: bigint;
  prefixes: string[];
  etag: string | null;
  last_modified: string | null;
  last_seen_at: Date;
}

export function createRangeStore(query: Query): RangeStore {
  return {
    async versions(source, since, until) {
      const rows = await query<Row>(VERSIONS, [source, since, until]);
      return rows.map((row) => ({
        syncToken: row.sync_token,
        prefixes: row.prefixes,
        etag: row.etag,
        lastModified: row.last_modified,
        lastSeenAt: row.last_seen_at,
      }));
    },
    async save(source, version, seenAt) {
      const { syncToken, prefixes, etag, lastModified } = version;
      await query(SAVE, [source, syncToken, prefixes, etag, lastModified, seenAt]);
    },
  };
}
