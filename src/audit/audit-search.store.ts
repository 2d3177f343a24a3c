import { type Db, type Statement, sql } from '../db/db.ts';
import { createFilters, type Filters } from '../db/filters.ts';
import { AUDIT_COLUMNS, type EntryRow, toAuditRows } from './audit.rows.ts';
import type { AuditSearch, AuditStore, Found, Order, Place } from './audit.ts';
import type { Spans } from './spans.ts';

/**
 * Pages of the audit log.
 *
 * 1. Every search walks over one index, whose first columns it knows, in the order of the page.
 * 2. All columns of that index are compared as one row and are what the page is ordered by. With an equation for the
 *    first columns, the planner believes in an average organization or actor, and for a large one combines indexes or
 *    sorts all its entries. The order of a whole row only one index has.
 * 3. A page begins at one end of what is searched for, and is over after so many entries. Whether they are still searched
 *    for is compared afterwards: an index scan does not stop where the second column of a row ends, but where the first
 *    one does, and would read all other entries of a large organization for an actor with few.
 * 4. What the index does not tell is compared with at most `MAX_WALK` entries. Then the page ends early, and its cursor
 *    is where the walk ended.
 * 5. A count goes as many entries at a time, and is over once a step has left what is searched for.
 */
export const MAX_WALK = 10_000;
const MAX_ID = 2n ** 63n - 1n;
const BEFORE_ALL: Place = { at: '-infinity', id: 0n };
const AFTER_ALL: Place = { at: 'infinity', id: MAX_ID };

// The few actions that there are: a probe of the index for each. Which ones have this prefix, no collation needs to know.
const ACTIONS = sql(
  'audit.actions',
  `with recursive known (action) as (
     (select action from audit order by action limit 1)
     union all
     select (select a.action from audit a where a.action > k.action order by a.action limit 1)
       from known k where k.action is not null)
   select action from known where starts_with(action, $1)`,
);

/** The index that a search walks over. */
interface Walk {
  readonly columns: readonly (readonly [column: keyof typeof VALUES, isEach?: boolean])[];
  /** The time as that index spells it, see `audit` in the schema. */
  readonly zone: string;
}

/** The columns that searches compare: how statements are named after them, and what they must be equal to. */
const VALUES = {
  organization_id: { word: 'org', of: (search: Search) => search.organizationId },
  actor_id: { word: 'actor', of: (search: Search) => search.actorId },
  object_type: { word: 'type', of: (search: Search) => search.objectType },
  object_id: { word: 'id', of: (search: Search) => search.objectId },
  action: { word: 'action', of: (search: Search) => search.actions },
} as const;
type Column = keyof typeof VALUES;
type Search = AuditSearch & { readonly actions?: readonly string[] | undefined };

export function createAuditSearch(db: Pick<Db, 'query'>, maxWalk = MAX_WALK): Pick<AuditStore, 'list' | 'countSpans'> {
  return {
    async list(given, order, after, limit) {
      const actions = await actionsOf(given);
      if (actions?.length === 0) return { rows: [] };
      const search = { ...given, actions };
      const page = pageOf(search, order, after, limit, maxWalk);
      const rows = await toAuditRows(db.query, await db.query<EntryRow>(page.statement, page.values));
      return page.isWhole || rows.length === limit
        ? { rows }
        : { rows, reached: await endOf(search, order, after, rows) };
    },
    async countSpans(given, spans, most) {
      const actions = await actionsOf(given);
      if (actions?.length === 0 || spans.count === 0) return { counts: new Map() };
      const counts = new Map<number, number>();
      let after: Place | undefined;
      for (let left = most; left > 0; ) {
        const step = Math.min(left, maxWalk);
        const { statement, values } = countOf({ ...given, actions }, spans, after, step);
        const rows = await db.query<SpanRow>(statement, values);
        for (const { span, count } of rows) counts.set(Number(span), (counts.get(Number(span)) ?? 0) + count);
        const walked = rows.reduce((sum, row) => sum + row.walked, 0);
        const [oldest] = rows.toSorted((one, other) => one.oldest.getTime() - other.oldest.getTime());
        if (oldest === undefined || walked < step) return { counts };
        left -= walked;
        if (left === 0) return { counts, reached: oldest.oldest };
        after = { at: oldest.oldest_at, id: oldest.oldest_id };
      }
      return { counts };
    },
  };

  async function actionsOf({ action, actionPrefix }: AuditSearch): Promise<readonly string[] | undefined> {
    if (actionPrefix === undefined) return action === undefined ? undefined : [action];
    return (await db.query<{ action: string }>(ACTIONS, [actionPrefix])).map((row) => row.action);
  }

  /** Where the walk ended, if that was not the end of the index. Never before an entry that the page shows. */
  async function endOf(
    search: Search,
    order: Order,
    after: Place | undefined,
    rows: Found['rows'],
  ): Promise<Place | undefined> {
    const { statement, values } = lastOf(search, order, after, maxWalk);
    const [end] = await toAuditRows(db.query, await db.query<EntryRow>(statement, values));
    const shown = rows.at(-1);
    if (end === undefined || shown === undefined) return end;
    const [earlier, later] = isBefore(end, shown) ? [end, shown] : [shown, end];
    return order === 'newest first' ? earlier : later;
  }
}

