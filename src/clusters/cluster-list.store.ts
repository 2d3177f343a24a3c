import type { PageRequest } from '../base/page.ts';
import { mapInSlices } from '../base/scheduling/slices.ts';
import { type Db, only, type Statement, sql } from '../db/db.ts';
import { createFilters, type Filters } from '../db/filters.ts';
import { likeText } from '../db/like-text.ts';
import { MAX_COUNTED, searchText } from '../db/search-text.ts';
import { CLUSTER_COLUMNS, CLUSTER_TABLES, type ClusterRow, shownPhase, toCluster } from './cluster.rows.ts';
import type { ClusterListStore, ClusterOrder, ClusterSearch } from './cluster-list.ts';

/** Whose clusters are listed. Both are found by index, and only these rows are looked at. */
const SCOPES = { owner: 'c.owner_id = $1', ids: 'c.id = any($1::bigint[])' } as const;
type Scope = keyof typeof SCOPES;

const FILTERS = `($2::text is null or c.name = $2)
    and ($3::text is null or lower(c.name) like $3 or lower(c.display_name) like $3 or c.uid like $4)
    and ($5::text is null or lower(c.provider) = lower($5))
    and ($6::text[] is null or ${shownPhase('$7')} = any($6))`;

const ORDERS: Readonly<Record<ClusterOrder, string>> = {
  id: 'c.id',
  // By bytes, which gives the same order in every database, whatever its locale.
  name: 'c.name collate "C"',
  // A cluster that has never reported was silent the longest.
  heartbeat: `coalesce(c.heartbeat_at, '-infinity')`,
  nodes: 'c.node_count',
  created: 'c.created_at',
};

export function createClusterListStore(db: Db): ClusterListStore {
  return {
    ofOwner: (ownerId, search, request) => find('owner', ownerId, search, request),
    // Written as an array literal here: numbers need no quoting, and there can be ten thousand.
    withIds: (ids, search, request) => find('ids', idList(ids), search, request),
    everywhere,
  };

  /** What few clusters are is found by index. Otherwise the page is found along the order that is wanted. */
  async function everywhere(userId: bigint, search: ClusterSearch, request: PageRequest | undefined) {
    const { total, ids } = (await isCommon(userId, search))
      ? { total: MAX_COUNTED + 1, ids: [] }
      : await allIds(userId, search);
    if (total <= MAX_COUNTED) return await find('ids', idList(ids), search, request);
    if (request === undefined || UNORDERED.has(search.orderBy)) return undefined;
    const page = pageOfAll(userId, search, request);
    const items = (await db.query<ClusterRow>(page.statement, page.values)).map(toCluster);
    return { items, total, isBounded: true };
  }

  /** Of a text that most clusters have, the index of pieces would list all of them first. */
  async function isCommon(userId: bigint, search: ClusterSearch): Promise<boolean> {
    if (search.text === '') return false;
    const { statement, values } = commonText(userId, search);
    return only(await db.query<{ hits: number }>(statement, values)).hits > MAX_COUNTED;
  }

  async function allIds(userId: bigint, search: ClusterSearch) {
    const { statement, values } = allClusters(userId, search);
    return only(await db.query<{ total: number; ids: bigint[] }>(statement, values));
  }

  async function find(scope: Scope, which: unknown, search: ClusterSearch, request: PageRequest | undefined) {
    const { text, name, provider, phases, now } = search;
    const values = [which, name, text === '' ? null : likeText(text), uidPattern(text), provider, phases, now];
    if (request === undefined) {
      const rows = await db.query<ClusterRow>(listing(scope, search), values);
      const items = await mapInSlices(rows, toCluster);
      return { items, total: items.length };
    }
    const page = [request.limit, request.offset];
    const items = (await db.query<ClusterRow>(paging(scope, search), [...values, ...page])).map(toCluster);
    const { total } = only(await db.query<{ total: number }>(COUNTS[scope], values));
    return { items, total };
  }
}

function idList(ids: readonly bigint[]): string {
  return `{${ids.join(',')}}`;
}

/** Heartbeats change these all the time, so there is no index of them. */
const UNORDERED: ReadonlySet<ClusterOrder> = new Set(['heartbeat', 'nodes']);

/** Those of organizations, and of the user `$1`. Each owner is looked up: there may be as many as clusters. */
const EVERYWHERE = `(c.owner_id = $1 or exists (
  select 1 from account o where o.id = c.owner_id and o.kind = 'organization' offset 0))`;

function filtersOf(userId: bigint, { text, name, provider, phases, now }: ClusterSearch): Filters {
  const filters = createFilters(userId);
  filters.require('everywhere', EVERYWHERE);
  // Spelled as in the indexes of `cluster`.
  filters.add('name', name, (one) => `c.name collate "C" = ${one}`);
  filters.add('provider', provider, (one) => `lower(c.provider) = lower(${one})`);
  if (phases !== undefined) {
    filters.require('phase', `${shownPhase(filters.place(now))} = any(${filters.place(phases)}::text[])`);
  }
  if (text !== '') {
    const { contains } = searchText(text);
    const named = filters.place(contains);
    const uid = uidPattern(text);
    const byUid = uid === undefined ? '' : ` or c.uid like ${filters.place(uid)}`;
    filters.require(
      uid === undefined ? 'text' : 'uid',
      `(lower(c.name) like ${named} or lower(c.display_name) like ${named}${byUid})`,
    );
  }
  return filters;
}

