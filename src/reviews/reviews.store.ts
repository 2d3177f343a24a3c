import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, only, type Query, sql } from '../db/db.ts';
import {
  COUNTS,
  fromQuestion,
  IS_PRESENT,
  ITEM,
  type ItemRow,
  REVIEW,
  type ReviewRow,
  toItem,
  toReview,
} from './review.rows.ts';
import type {
  ChainEntry,
  Closing,
  Decision,
  EndInside,
  ItemState,
  NewReview,
  OldToken,
  Review,
  ReviewItem,
  ReviewStore,
} from './review.ts';
import { hashOf, reviewRecord } from './review-record.ts';

// A filter that is null is none: then all reviews are listed.
const MINE = '($2::bigint is null or $2 = any(r.reviewer_ids))';
const IS_STATE = `($3::text is null or ($3 = 'open') = (r.closed_at is null))`;
const LIST = sql(
  'reviews.list',
  `select ${REVIEW} from (select * from review r where r.organization_id = $1 and ${MINE} and ${IS_STATE}
                           order by r.id desc offset $4 limit $5) r ${COUNTS} order by r.id desc`,
);
const COUNT = sql(
  'reviews.count',
  `select count(*)::integer as total from review r where r.organization_id = $1 and ${MINE} and ${IS_STATE}`,
);
const GET = sql('reviews.get', `select ${REVIEW} from review r ${COUNTS} where r.organization_id = $1 and r.id = $2`);
const DUE = sql(
  'reviews.due',
  `select ${REVIEW} from review r ${COUNTS} where r.closed_at is null and r.due_at <= now() order by r.due_at, r.id limit $1`,
);
const LOCK = sql(
  'reviews.lock',
  'select closed_at is null as is_open from review where organization_id = $1 and id = $2 for update',
);
const JOIN = sql('reviews.join', 'select id, name from account where id = $1 for key share');
const TAKEN = countTaken('reviews.taken', 'review where organization_id = $1');
const INSERT = sql(
  'reviews.insert',
  `insert into review (organization_id, name, question, undecided, due_at, reviewer_ids, reviewer_names, started_by_id,
                       started_by_name, left_out)
   values ($1, $2, $3::json, $4, $5, $6, $7, $8, $9, $10) returning id`,
);
const INSERT_ITEMS = sql(
  'reviews.insertItems',
  `insert into review_item (review_id, kind, principal_type, principal_id, principal_name, target_id, details, sentence)
   select $1, l.kind, l.type, l.principal, l.name, l.target, l.details::json, l.sentence
     from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[])
            with ordinality as l (kind, type, principal, name, target, details, sentence, place) order by l.place`,
);
const ITEMS = sql(
  'reviews.items',
  `select ${ITEM} from review_item i where i.review_id = $1 and ($2::text is null or i.state = $2)
    order by i.id offset $3 limit $4`,
);
const COUNT_ITEMS = sql(
  'reviews.countItems',
  'select count(*)::integer as total from review_item i where i.review_id = $1 and ($2::text is null or i.state = $2)',
);
const GET_ITEM = sql('reviews.item', `select ${ITEM} from review_item i where i.review_id = $1 and i.id = $2`);
const DECIDE = sql(
  'reviews.decide',
  `update review_item set state = $2, decided_by_id = $3, decided_by_name = $4, decided_at = now(), comment = $5
    where id = $1`,
);
const RENEW = sql('reviews.renew', 'update review set version = version + 1 where id = $1');
const SETTLE_GONE = sql(
  'reviews.settleGone',
  `update review_item i set state = 'gone', decided_at = now()
    where i.review_id = $1 and i.state = 'open' and not (${IS_PRESENT})`,
);
const SETTLE_REJECTED = sql(
  'reviews.settleRejected',
  `update review_item i set state = 'rejected', decided_at = now(), reason = f.reason, message = f.message
     from unnest($2::bigint[], $3::text[], $4::text[]) as f (id, reason, message)
    where i.review_id = $1 and i.id = f.id and i.state = 'open'`,
);
const SETTLE_KEPT = sql(
  'reviews.settleKept',
  `update review_item i set state = 'kept', decided_at = now() where i.review_id = $1 and i.state = 'open'`,
);
const CLOSE = sql(
  'reviews.close',
  `update review set closed_at = now(), closed_by_id = $2, closed_by_name = $3, version = version + 1 where id = $1`,
);
const KEEP_RECORD = sql('reviews.keepRecord', 'update review set record = $2, record_sha256 = $3 where id = $1');
const RECORD = sql('reviews.record', 'select record from review where organization_id = $1 and id = $2');
const ENTRY = sql(
  'reviews.entry',
  `select id, hash, after from (
     select at, id, hash, after::text as after from audit
      where object_type = 'review' and object_id = $2 and organization_id = $1 and action = $3
     union all
     select at, id, hash, after from audit_kept where review_id = $2 and organization_id = $1 and action = $3) e
    order by at, id limit 1`,
);
const IN_TEAM = sql(
  'reviews.inTeam',
  'select exists (select 1 from team_member where team_id = $1 and account_id = $2) as yes',
);
const TOKENS = sql(
  'reviews.tokens',
  `select t.id, t.name, t.created_at, t.last_used_at, b.id as robot_id, b.name as robot_name
     from robot b join token t on t.robot_id = b.id
    where b.owner_id = $1 and t.created_at < $2 and (t.expires_at is null or t.expires_at > now())
    order by b.id, t.id`,
);