interface Page {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** Whether the index tells everything that is searched for, so that a short page is the last one. */
  readonly isWhole: boolean;
}

function pageOf(search: Search, order: Order, after: Place | undefined, limit: number, maxWalk: number): Page {
  const walk = walkFor(search);
  const filters = createFilters(limit);
  const { start, within, ordered, name } = walked(filters, walk, search, order, after);
  const rest = restOf(search, walk);
  const entries = `(select a.* from audit a where ${start} order by ${ordered} limit $1) a where ${within}`;
  if (walk.columns.some(([, isEach]) => isEach)) {
    const each = filters.place(search.actions);
    const time = order === 'newest first' ? 'at desc, id desc' : 'at, id';
    const text = `select ${AUDIT_COLUMNS} from (
        select p.* from unnest(${each}::text[]) as k (action) cross join lateral (
          select a.* from ${entries}) p
        order by ${time} limit $1) a order by ${time}`;
    return { statement: sql(name, text), values: filters.values, isWhole: true };
  }
  if (rest.length === 0) {
    const text = `select ${AUDIT_COLUMNS} from ${entries} order by ${ordered}`;
    return { statement: sql(name, text), values: filters.values, isWhole: true };
  }
  const conditions = conditionsOf(rest, search, filters);
  const walkOver = `select a.* from audit a where ${start} and ${within} order by ${ordered} limit ${maxWalk}`;
  const text = `select ${AUDIT_COLUMNS} from (${walkOver}) a where ${conditions.join(' and ')} order by ${ordered} limit $1`;
  return {
    statement: sql([name, ...wordsOf(rest), `most${maxWalk}`].join('.'), text),
    values: filters.values,
    isWhole: false,
  };
}

interface SpanRow {
  readonly span: bigint;
  readonly count: number;
  readonly walked: number;
  readonly oldest: Date;
  /** The same, exactly. */
  readonly oldest_at: string;
  readonly oldest_id: bigint;
}

/**
 * One step of a count, from the newest entry that has not been counted. What the index does not tell is compared with
 * the entries of the step, which all count as walked.
 */
function countOf(
  search: Search,
  { seconds, origin }: Spans,
  after: Place | undefined,
  step: number,
): Omit<Page, 'isWhole'> {
  const walk = walkFor(search);
  const filters = createFilters(step);
  const { start, within, ordered, name } = walked(filters, walk, search, 'newest first', after);
  const entries = `select a.* from (select a.* from audit a where ${start} order by ${ordered} limit $1) a where ${within}`;
  const isEach = walk.columns.some(([, each]) => each);
  const from = isEach
    ? `(select p.* from unnest(${filters.place(search.actions)}::text[]) as k (action) cross join lateral (
          ${entries}) p order by at desc, id desc limit $1)`
    : `(${entries})`;
  const rest = restOf(search, walk);
  const conditions = conditionsOf(rest, search, filters);
  const matching = conditions.length === 0 ? '' : ` filter (where ${conditions.join(' and ')})`;
  const text = `select floor((extract(epoch from a.at) - ${filters.place(origin)}::float8) / ${filters.place(seconds)}::float8)::bigint as span,
      (count(*)${matching})::integer as count, count(*)::integer as walked, min(a.at) as oldest,
      min(a.at)::text as oldest_at, (array_agg(a.id order by a.at, a.id))[1] as oldest_id
    from ${from} a group by 1`;
  return { statement: sql([name, ...wordsOf(rest), 'spans'].join('.'), text), values: filters.values };
}

