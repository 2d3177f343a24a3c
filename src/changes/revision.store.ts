import { AppError } from '../base/errors.ts';
import { deleteInBatches } from '../db/batched-delete.ts';
import { lostDatabase } from '../db/database-errors.ts';
import { type Db, isMissingReference, isMissingValue, only, type Query, sql } from '../db/db.ts';
import { appendAudit } from './audit-chain.store.ts';
import type { AuditEntry } from './audit-entry.ts';
import { notedChanges } from './noted-changes.ts';
import type { ChangeKind } from './object-kinds.ts';
import type { Moment, News, RevisionStore } from './revision.ts';
import type { Change, Finisher, Once, Work, WriteGuard, WriteOptions } from './write.ts';

interface NewsRow extends Moment {
  next_expiry: Date | null;
  continues: boolean;
  is_late: boolean;
  kind: ChangeKind | null;
  id: bigint | null;
  organization_id: bigint | null;
}

// Usually nothing has changed, and this query runs a thousand times a second. What a standby shows is of an earlier
// moment, so it must not answer. If something has expired by the clock of the database, the answer says so: the database
// has read that clock for the statement already, after the question was sent.
const STANDBY = 'standby';
const DUE = ' due';
const LATEST = sql(
  'revision.latest',
  `select case when pg_is_in_recovery() then '${STANDBY}'
               when next_expiry <= now() then value || ' ' || stamp || '${DUE}'
               else value || ' ' || stamp end from revision where id = 1`,
);
// One statement, so one snapshot: the revision and the changes up to it belong together. Of a pruned revision, the
// stamp is gone, too.
const NEWS = sql(
  'revision.news',
  `select r.value as revision, r.stamp, r.next_expiry, c.kind, c.id, c.organization_id,
          exists (select 1 from revision_stamp s where s.revision = $1 and s.stamp = $2) as continues,
          not exists (select 1 from revision_stamp s where s.revision = $3 and s.stamp = $4) as is_late
     from revision r left join change c on c.revision > $1 where r.id = 1`,
);
// Taken last in its transaction: the row lock puts revisions in commit order and is held only until the commit. What the
// row itself says about guardrails is as of the moment at which it was locked, unlike anything else in this statement.
const NEXT_VALUES = `value = value + 1,
     guardrails = case when 'guardrail' = any ($1::text[]) then gen_random_uuid() else guardrails end`;
const NEXT_RETURNS = 'value as revision, stamp, guardrails';
const NEXT = sql('revision.next', nextNoting('next.revision'));
// Travels with the COMMIT, so that no writer waits for this process while it holds the row. If there are guardrails
// after all, it fails: a change of no revision violates a constraint.
const NEXT_UNGUARDED = sql(
  'revision.nextUnguarded',
  nextNoting('case when next.guardrails is null then next.revision end'),
);
// Everything that any replica remembers is void, as if all changes up to this one had been pruned.
const NEXT_FOR_ALL = sql(
  'revision.nextForAll',
  `update revision set ${NEXT_VALUES}, pruned = value + 1 where id = 1 returning ${NEXT_RETURNS}`,
);
// A part at a time: a trigger deletes the stamps of these revisions, and every writer waits for this row.
const CUT = sql(
  'revision.cut',
  `update revision set pruned = least(value - $1, pruned + $2) where id = 1 and pruned < value - $1
   returning pruned < value - $1 as is_behind`,
);
const PRUNE = sql(
  'revision.prune',
  `delete from change where ctid = any (array (
     select ctid from change where revision <= (select pruned from revision where id = 1)
      order by revision limit $1 for update skip locked))
   returning revision`,
);
/** Revisions of one statement. */
const MAX_CUT = 1000n;
const MAX_CUTS = 2000;

