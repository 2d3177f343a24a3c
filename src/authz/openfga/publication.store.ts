import { AppError } from '../../base/errors.ts';
import { CHANGE_KINDS, type ChangeKind, TUPLELESS_KINDS } from '../../changes/object-kinds.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import { type Db, only, type Query, type Statement, sql } from '../../db/db.ts';
import { createSerialQueue } from '../../db/mutex.ts';
import { type ServerTuple, tupleIn } from './openfga-server.ts';
import { type Moment, NOTHING, type Part, type Publication, type PublicationStore } from './publication.ts';
import { type AccountTuple, differenceOf, keyOf, type SourcedTuple, type TupleChange } from './tuple-difference.ts';

interface PublicationRow {
  id: bigint;
  store_id: string;
  model_id: string;
  published: bigint;
  fence: string;
  pending: string | null;
  next_fence: string | null;
}

interface MomentRow extends PublicationRow {
  latest: bigint;
  is_behind: boolean;
}

interface TupleRow {
  account_id: bigint;
  object: string;
  relation: string;
  subject: string;
  source_kind: string;
  source_id: bigint;
}

interface ChangedRow {
  account_id: bigint;
  kind: ChangeKind;
  id: bigint;
}

/** Any number works, but it must never change: replicas of two releases must use the same lock. */
const LEAD = sql('openfga.lead', 'select pg_advisory_xact_lock(4702111234474983746)');
const PATIENCE = sql('openfga.patience', `select set_config('lock_timeout', $1, true)`);
const STAY = sql('openfga.stay', 'select 1');
/** A publication that is too far behind compares everything. */
const MAX_CHANGED = 5_000;

const COLUMNS = 'id, store_id, model_id, published, fence, pending, next_fence';
const FIND = sql('openfga.find', `select ${COLUMNS} from openfga_store where model_hash = $1`);
const CREATE = sql(
  'openfga.create',
  `insert into openfga_store (model_hash, store_id, model_id, fence, published, publishing)
   values ($1, $2, $3, $4, ${NOTHING}, ${NOTHING}) returning ${COLUMNS}`,
);
const CLEAR = sql('openfga.clear', 'delete from openfga_tuple where store = $1');
const REPLACE = sql(
  'openfga.replace',
  `update openfga_store set store_id = $3, model_id = $4, fence = $5, pending = null, next_fence = null,
          published = ${NOTHING}, publishing = ${NOTHING}
    where id = $1 and fence = $2 returning ${COLUMNS}`,
);
const BEGIN = sql(
  'openfga.begin',
  `update openfga_store set pending = $3, next_fence = $4, publishing = greatest(publishing, $5)
    where id = $1 and fence = $2 and pending is null returning ${COLUMNS}`,
);
const FINISH = sql(
  'openfga.finish',
  `update openfga_store set fence = next_fence, pending = null, next_fence = null
    where id = $1 and next_fence = $2 returning ${COLUMNS}`,
);
const SETTLE = sql(
  'openfga.settle',
  `update openfga_store set published = greatest(published, $3), publishing = greatest(publishing, $3)
    where id = $1 and fence = $2 and pending is null returning ${COLUMNS}`,
);
// One statement, so one snapshot.
const MOMENT = sql(
  'openfga.moment',
  `select s.store_id, s.model_id, s.published, r.value as latest, s.fence, s.next_fence,
          s.published < 0 or coalesce($3::bigint, s.published) < r.pruned or exists (
            select 1 from change c
             where c.organization_id = any ($2::bigint[]) and c.revision > coalesce($3::bigint, s.published)
               and c.revision <= greatest(s.publishing, coalesce($4::bigint, r.value))) as is_behind
     from openfga_store s, revision r where s.model_hash = $1 and r.id = 1`,
);
const REVISION = sql('openfga.revision', 'select value, pruned from revision where id = 1');
const CHANGED = sql(
  'openfga.changed',
  `select distinct organization_id as account_id, kind, id from change
    where revision > $1 and organization_id is not null and kind <> all(array['${TUPLELESS_KINDS.join("','")}']) limit ${MAX_CHANGED + 1}`,
);
const ACCOUNTS = sql(
  'openfga.accounts',
  'select store as account_id from tuple union select account_id from openfga_tuple where store = $1',
);

const NOW = `select store as account_id, object_type || ':' || object_id as object, relation, subject, source_kind, source_id
     from tuple`;
const ALL_NOW = sql('openfga.allNow', `${NOW} where store = $1`);
// A statement for each kind, because planning one over all parts of the view takes longer than running it.
const SOME_NOW = new Map<ChangeKind, Statement>(
  CHANGE_KINDS.map((kind) => [
    kind,
    sql(`openfga.now.${kind}`, `${NOW} where source_kind = '${kind}' and source_id = any ($1::bigint[])`),
  ]),
);
const KNOWN =
  'select account_id, object, relation, subject, source_kind, source_id from openfga_tuple where store = $1';
