import { AppError } from '../base/errors.ts';
import { type Db, isMissingReference, only, type Query, sql } from '../db/db.ts';
import { appendAudit } from './audit-chain.store.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { ChangeKind } from './object-kinds.ts';
import type { News, RevisionStore } from './revision.ts';
import type { Change, Once, Work } from './write.ts';

interface NewsRow {
  revision: bigint;
  pruned: bigint;
  kind: ChangeKind | null;
  id: bigint | null;
  organization_id: bigint | null;
}

// Usually nothing has changed, and this query runs a thousand times a second.
const LATEST = sql('revision.latest', 'select value from revision where id = 1');
// One statement, so one snapshot: the revision and the changes up to it belong together.
const NEWS = sql(
  'revision.news',
  `select r.value as revision, r.pruned, c.kind, c.id, c.organization_id
     from revision r left join change c on c.revision > $1 where r.id = 1`,
);
// Taken last in its transaction: the row lock puts revisions in commit order and is held only until the commit.
const NEXT = sql(
  'revision.next',
  `with next as (update revision set value = value + 1 where id = 1 returning value)
   insert into change (revision, kind, id, organization_id)
   select next.value, c.kind, c.id, c.organization_id
     from next, unnest($1::text[], $2::bigint[], $3::bigint[]) as c (kind, id, organization_id)
   returning revision`,
);
// Everything that anybody remembers is void, as if all changes up to this one had been pruned.
const NEXT_FOR_ALL = sql(
  'revision.nextForAll',
  'update revision set value = value + 1, pruned = value + 1 where id = 1 returning value as revision',
);
const PRUNE = sql(
  'revision.prune',
  `with cut as (update revision set pruned = greatest(pruned, value - $1) where id = 1 returning pruned)
   delete from change using cut where change.revision <= cut.pruned`,
);

const NO_CHANGES: readonly Change[] = [];
/** Whoever deletes an organization touches all its members. Every replica would have to read so many changes in one piece. */
const MAX_CHANGES = 5_000;

export function createRevisionStore(db: Db): RevisionStore {
  return { onlyWriter: db.driver === 'pglite', news, write, prune };

  async function news(since: bigint): Promise<News> {
    if ((await db.ask(LATEST)) === String(since)) return { revision: since, pruned: 0n, changes: NO_CHANGES };
    const rows = await db.query<NewsRow>(NEWS, [since]);
    const changes = rows.flatMap(({ kind, id, organization_id }) =>
      kind === null || id === null ? [] : [{ kind, id, organizationId: organization_id }],
    );
    const [first] = rows;
    if (first === undefined) throw new Error('the database has no revision');
    return { revision: first.revision, pruned: first.pruned, changes };
  }

  /**
   * A write that gives something to an account that is being deleted at this moment waits for the deletion, and then
   * finds the account gone.
   */
  async function write<T, Made>(work: Work<T, Made>, once?: Once<Made>) {
    try {
      return await writeAtOnce(work, once);
    } catch (cause) {
      if (!isMissingReference(cause)) throw cause;
      throw new AppError('conflict', 'a referenced object was deleted at the same time', { cause });
    }
  }

  async function writeAtOnce<T, Made>(work: Work<T, Made>, once?: Once<Made>) {
    return await db.transaction(async (query) => {
      const touched: Change[] = [];
      const entries: AuditEntry[] = [];
      const kept: Made[] = [];
      await once?.begin(query);
      const result = await work(
        query,
        (change) => touched.push(change),
        (entry) => entries.push(entry),
        (made) => kept.push(made),
      );
      for (const made of kept) await once?.keep(query, made);
      await appendAudit(query, entries);
      const revision = touched.length === 0 ? undefined : await next(query, touched);
      return { result, revision };
    });
  }

  async function next(query: Query, touched: readonly Change[]): Promise<bigint | undefined> {
    if (touched.length > MAX_CHANGES) return only(await query<{ revision: bigint }>(NEXT_FOR_ALL)).revision;
    const rows = await query<{ revision: bigint }>(NEXT, [
      touched.map((change) => change.kind),
      touched.map((change) => change.id),
      touched.map((change) => change.organizationId ?? null),
    ]);
    return rows[0]?.revision;
  }

  async function prune(keep: bigint): Promise<void> {
    await db.query(PRUNE, [keep]);
  }
}