interface TokenRow {
  id: bigint;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
  robot_id: bigint;
  robot_name: string;
}

/** Everything of one review. */
const ALL = { offset: 0, limit: 1_000_000 };

export function createReviewStore(db: Db, write: Write, quotas: Quotas, end: EndInside): ReviewStore {
  return { list, get, due, items, item, start, decide, close, record, entry, isInTeam, tokensBefore };

  async function list(
    organizationId: bigint,
    filter: { readonly reviewerId?: bigint | undefined; readonly state?: string | undefined },
    { offset, limit }: { offset: number; limit: number },
  ) {
    const values = [organizationId, filter.reviewerId, filter.state];
    const { total } = only(await db.query<{ total: number }>(COUNT, values));
    const rows = await db.query<ReviewRow>(LIST, [...values, offset, limit]);
    return { items: rows.map(toReview), total };
  }

  async function get(organizationId: bigint, id: bigint) {
    return await getIn(db.query, organizationId, id);
  }

  async function due(max: number) {
    return (await db.query<ReviewRow>(DUE, [max])).map(toReview);
  }

  async function items(reviewId: bigint, page = ALL, state?: ItemState) {
    const { total } = only(await db.query<{ total: number }>(COUNT_ITEMS, [reviewId, state]));
    return { items: await itemsIn(db.query, reviewId, page, state), total };
  }

  async function item(reviewId: bigint, id: bigint) {
    return await itemIn(db.query, reviewId, id);
  }

  async function start(organizationId: bigint, draft: NewReview, actor: Actor, once?: Once<Review>) {
    return await write<Review, Review>(async (query, touch, record, keep) => {
      await query(JOIN, [organizationId]);
      await quotas.require(query, { limit: 'reviewsPerOrganization', ownerId: organizationId, count: TAKEN });
      const { id } = only(await query<{ id: bigint }>(INSERT, valuesOf(organizationId, draft, actor)));
      const { items } = draft;
      if (items.length > 0) {
        await query(INSERT_ITEMS, [
          id,
          items.map(({ kind }) => kind),
          items.map(({ principal }) => principal.type),
          items.map(({ principal }) => principal.id),
          items.map(({ principal }) => principal.name),
          items.map(({ targetId }) => targetId),
          items.map(({ details }) => JSON.stringify(details)),
          items.map(({ sentence }) => sentence),
        ]);
      }
      const made = known(await getIn(query, organizationId, id));
      touch({ kind: 'review', id, organizationId });
      const { name, question, undecided, dueAt, reviewers } = made;
      // The items are many, so the log has their hash. They are in the record.
      const sha256 = hashOf(JSON.stringify(items.map(({ sentence }) => sentence)));
      const after = { name, question, undecided, dueAt, reviewers, items: items.length, sha256 };
      record({ ...about(made, actor), action: 'review.start', after });
      keep(made);
      return made;
    }, once);
  }

  async function decide(organizationId: bigint, reviewId: bigint, itemId: bigint, decision: Decision) {
    const { actor, verdict, comment, isByRule } = decision;
    return await write(async (query, touch, record): Promise<ReviewItem> => {
      const review = await lockOpen(query, organizationId, reviewId);
      const current = await itemIn(query, reviewId, itemId);
      if (!current) throw new AppError('notFound', 'item does not exist', { reason: 'review_item_not_found' });
      if (current.state !== 'open' && (isByRule || current.state !== 'kept')) throw decidedAlready(current);
      const state = !current.isPresent
        ? 'gone'
        : verdict === 'keep'
          ? 'kept'
          : await end({ query, touch, record }, current, actor, organizationId);
      const by = isByRule ? undefined : actor;
      await query(DECIDE, [itemId, state, by?.id ?? null, by?.name ?? null, comment]);
      await query(RENEW, [reviewId]);
      touch({ kind: 'review', id: reviewId, organizationId });
      const after = {
        name: review.name,
        item: itemId,
        sentence: current.sentence,
        state,
        ...(comment !== '' && { comment }),
        ...(isByRule && { undecided: true }),
      };
      record({ ...about(review, actor), action: verdict === 'keep' ? 'review.keep' : 'review.end', after });
      return known(await itemIn(query, reviewId, itemId));
    });
  }

  /** Settles the items that are still open, and keeps the record. False if it is closed already. */
  async function close({ organizationId, id, actor, closedBy, rejections, decide: check }: Closing): Promise<boolean> {
    return await write(async (query, touch, record) => {
      const review = await locked(query, organizationId, id);
      if (!review || review.closedAt) return false;
      check(review);
      await query(SETTLE_GONE, [id]);
      await query(SETTLE_REJECTED, [
        id,
        [...rejections.keys()],
        [...rejections.values()].map(({ reason }) => reason),
        [...rejections.values()].map(({ message }) => message),
      ]);
      await query(SETTLE_KEPT, [id]);
      await query(CLOSE, [id, closedBy?.id ?? null, closedBy?.name ?? null]);
      const closed = known(await getIn(query, organizationId, id));
      const organization = only(await query<{ id: bigint; name: string }>(JOIN, [organizationId]));
      const start = known(await entryIn(query, organizationId, id, 'review.start'));
      const items = await itemsIn(query, id, ALL);
      const made = reviewRecord(closed, { items, start, organization });
      await query(KEEP_RECORD, [id, made.text, made.hash]);
      touch({ kind: 'review', id, organizationId });
      const after = { name: closed.name, sha256: made.hash, ...closed.counts };
      record({ ...about(closed, actor), action: 'review.close', after });
      return true;
    });
  }

  async function record(organizationId: bigint, id: bigint): Promise<string | undefined> {
    const [row] = await db.query<{ record: string | null }>(RECORD, [organizationId, id]);
    return row?.record ?? undefined;
  }

  async function entry(organizationId: bigint, id: bigint, action: 'review.start' | 'review.close') {
    return await entryIn(db.query, organizationId, id, action);
  }

  async function isInTeam(teamId: bigint, userId: bigint): Promise<boolean> {
    return only(await db.query<{ yes: boolean }>(IN_TEAM, [teamId, userId])).yes;
  }

  async function tokensBefore(organizationId: bigint, before: Date): Promise<OldToken[]> {
    const rows = await db.query<TokenRow>(TOKENS, [organizationId, before]);
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      robot: { id: row.robot_id, name: row.robot_name },
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }));
  }
}