// A statement of its own, before anything is looked up: the transaction that holds the row may have set an earlier
// time.
const LOCK = sql('revision.lock', 'select 1 from revision where id = 1 for update');
const NEXT_EXPIRY = sql(
  'revision.nextExpiry',
  `update revision set next_expiry = least((select min(expires_at) from team_member where expires_at is not null),
                                           (select min(expires_at) from assignment where expires_at is not null),
                                           (select min(expires_at) from token where superseded_by is not null),
                                           (select min(expires_at) from access_request where expires_at is not null))
    where id = 1`,
);

function nextNoting(revision: string): string {
  return `with next as (update revision set ${NEXT_VALUES} where id = 1 returning ${NEXT_RETURNS}),
        noted as (
          insert into change (revision, place, kind, id, organization_id, action)
          select ${revision}, c.place - 1, c.kind, c.id, c.organization_id, c.action
            from next, unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[])
              with ordinality as c (kind, id, organization_id, action, place))
   select revision, stamp, guardrails from next`;
}

const NO_CHANGES: readonly Change[] = [];
const MAX_TRIES = 3;
/** How often something may expire while the last that expired is removed. */
const MAX_ROUNDS = 20;
const LAST_REVISION = 2n ** 63n - 1n;
/** Deleting an organization touches all its members. Every replica would have to read so many changes in one piece. */
const MAX_CHANGES = 5_000;

interface Taken extends Moment {
  readonly guardrails: string | null;
}

