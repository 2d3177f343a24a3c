import { chainHash } from '../changes/audit-chain.store.ts';
import { type Db, type Statement, sql } from '../db/db.ts';
import { createFilters } from '../db/filters.ts';
import type { AuditRow, AuditSearch, AuditStore, ChainLink, Order, Place } from './audit.ts';

interface Row {
  id: bigint;
  moment: string;
  organization_id: bigint;
  actor_id: bigint;
  actor_name: string;
  action: string;
  object_type: string;
  object_id: bigint;
  before: string | null;
  after: string | null;
  request_id: string;
  previous_hash: Buffer;
  on_behalf_id: bigint | null;
  on_behalf_name: string | null;
  hash: Buffer;
}

// `before` and `after` are selected as text: read as JSON, a 64-bit number would lose digits.
const COLUMNS = `id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as moment, organization_id, actor_id,
  actor_name, action, object_type, object_id, before::text as before, after::text as after, request_id, previous_hash,
  on_behalf_id, on_behalf_name, hash`;
const ACCOUNT = sql('audit.account', 'select id from account where name_key = lower($1)');
const CHAIN = sql(
  'audit.chain',
  `select ${COLUMNS} from audit where organization_id = $1 and id > $2 order by id limit $3`,
);

// Each action is a range of an index. A single grouping would read the organization's entries of all time.
const COUNT_IN = sql(
  'audit.countIn',
  `select k.action, c.total as count from unnest($3::text[]) as k (action) cross join lateral (
     select count(*)::integer as total from audit a
      where a.organization_id = $1 and a.action = k.action and a.at >= $2) c where c.total > 0`,
);
// Spelled as in the index of all entries by time, see migration 0010.
const COUNT_ALL = sql(
  'audit.countAll',
  `select action, count(*)::integer as count from audit
    where (at at time zone 'GMT') >= ($1::timestamptz at time zone 'GMT') and action = any($2::text[]) group by action`,
);

export function createAuditStore(db: Db): AuditStore {
  return {
    async accountNamed(name) {
      return (await db.query<{ id: bigint }>(ACCOUNT, [name]))[0]?.id;
    },
    async list(search, order, after, limit) {
      const { statement, values } = listing(search, order, after, limit);
      return (await db.query<Row>(statement, values)).map(toRow);
    },
    async countActions(organizationId, since, actions) {
      if (organizationId === undefined) return await db.query(COUNT_ALL, [since, actions]);
      return await db.query(COUNT_IN, [organizationId, since, actions]);
    },
    async chain(organizationId, after, limit) {
      return (await db.query<Row>(CHAIN, [organizationId, after, limit])).map(toLink);
    },
  };
}

interface Listing {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** The spelling of the time decides which index is used, see migration 0010. */
function listing(search: AuditSearch, order: Order, after: Place | undefined, limit: number): Listing {
  const { organizationId, actorId, objectType, objectId } = search;
  const isNarrow = actorId !== undefined || objectType !== undefined;
  const zone = isNarrow ? '' : organizationId === undefined ? ` at time zone 'GMT'` : ` at time zone 'UTC'`;
  const moment = `(at${zone})`;
  const [compare, direction] = order === 'newest first' ? ['<', 'desc'] : ['>', 'asc'];
  const { add, place, statement, values } = createFilters(limit);
  add('org', organizationId, (one) => `organization_id = ${one}`);
  add('actor', actorId, (one) => `actor_id = ${one}`);
  add('type', objectType, (one) => `object_type = ${one}`);
  add('id', objectId, (one) => `object_id = ${one}`);
  add('action', search.action, (one) => `action = ${one}`);
  add('prefix', search.actionPrefix, (one) => `starts_with(action, ${one})`);
  add('since', search.since, (one) => `${moment} >= (${one}::timestamptz${zone})`);
  add('until', search.until, (one) => `${moment} < (${one}::timestamptz${zone})`);
  add('after', after?.at, (one) => `(${moment}, id) ${compare} ((${one}::timestamptz${zone}), ${place(after?.id)})`);
  const listed = statement(
    `audit.${direction}`,
    (where) => `select ${COLUMNS} from audit ${where} order by ${moment} ${direction}, id ${direction} limit $1`,
  );
  return { statement: listed, values };
}

function toRow(row: Row): AuditRow {
  return {
    id: row.id,
    at: momentOf(row),
    organizationId: row.organization_id,
    actor: { id: row.actor_id, name: row.actor_name },
    onBehalfOf: row.on_behalf_id === null ? null : { id: row.on_behalf_id, name: row.on_behalf_name ?? '' },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

function toLink(row: Row): ChainLink {
  const expected = chainHash({ ...row, at: momentOf(row) });
  return { id: row.id, previousHash: row.previous_hash, hash: row.hash, expected };
}

/** Milliseconds, as they were hashed. Forged finer digits must stay visible here, and break the chain. */
function momentOf({ moment }: Row): string {
  return `${moment.replace(/000$/, '')}Z`;
}
