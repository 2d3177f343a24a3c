import type { AuditAction } from '../changes/audit-actions.ts';
import type { ChangeKind } from '../changes/object-kinds.ts';
import type { Moment } from '../changes/revision.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { EventStore, RecordedNews } from './event-listener.ts';
import type { RecordedChange } from './visible-changes.ts';

interface Row extends Moment {
  stamp_then: string | null;
  change_revision: bigint | null;
  stamp_of: string | null;
  place: number;
  at: Date;
  action: AuditAction | null;
  kind: ChangeKind;
  id: bigint;
  organization_id: bigint | null;
  organization_name: string | null;
}

const NOW = sql('events.now', 'select value as revision, stamp from revision where id = 1');
// One statement, so one snapshot: the moment and the changes up to it belong together. A revision is announced whole, so
// one change more than wanted is enough to see that there are too many.
const since = (name: string, condition: string) =>
  sql(
    name,
    `select r.value as revision, r.stamp, c.*,
            (select s.stamp from revision_stamp s where s.revision = $1 and $1 >= r.pruned) as stamp_then
       from revision r left join lateral (
         select c.revision as change_revision, s.stamp as stamp_of, c.place, c.at, c.action, c.kind, c.id, c.organization_id, o.name as organization_name
           from change c left join revision_stamp s on s.revision = c.revision
                left join account o on o.id = c.organization_id and o.kind = 'organization'
          where c.revision > $1 ${condition} order by c.revision limit $2
       ) c on true where r.id = 1 order by c.change_revision, c.place`,
  );
const SINCE = since('events.since', '');
// What concerns the accounts: their graphs, or the accounts themselves.
const SINCE_OF = since(
  'events.sinceOf',
  `and (c.organization_id = any($3::bigint[]) or (c.kind = 'account' and (c.id = any($3::bigint[]) or $4)))`,
);

export function createEventStore(db: Db): EventStore {
  return {
    async now() {
      return only(await db.query<Moment>(NOW));
    },

    async since(revision, { max, concerning }) {
      const rows = concerning
        ? await db.query<Row>(SINCE_OF, [revision, max + 1, concerning.accounts, concerning.isEveryAccount])
        : await db.query<Row>(SINCE, [revision, max + 1]);
      return newsOf(rows, max);
    },
  };
}

function newsOf(rows: readonly Row[], max: number): RecordedNews {
  const [first] = rows;
  if (first === undefined) throw new Error('the database has no revision');
  const changes = rows.flatMap((row): RecordedChange[] =>
    row.change_revision === null
      ? []
      : [
          {
            revision: row.change_revision,
            stamp: row.stamp_of ?? '',
            place: row.place,
            at: row.at,
            action: row.action,
            kind: row.kind,
            id: row.id,
            organizationId: row.organization_id,
            organizationName: row.organization_name,
          },
        ],
  );
  return {
    moment: { revision: first.revision, stamp: first.stamp },
    stampThen: first.stamp_then ?? undefined,
    changes: changes.length > max ? undefined : changes,
  };
}