export function createRevisionStore(
  db: Db,
  guards: readonly WriteGuard[] = [],
  finishers: readonly Finisher[] = [],
): RevisionStore {
  /** False if there had never been a guardrail as of the last write or the latest news. */
  let mayBeGuarded = true;
  return { onlyWriter: db.capabilities.isOnlyWriter, news, write, renewExpiry, prune };

  async function news(since: Moment | undefined, expire: () => Promise<void>): Promise<News> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { answer, hasExpired } = await askUntilNothingIsDue(expire);
      if (since && !hasExpired && answer === `${since.revision} ${since.stamp}`) {
        return { ...since, continues: true, changes: NO_CHANGES };
      }
      const found = await changesSince(since, momentOf(answer));
      if (found) return found;
    }
    throw unusable('its connections lead to servers with different contents');
  }

  /**
   * Asks again after each removal: the address may lead to another server by now, where the rows are still there. So an
   * answer that is used never has anything that expired before it.
   */
  async function askUntilNothingIsDue(expire: () => Promise<void>) {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const answer = await db.queryRevision(LATEST);
      if (answer === STANDBY) throw unusable('it is a read-only standby');
      if (!answer?.endsWith(DUE)) return { answer, hasExpired: round > 0 };
      await expire();
    }
    throw unusable('what has expired is not removed from it');
  }

  /** Undefined if it was asked over a connection to a server that does not know of the latest moment. */
  async function changesSince(since: Moment | undefined, latest: Moment): Promise<News | undefined> {
    const { revision: after, stamp: stampThen } = since ?? { revision: LAST_REVISION, stamp: null };
    const rows = await db.query<NewsRow>(NEWS, [after, stampThen, latest.revision, latest.stamp]);
    const [first] = rows;
    if (first === undefined) throw new Error('the database has no revision');
    const { revision, stamp, continues } = first;
    if (first.is_late || (since && !continues)) db.renew?.();
    if (first.is_late) return undefined;
    const changes = rows.flatMap(({ kind, id, organization_id }) =>
      kind === null || id === null ? [] : [{ kind, id, organizationId: organization_id }],
    );
    if (!continues || changes.some(({ kind }) => kind === 'guardrail')) mayBeGuarded = true;
    const nextExpiry = first.next_expiry?.getTime();
    return { revision, stamp, continues, changes: continues ? changes : NO_CHANGES, nextExpiry };
  }

  /** The address may lead to another server by now, but open connections do not. */
  function unusable(why: string): AppError {
    db.renew?.();
    return lostDatabase(`the database cannot be used: ${why}`);
  }

  /**
   * A write that gives something to an account that is being deleted at this moment waits for the deletion, and then
   * finds the account gone.
   */
  async function write<T, Made>(work: Work<T, Made>, once?: Once<Made>, options?: WriteOptions) {
    try {
      return await writeAtOnce(work, once, options);
    } catch (cause) {
      if (isMissingReference(cause)) {
        throw new AppError('conflict', 'a referenced object was deleted at the same time', { cause });
      }
      if (!isMissingValue(cause, 'change', 'revision')) throw cause;
      mayBeGuarded = true;
      // It may be of another organization, so it is not named.
      throw new AppError('unavailable', 'another change was made at the same time', { cause, retryAfter: 1 });
    }
  }

  async function writeAtOnce<T, Made>(work: Work<T, Made>, once?: Once<Made>, { isFact = false }: WriteOptions = {}) {
    const { result, taken } = await db.transaction(async (query) => {
      const touched: Change[] = [];
      const entries: AuditEntry[] = [];
      const kept: Made[] = [];
      await once?.begin(query);
      const touch = (change: Change) => touched.push(change);
      const record = (entry: AuditEntry) => entries.push(entry);
      const result = await work(query, touch, record, (made) => kept.push(made));
      for (const finish of finishers) await finish(query, [...touched], touch, record, [...entries]);
      for (const made of kept) await once?.keep(query, made);
      const mayNeedGuards = touched.length > 0 && !isUnguarded(touched);
      const checks = [];
      // Before anything is locked that other writes to the organization need, such as its audit log.
      for (const guard of mayNeedGuards ? guards : []) checks.push(await guard(query, touched));
      await appendAudit(query, entries);
      if (touched.length === 0) return { result, taken: () => [] };
      if (!mayNeedGuards) return { result, taken: query.later<Taken>(NEXT_UNGUARDED, valuesOf(touched, entries)) };
      const taken = await take(query, touched, entries);
      const { revision, stamp, guardrails } = only(taken);
      mayBeGuarded = guardrails !== null;
      if (guardrails !== null) {
        const written = { query, revision, stamp, guardrails, touched, actor: entries[0]?.actor, isFact };
        for (const check of checks) await check(written);
      }
      return { result, taken: () => taken };
    });
    return { result, revision: taken()[0]?.revision };
  }

  function isUnguarded(touched: readonly Change[]): boolean {
    return !mayBeGuarded && touched.length <= MAX_CHANGES && touched.every(({ kind }) => kind !== 'guardrail');
  }

  async function take(query: Query, touched: readonly Change[], entries: readonly AuditEntry[]): Promise<Taken[]> {
    if (touched.length <= MAX_CHANGES) return await query<Taken>(NEXT, valuesOf(touched, entries));
    return await query<Taken>(NEXT_FOR_ALL, [[...new Set(touched.map(({ kind }) => kind))]]);
  }

  async function renewExpiry(): Promise<void> {
    await db.transaction(async (query) => {
      await query(LOCK);
      await query(NEXT_EXPIRY);
    });
  }

  async function prune(keep: bigint): Promise<void> {
    for (let cuts = 0; cuts < MAX_CUTS; cuts++) {
      const [cut] = await db.query<{ is_behind: boolean }>(CUT, [keep, MAX_CUT]);
      if (!cut?.is_behind) break;
    }
    await deleteInBatches(db.query, PRUNE, []);
  }
}

function valuesOf(touched: readonly Change[], entries: readonly AuditEntry[]): unknown[] {
  const noted = notedChanges(touched, entries);
  return [
    noted.map((change) => change.kind),
    noted.map((change) => change.id),
    noted.map((change) => change.organizationId ?? null),
    noted.map((change) => change.action),
  ];
}

function momentOf(answer: string | null): Moment {
  const [revision, stamp] = answer?.split(' ') ?? [];
  if (revision === undefined || stamp === undefined) throw new Error('the database has no revision');
  return { revision: BigInt(revision), stamp };
}