/** If a quarter of these are found, it is tried to find `MAX_COUNTED` among the first clusters. */
const SAMPLE = 400;
const MAX_WALKED = 60_000;

function commonText(userId: bigint, search: ClusterSearch) {
  const filters = filtersOf(userId, search);
  const statement = filters.statement('clusterList.common', (where) => {
    const hitsAmong = (clusters: number) => `(select count(*)::integer from (
      select 1 from (select * from cluster order by id limit ${clusters}) c ${where} limit ${MAX_COUNTED + 1}) hit)`;
    return `select case when ${hitsAmong(SAMPLE)} > ${SAMPLE / 4} then ${hitsAmong(MAX_WALKED)} else 0 end as hits`;
  });
  return { statement, values: filters.values };
}

/** All clusters that are searched, unless they are too many. */
function allClusters(userId: bigint, search: ClusterSearch) {
  const filters = filtersOf(userId, search);
  const { text } = search;
  const uid = text === '' ? undefined : uidPattern(text);
  const pieces = text === '' ? undefined : filters.place(searchText(text).pieces);
  const byPieces = `search_pieces(lower(c.name) || ' ' || lower(c.display_name)) @@ ${pieces}::tsquery`;
  // A UID is compared by bytes, from its beginning to what follows everything that begins so.
  const statement = filters.statement('clusterList.all', (where) => {
    const some = (more: string) => `(select c.id from cluster c ${where}${more} limit ${MAX_COUNTED + 1})`;
    const hits =
      pieces === undefined
        ? some('')
        : uid === undefined
          ? some(` and ${byPieces}`)
          : `${some(` and ${byPieces}`)} union ${some(` and c.uid collate "C" >= ${filters.place(text.toLowerCase())}
              and c.uid collate "C" < ${filters.place(`${text.toLowerCase()}~`)}`)}`;
    return `with hit as materialized (${hits})
      select (select count(*)::integer from hit) as total,
             case when (select count(*) from hit) <= ${MAX_COUNTED} then array(select id from hit) else '{}' end as ids`;
  });
  return { statement, values: filters.values };
}

function pageOfAll(userId: bigint, search: ClusterSearch, { limit, offset }: PageRequest) {
  const filters = filtersOf(userId, search);
  const order = orderOf(search);
  const statement = filters.statement(
    `clusterList.pageOfAll.${nameOf(search)}`,
    (where) => `select ${CLUSTER_COLUMNS} ${CLUSTER_TABLES} join (
       select c.id from cluster c ${where} order by ${order} limit ${filters.place(limit)} offset ${filters.place(offset)}
     ) page on page.id = c.id order by ${order}`,
  );
  return { statement, values: filters.values };
}

/** Shorter texts would match by chance: a UID is made of the letters a to f and digits. */
function uidPattern(text: string): string | undefined {
  return /^[0-9a-f-]{8,36}$/i.test(text) ? `${text.toLowerCase()}%` : undefined;
}

const COUNTS: Readonly<Record<Scope, Statement>> = { owner: counting('owner'), ids: counting('ids') };

function counting(scope: Scope): Statement {
  const text = `select count(*)::integer as total from cluster c where ${SCOPES[scope]} and ${FILTERS}`;
  return sql(`clusterList.count.${scope}`, text);
}

function listing(scope: Scope, search: ClusterSearch): Statement {
  return sql(
    `clusterList.${scope}.${nameOf(search)}`,
    `select ${CLUSTER_COLUMNS} ${CLUSTER_TABLES} where ${SCOPES[scope]} and ${FILTERS} order by ${orderOf(search)}`,
  );
}

/** Sorts the IDs alone, and reads everything else for the clusters of the page only. */
function paging(scope: Scope, search: ClusterSearch): Statement {
  const order = orderOf(search);
  return sql(
    `clusterList.page.${scope}.${nameOf(search)}`,
    `select ${CLUSTER_COLUMNS} ${CLUSTER_TABLES} join (
       select c.id from cluster c where ${SCOPES[scope]} and ${FILTERS} order by ${order} limit $8 offset $9
     ) page on page.id = c.id order by ${order}`,
  );
}

function orderOf({ orderBy, isDescending }: ClusterSearch): string {
  const direction = isDescending ? 'desc' : 'asc';
  return orderBy === 'id' ? `c.id ${direction}` : `${ORDERS[orderBy]} ${direction}, c.id ${direction}`;
}

function nameOf({ orderBy, isDescending }: ClusterSearch): string {
  return `${orderBy}.${isDescending ? 'desc' : 'asc'}`;
}