/** The last entry of the longest walk. */
function lastOf(search: Search, order: Order, after: Place | undefined, maxWalk: number): Omit<Page, 'isWhole'> {
  const filters = createFilters();
  const { start, within, ordered, name } = walked(filters, walkFor(search), search, order, after);
  const text = `select ${AUDIT_COLUMNS} from audit a where ${start} and ${within} order by ${ordered} offset ${maxWalk - 1} limit 1`;
  return { statement: sql(`${name}.end${maxWalk}`, text), values: filters.values };
}

/** What is searched for and the index of the walk does not tell. */
function restOf(search: Search, walk: Walk): readonly Column[] {
  return (Object.keys(VALUES) as Column[]).filter(
    (column) => VALUES[column].of(search) !== undefined && !walk.columns.some(([one]) => one === column),
  );
}

function conditionsOf(rest: readonly Column[], search: Search, { place }: Filters): readonly string[] {
  return rest.map((column) =>
    column === 'action'
      ? `a.action = any(${place(search.actions)}::text[])`
      : `a.${column} = ${place(VALUES[column].of(search))}`,
  );
}

function walkFor({ organizationId, actorId, objectType, objectId, actions }: Search): Walk {
  const within: Walk['columns'] = organizationId === undefined ? [] : [['organization_id']];
  if (objectId !== undefined) return { columns: [['object_type'], ['object_id']], zone: '' };
  if (actorId !== undefined) return { columns: [...within, ['actor_id']], zone: '' };
  if (objectType !== undefined) return { columns: [...within, ['object_type']], zone: '' };
  if (actions !== undefined) return { columns: [...within, ['action', true]], zone: '' };
  return { columns: within, zone: within.length === 0 ? ` at time zone 'GMT'` : ` at time zone 'UTC'` };
}

/** The part of the index between two places, of which the page shows neither. */
function walked({ place }: Filters, { columns, zone }: Walk, search: Search, order: Order, after: Place | undefined) {
  const isDown = order === 'newest first';
  const { low, high } = boundsOf(search, isDown, after);
  const keys = columns.map(([column]) => `a.${column}`);
  const known = columns.map(([column, isEach]) => (isEach ? 'k.action' : place(VALUES[column].of(search))));
  const row = [...keys, `(a.at${zone})`, 'a.id'];
  const bound = ({ at, id }: Place) =>
    `(${[...known, `(${place(at)}::timestamptz${zone})`, `${place(id)}::bigint`].join(', ')})`;
  const [above, below] = [`(${row.join(', ')}) > ${bound(low)}`, `(${row.join(', ')}) < ${bound(high)}`];
  return {
    /** Where the walk begins. */
    start: isDown ? below : above,
    /** What is searched for of the entries from there on: it ends somewhere, and others follow. */
    within: isDown ? above : below,
    ordered: row.map((one) => (isDown ? `${one} desc` : one)).join(', '),
    name: ['audit', isDown ? 'desc' : 'asc', ...wordsOf(columns.map(([column]) => column))].join('.'),
  };
}

/** `since` is included and `until` is not; no entry has the ID 0. A cursor can be beyond either. */
function boundsOf({ since, until }: Search, isDown: boolean, after: Place | undefined): { low: Place; high: Place } {
  const low = since === undefined ? BEFORE_ALL : { at: since.toISOString(), id: 0n };
  const high = until === undefined ? AFTER_ALL : { at: until.toISOString(), id: 0n };
  if (after === undefined) return { low, high };
  if (isDown) return { low, high: high === AFTER_ALL || isBefore(after, high) ? after : high };
  return { low: low === BEFORE_ALL || isBefore(low, after) ? after : low, high };
}

function wordsOf(columns: readonly Column[]): string[] {
  return columns.map((column) => VALUES[column].word);
}

function isBefore(one: Place, other: Place): boolean {
  const [first, second] = [finely(one.at), finely(other.at)];
  return first === second ? one.id < other.id : first < second;
}

/** With microseconds, so that texts can be compared. */
function finely(at: string): string {
  return at.replace(/Z$/, '').padEnd('2026-01-01T00:00:00.000000'.length, '0');
}
