import type { PageRequest } from '../base/page.ts';
import { mapInSlices } from '../base/slices.ts';
import { type Db, only, type Statement, sql } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import { CLUSTER_COLUMNS, CLUSTER_TABLES, type ClusterRow, shownPhase, toCluster } from './cluster.rows.ts';
import type { ClusterListStore, ClusterOrder, ClusterSearch } from './cluster-list.ts';

/** Whose clusters are listed. Both are found by index, and only these rows are looked at. */
const SCOPES = { owner: 'c.owner_id = $1', ids: 'c.id = any($1::bigint[])' } as const;
type Scope = keyof typeof SCOPES;

const FILTERS = `($2::text is null or c.name = $2)
    and ($3::text is null or lower(c.name) like $3 or lower(c.display_name) like $3 or c.uid like $4)
    and ($5::text is null or lower(c.provider) = lower($5))
    and ($6::text is null or ${shownPhase('$7')} = $6)`;

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
    withIds: (ids, search, request) => find('ids', `{${ids.join(',')}}`, search, request),
  };

  async function find(scope: Scope, which: unknown, search: ClusterSearch, request: PageRequest | undefined) {
    const { text, name, provider, phase, now } = search;
    const values = [which, name, text === '' ? null : likeText(text), uidPattern(text), provider, phase, now];
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