const ALL_KNOWN = sql('openfga.allKnown', `${KNOWN} and account_id = $2`);
const SOME_KNOWN = sql('openfga.someKnown', `${KNOWN} and source_kind = $2 and source_id = any ($3::bigint[])`);
const COUNTS = sql(
  'openfga.counts',
  `select account_id, object, relation, subject, count(*)::integer as count from openfga_tuple
    where store = $1 and (account_id, object, relation, subject) in (
            select a, o, r, s from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as k (a, o, r, s))
    group by account_id, object, relation, subject`,
);
const ROWS = `unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
     as n (a, o, r, s, k, i)`;
const REMOVE = sql(
  'openfga.remove',
  `delete from openfga_tuple t using ${ROWS}
    where t.store = $1 and t.account_id = n.a and t.object = n.o and t.relation = n.r and t.subject = n.s
      and t.source_kind = n.k and t.source_id = n.i`,
);
const ADD = sql(
  'openfga.add',
  `insert into openfga_tuple (store, account_id, object, relation, subject, source_kind, source_id)
   select $1, n.a, n.o, n.r, n.s, n.k, n.i from ${ROWS}`,
);
const TUPLES = sql(
  'openfga.tuples',
  'select distinct account_id, object, relation, subject from openfga_tuple where store = $1',
);

const LOOKS = sql(
  'openfga.looks',
  `select t.account_id, t.object,
          string_agg(distinct t.relation || ' ' || t.subject, ';' order by t.relation || ' ' || t.subject) as look
     from openfga_store s
     join unnest($2::bigint[], $3::text[]) as k (a, o) on true
     join openfga_tuple t on t.store = s.id and t.account_id = k.a and t.object = k.o
    where s.model_hash = $1
      and (t.subject not like 'user:%' or t.subject in ('user:*', $4) or t.relation = any ($5::text[]))
    group by t.account_id, t.object`,
);