async function locked(query: Query, organizationId: bigint, id: bigint): Promise<Review | undefined> {
  await query(LOCK, [organizationId, id]);
  return await getIn(query, organizationId, id);
}

/** From here on, the review cannot be closed, and no other reviewer decides in it. */
async function lockOpen(query: Query, organizationId: bigint, id: bigint): Promise<Review> {
  const review = await locked(query, organizationId, id);
  if (!review) throw new AppError('notFound', 'review does not exist', { reason: 'review_not_found' });
  if (review.closedAt) throw new AppError('conflict', 'the review is closed', { reason: 'review_closed' });
  return review;
}

async function getIn(query: Query, organizationId: bigint, id: bigint): Promise<Review | undefined> {
  const [row] = await query<ReviewRow>(GET, [organizationId, id]);
  return row && toReview(row);
}

async function itemIn(query: Query, reviewId: bigint, id: bigint): Promise<ReviewItem | undefined> {
  const [row] = await query<ItemRow>(GET_ITEM, [reviewId, id]);
  return row && toItem(row);
}

async function itemsIn(query: Query, reviewId: bigint, { offset, limit } = ALL, state?: ItemState) {
  return (await query<ItemRow>(ITEMS, [reviewId, state, offset, limit])).map(toItem);
}

async function entryIn(
  query: Query,
  organizationId: bigint,
  id: bigint,
  action: 'review.start' | 'review.close',
): Promise<ChainEntry | undefined> {
  const [row] = await query<{ id: bigint; hash: Buffer; after: string | null }>(ENTRY, [organizationId, id, action]);
  if (!row) return undefined;
  const { sha256 } = JSON.parse(row.after ?? '{}') as { sha256?: string };
  return { id: row.id, hash: row.hash.toString('hex'), recordHash: action === 'review.close' ? sha256 : undefined };
}

function valuesOf(organizationId: bigint, draft: NewReview, actor: Actor): unknown[] {
  const { name, question, undecided, dueAt, reviewers, leftOut } = draft;
  return [
    organizationId,
    name,
    fromQuestion(question),
    undecided,
    dueAt,
    reviewers.map(({ id }) => id),
    reviewers.map((one) => one.name),
    actor.id,
    actor.name,
    leftOut,
  ];
}

function about({ id, organizationId }: Pick<Review, 'id' | 'organizationId'>, actor: Actor) {
  return { actor, organizationId, objectType: 'review', objectId: id };
}

function decidedAlready({ state }: ReviewItem): AppError {
  return new AppError('conflict', `the item is decided already: ${state}`, { reason: 'already_decided' });
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('what a review was just written with is not there');
  return value;
}
