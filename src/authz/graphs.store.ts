import type { GraphTuple } from '../changes/graph-tuple.ts';
import { CHANGE_KINDS, type ChangeKind } from '../changes/object-kinds.ts';
import type { Moment } from '../changes/revision.ts';
import { LINES, readLines, tuplesInSlices } from '../changes/tuple-lines.store.ts';
import { PLATFORM } from '../changes/write.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { GraphStore } from './graphs.ts';

interface PatchRow {
  /** These three are null in the rows of tuples. */
  revision: bigint | null;
  stamp: string | null;
  continues: boolean | null;
  changed_kind: string | null;
  changed_id: bigint;
  object_type: string | null;
  object_id: string;
  relation: string;
  subject: string;
  source_kind: string;
  source_id: bigint;
}

/** A patch is applied in one piece, because a graph in use must never be seen halfway, so it has at most this size. */
const MAX_PATCH = 4_000;

// Each is one statement, so one snapshot: the revision and the tuples belong together.
const LOAD = sql(
  'graphs.load',
  `select r.value as revision, r.stamp, l.count, l.lines from revision r, (${LINES}) l where r.id = 1`,
);
const REVISION = sql('graphs.revision', 'select value as revision, stamp from revision where id = 1');
// A join with the changes would make the view produce all tuples of the account for each of them; with values, the view
// uses its indexes. Nor are the tuples joined to their changes afterwards: a thousand roles that change at once would
// be searched for in each other's tuples. More tuples than a patch may have are not read: the graph is loaded anew.
const PATCH = sql(
  'graphs.patch',
  `with changed as materialized (
     select distinct kind, id from change where organization_id in ($1, ${PLATFORM}) and revision > $2
      limit ${MAX_PATCH + 1}
   )
   select r.value as revision, r.stamp,
          exists (select 1 from revision_stamp s where s.revision = $2 and s.stamp = $3) as continues,
          c.kind as changed_kind, c.id as changed_id, null as object_type, null as object_id, null as relation,
          null as subject, null as source_kind, null::bigint as source_id
     from revision r left join changed c on true where r.id = 1
   union all (${CHANGE_KINDS.map(freshOf).join(' union all ')} limit ${MAX_PATCH + 1})`,
);

function freshOf(kind: ChangeKind): string {
  return `select null::bigint, null::uuid, null::boolean, null, null::bigint, object_type, object_id, relation, subject, source_kind,
          source_id
     from tuple where store in ($1, ${PLATFORM}) and source_kind = '${kind}'
      and source_id = any (array (select id from changed where kind = '${kind}'))`;
}

export function createGraphStore(db: Db): GraphStore {
  return {
    async load(accountId) {
      if (db.driver === 'pglite') return await loadInSlices(accountId);
      const rows = await db.query<Moment & { count: number; lines: string | null }>(LOAD, [accountId]);
      const { revision, stamp, count, lines } = only(rows);
      return { revision, stamp, count, tuples: readLines(lines ?? '') };
    },

    async patch(accountId, since) {
      const rows = await db.query<PatchRow>(PATCH, [accountId, since.revision, since.stamp]);
      const changed = rows.flatMap((row) =>
        row.changed_kind === null ? [] : [`${row.changed_kind}:${row.changed_id}`],
      );
      const { revision, stamp, continues } = rows.find((row) => row.revision !== null) ?? {};
      if (revision == null || stamp == null) throw new Error('the database has no revision');
      const sources = [...new Set(changed)];
      const tuples = rows.flatMap(toTuples);
      const isTooLarge = Math.max(sources.length, tuples.length) > MAX_PATCH;
      return { revision, stamp, isUseless: !continues || isTooLarge, sources, tuples };
    },
  };

  /** One transaction, so one snapshot. */
  async function loadInSlices(accountId: bigint) {
    return await db.snapshot(async (query, script) => {
      const moment = only(await query<Moment>(REVISION));
      return { ...moment, ...(await tuplesInSlices(query, script, accountId)) };
    });
  }
}

function toTuples(row: PatchRow): GraphTuple[] {
  if (row.object_type === null) return [];
  return [
    {
      object: `${row.object_type}:${row.object_id}`,
      relation: row.relation,
      user: row.subject,
      source: `${row.source_kind}:${row.source_id}`,
    },
  ];
}
