import { CHANGE_KINDS, type ChangeKind } from '../changes/object-kinds.ts';
import { PLATFORM } from '../changes/write.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { GraphStore, GraphTuple } from './graphs.ts';

interface PatchRow {
  /** Null in the rows of tuples. */
  revision: bigint | null;
  pruned: bigint | null;
  changed_kind: string | null;
  changed_id: bigint;
  object_type: string | null;
  object_id: string;
  relation: string;
  subject: string;
  source_kind: string;
  source_id: bigint;
}

// Each is one statement, so one snapshot: the revision and the tuples belong together. Many thousand tuples come as one
// text, one per line, which is read in a fraction of the time that as many rows take. No field can contain a space or a
// line break.
const LOAD = sql(
  'graphs.load',
  `select r.value as revision, l.count, l.lines
     from revision r,
          (select count(*)::integer,
                  string_agg(t.object_type || ':' || t.object_id || ' ' || t.relation || ' ' || t.subject || ' '
                             || t.source_kind || ':' || t.source_id, E'\\n') as lines
             from tuple t where t.store in ($1, ${PLATFORM})) l
    where r.id = 1`,
);
// A join with the changes would make the view produce all tuples of the account for each of them; with values, the view
// uses its indexes. Nor are the tuples joined to their changes afterwards: a thousand roles that change at once would
// be searched for in each other's tuples.
const PATCH = sql(
  'graphs.patch',
  `with changed as materialized (
     select distinct kind, id from change where organization_id in ($1, ${PLATFORM}) and revision > $2
   )
   select r.value as revision, r.pruned, c.kind as changed_kind, c.id as changed_id, null as object_type,
          null as object_id, null as relation, null as subject, null as source_kind, null::bigint as source_id
     from revision r left join changed c on true where r.id = 1
   ${CHANGE_KINDS.map(freshOf).join(' ')}`,
);

function freshOf(kind: ChangeKind): string {
  return `union all
   select null, null, null, null, object_type, object_id, relation, subject, source_kind, source_id
     from tuple where store in ($1, ${PLATFORM}) and source_kind = '${kind}'
      and source_id = any (array (select id from changed where kind = '${kind}'))`;
}

export function createGraphStore(db: Db): GraphStore {
  return {
    async load(accountId) {
      const rows = await db.query<{ revision: bigint; count: number; lines: string | null }>(LOAD, [accountId]);
      const { revision, count, lines } = only(rows);
      return { revision, count, tuples: readLines(lines ?? '') };
    },

    async patch(accountId, since) {
      const rows = await db.query<PatchRow>(PATCH, [accountId, since]);
      const changed = rows.flatMap((row) =>
        row.changed_kind === null ? [] : [`${row.changed_kind}:${row.changed_id}`],
      );
      const { revision, pruned } = rows.find((row) => row.revision !== null) ?? {};
      if (revision == null || pruned == null) throw new Error('the database has no revision');
      return {
        revision,
        isTooLate: since < pruned,
        sources: [...new Set(changed)],
        tuples: rows.flatMap(toTuples),
      };
    },
  };
}

function* readLines(lines: string): IterableIterator<GraphTuple> {
  for (let at = 0; at < lines.length; ) {
    const object = lines.indexOf(' ', at);
    const relation = lines.indexOf(' ', object + 1);
    const user = lines.indexOf(' ', relation + 1);
    const found = lines.indexOf('\n', user + 1);
    const source = found === -1 ? lines.length : found;
    yield {
      object: lines.slice(at, object),
      relation: lines.slice(object + 1, relation),
      user: lines.slice(relation + 1, user),
      source: lines.slice(user + 1, source),
    };
    at = source + 1;
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