/** `admits` tells whether the model accepts a tuple. What it does not accept grants nothing, and is not published. */
export function createPublicationStore(
  db: Db,
  modelHash: string,
  admits: (tuple: ServerTuple) => boolean,
): PublicationStore {
  // Only one process has the built-in database open, and it has only one connection.
  const inTurn = createSerialQueue();
  return { find, create, replace, news, accounts, whole, begin, finish, settle, tuples, moment, looks, lead };

  async function find(): Promise<Publication | undefined> {
    const [row] = await db.query<PublicationRow>(FIND, [modelHash]);
    return row && toPublication(row);
  }

  async function create({ storeId, modelId, fence }: Parameters<PublicationStore['create']>[0]) {
    return toPublication(only(await db.query<PublicationRow>(CREATE, [modelHash, storeId, modelId, fence])));
  }

  async function replace(old: Publication, fresh: Parameters<PublicationStore['replace']>[1]): Promise<Publication> {
    return await db.transaction(async (query) => {
      const values = [old.id, old.fence, fresh.storeId, fresh.modelId, fresh.fence];
      const next = theOne(await query<PublicationRow>(REPLACE, values));
      await query(CLEAR, [old.id]);
      return next;
    });
  }

  async function news({ id, published }: Publication) {
    return await db.snapshot(async (query) => {
      const { value, pruned } = only(await query<{ value: bigint; pruned: bigint }>(REVISION));
      if (published < pruned) return undefined;
      const changed = await query<ChangedRow>(CHANGED, [published]);
      if (changed.length > MAX_CHANGED) return undefined;
      const now: TupleRow[] = [];
      const known: TupleRow[] = [];
      for (const [kind, rows] of Map.groupBy(changed, (row) => row.kind)) {
        const statement = SOME_NOW.get(kind);
        if (statement === undefined) throw new Error(`nothing is known about changes of kind ${kind}`);
        const ids = rows.map((row) => row.id);
        for (const row of await query<TupleRow>(statement, [ids])) now.push(row);
        for (const row of await query<TupleRow>(SOME_KNOWN, [id, kind, ids])) known.push(row);
      }
      return { revision: value, changes: await compare(query, id, now, known) };
    });
  }

  async function accounts({ id }: Publication) {
    return await db.snapshot(async (query) => {
      const { value } = only(await query<{ value: bigint }>(REVISION));
      const rows = await query<{ account_id: bigint }>(ACCOUNTS, [id]);
      return { revision: value, accountIds: rows.map(({ account_id }) => account_id) };
    });
  }

  async function whole({ id }: Publication, accountId: bigint) {
    return await db.snapshot(async (query) => {
      const { value } = only(await query<{ value: bigint }>(REVISION));
      const now = await query<TupleRow>(ALL_NOW, [accountId]);
      const known = await query<TupleRow>(ALL_KNOWN, [id, accountId]);
      return { revision: value, changes: await compare(query, id, now, known) };
    });
  }

  async function compare(
    query: Query,
    id: bigint,
    now: readonly TupleRow[],
    known: readonly TupleRow[],
  ): Promise<TupleChange[]> {
    return await differenceOf(now.map(toTuple).filter(admits), known.map(toTuple), async (changed) => {
      const rows = await query<TupleRow & { count: number }>(COUNTS, [id, ...keysOf(changed)]);
      return new Map(rows.map((row) => [keyOf(toTuple(row)), row.count]));
    });
  }

  async function begin({ id, fence }: Publication, part: Part): Promise<Publication> {
    const { changes, write, revision } = part;
    return await db.transaction(async (query) => {
      const values = [id, fence, JSON.stringify(write), part.fence, revision];
      const next = theOne(await query<PublicationRow>(BEGIN, values));
      const removed = changes.flatMap((change) => change.removed);
      const added = changes.flatMap((change) => change.added);
      if (removed.length > 0) await query(REMOVE, [id, ...columnsOf(removed)]);
      if (added.length > 0) await query(ADD, [id, ...columnsOf(added)]);
      return next;
    });
  }

  async function finish({ id, pending }: Publication): Promise<Publication> {
    return theOne(await db.query<PublicationRow>(FINISH, [id, pending?.fence]));
  }

  async function settle({ id, fence }: Publication, revision: bigint): Promise<Publication> {
    return theOne(await db.query<PublicationRow>(SETTLE, [id, fence, revision]));
  }

  async function tuples({ id }: Publication): Promise<ServerTuple[]> {
    const rows = await db.query<TupleRow>(TUPLES, [id]);
    return rows.map((row) => tupleIn(row.account_id, toTuple(row)));
  }

  async function moment({ accountIds, since, until }: Parameters<PublicationStore['moment']>[0]) {
    const values = [modelHash, accountIds, since ?? null, until ?? null];
    const [row] = await db.query<MomentRow>(MOMENT, values);
    return row && toMoment(row);
  }

  async function looks(...[objects, personId, relations]: Parameters<PublicationStore['looks']>) {
    const rows = await db.query<{ account_id: bigint; object: string; look: string }>(LOOKS, [
      modelHash,
      objects.map(({ accountId }) => accountId),
      objects.map(({ object }) => object),
      subjectOfPrincipal(personId),
      [...relations],
    ]);
    return new Map(rows.map(({ account_id, object, look }) => [`${account_id} ${object}`, look]));
  }

  async function lead<T>(patienceMs: number, work: (stay: () => Promise<void>) => Promise<T>): Promise<T> {
    if (db.capabilities.isOnlyWriter) return await inTurn(() => work(async () => undefined));
    // Two transactions that wait for the lock at the same time would take two connections of this process, and its
    // holder needs one more.
    return await inTurn(() =>
      db.transaction(async (query) => {
        await query(PATIENCE, [String(patienceMs)]);
        await query(LEAD);
        return await work(async () => void (await query(STAY)));
      }),
    );
  }
}

function theOne(rows: readonly PublicationRow[]): Publication {
  const [row] = rows;
  if (row) return toPublication(row);
  throw new AppError('unavailable', 'another process publishes at the same time', { retryAfter: 1 });
}

function toPublication(row: PublicationRow): Publication {
  const { id, published, fence, pending, next_fence } = row;
  const under = pending === null || next_fence === null ? undefined : { write: JSON.parse(pending), fence: next_fence };
  return { id, storeId: row.store_id, modelId: row.model_id, published, fence, pending: under };
}

function toMoment(row: MomentRow): Moment {
  const { published, latest, fence, is_behind } = row;
  const nextFence = row.next_fence ?? undefined;
  return { storeId: row.store_id, modelId: row.model_id, published, latest, fence, nextFence, isBehind: is_behind };
}

function toTuple(row: TupleRow): SourcedTuple {
  const { account_id, object, relation, subject, source_kind, source_id } = row;
  return { accountId: account_id, object, relation, user: subject, sourceKind: source_kind, sourceId: source_id };
}

function keysOf(tuples: readonly AccountTuple[]): unknown[][] {
  return [
    tuples.map(({ accountId }) => accountId),
    tuples.map(({ object }) => object),
    tuples.map(({ relation }) => relation),
    tuples.map(({ user }) => user),
  ];
}

function columnsOf(tuples: readonly SourcedTuple[]): unknown[][] {
  return [...keysOf(tuples), tuples.map(({ sourceKind }) => sourceKind), tuples.map(({ sourceId }) => sourceId)];
}
