import { textsIn } from '../changes/personal-texts.store.ts';
import { revealName, revealState } from '../changes/personal-texts.ts';
import { allTuples } from '../changes/tuple-lines.store.ts';
import { PLATFORM } from '../changes/write.ts';
import { type Db, type Query, sql } from '../db/db.ts';
import type { PastStore, PresentRole } from './past.ts';
import type { ChangeRow, LogSearch, RecentLog } from './recent-log.ts';

const KIND = sql('past.kind', 'select kind from account where id = $1');
const FIRST = sql('past.first', 'select at from audit where organization_id = $1 order by id limit 1');

// Of logs that were archived in part.
const KEPT = sql(
  'past.kept',
  `select f.at from unnest($1::bigint[]) as c (chain) cross join lateral (
     select at from audit where organization_id = c.chain order by organization_id, id limit 1) f
    where exists (select 1 from audit_segment s where s.organization_id = c.chain)`,
);

const MOMENT = `to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment`;
const COLUMNS = `a.id, ${MOMENT}, a.organization_id, a.actor_id, a.actor_name, a.action, a.object_type, a.object_id,
  a.before::text as before, a.after::text as after`;
// Each action is a range of an index: an organization can have a hundred times as many entries about the phases of its
// clusters. States are read only for the entries of the page. The place of the last page is given twice.
// Of a cluster, only its set decides who reaches it.
const IS_MOVE = `(a.action <> 'cluster.update' or a.before->>'clusterSetName' is distinct from a.after->>'clusterSetName')`;
const SINCE = `k.action and ${IS_MOVE} and a.at > $2 and ($4::timestamptz is null or (a.at, a.id) < ($4::timestamptz, $5::bigint))`;
const PAGE = sql(
  'past.page',
  `select ${COLUMNS} from (
     select n.id from unnest($3::text[]) as k (action) cross join lateral (
       select a.id, a.at from audit a where a.organization_id = $1 and a.action = ${SINCE}
        order by a.at desc, a.id desc limit $6) n
      order by n.at desc, n.id desc limit $6) p
   join audit a on a.id = p.id order by a.at desc, a.id desc`,
);
const IS_ADMIN = (state: string) => `coalesce(a.${state}::text like '%"isAdmin":true%', false)`;
// In the chain of the deployment are all changes of users; few of them concern administrators. A text in a state cannot
// contain the key like this, because its quotation marks are escaped.
const PLATFORM_PAGE = sql(
  'past.platformPage',
  `select ${COLUMNS} from unnest($3::text[]) as k (action) cross join lateral (
     select * from audit a where a.organization_id = $1 and a.action = ${SINCE}
        and (a.action not like 'user.%' or ${IS_ADMIN('before')} <> ${IS_ADMIN('after')})
      order by a.at desc, a.id desc limit $6) a
    order by a.at desc, a.id desc limit $6`,
);
const COUNT = sql(
  'past.count',
  `select coalesce(sum(c.total), 0)::integer as total from unnest($3::text[]) as k (action) cross join lateral (
     select count(*)::integer as total from audit a
      where a.organization_id = $1 and a.action = k.action and ${IS_MOVE} and a.at > $2) c`,
);
// What is newer than the moment must be in the log, or it was made without an entry. The clock of the database may
// differ from that of the server, so what is only a little newer is not looked at.
const NEWER_BY = `> $2::timestamptz + interval '1 minute'`;
const NEWER = sql(
  'past.newer',
  `select 'admin:' || id as key, created_at as at from account where is_admin and kind = 'user' and created_at ${NEWER_BY}
   union all select 'team:' || id, created_at from team where organization_id = $1 and created_at ${NEWER_BY}
   union all select 'role:' || id, created_at from role where organization_id = $1 and created_at ${NEWER_BY}
   union all select 'cluster:' || id, created_at from cluster where owner_id = $1 and created_at ${NEWER_BY}
   union all select 'robot:' || id, created_at from robot where owner_id = $1 and created_at ${NEWER_BY}
   union all select 'token:' || id, created_at from token where account_id = $1 and created_at ${NEWER_BY}
   union all select 'member:' || m.team_id || ':' || m.account_id, m.created_at from team t
     join team_member m on m.team_id = t.id where t.organization_id = $1 and m.created_at ${NEWER_BY}
   union all select 'assignment:' || id, assigned_at from assignment
     where organization_id = $1 and team_id is null and assigned_at ${NEWER_BY}
   union all select 'assigned:' || r.role_id, r.assigned_at from team t
     join assignment r on r.team_id = t.id where t.organization_id = $1 and r.assigned_at ${NEWER_BY}`,
);
const ROLES_IN_PAGE = 100;
const ROLES = sql(
  'past.roles',
  `select r.id, r.name, r.description, r.created_at, r.updated_at,
          array(select p.namespace from role_permission p where p.role_id = r.id order by p.namespace, p.action) as namespaces,
          array(select p.action from role_permission p where p.role_id = r.id order by p.namespace, p.action) as actions,
          array(select t.team_id from assignment t
                 where t.role_id = r.id and t.team_id is not null order by t.team_id) as team_ids
     from role r where r.organization_id = $1 and r.id > $2 order by r.id limit $3`,
);
const ROLE_TIMES = sql(
  'past.roleTimes',
  `select w.id, t.created_at, t.updated_at from unnest($3::bigint[]) as w (id) cross join lateral (
     select min(a.at) as created_at, max(a.at) as updated_at from audit a
      where a.object_type = 'role' and a.object_id = w.id and a.organization_id = $1 and a.at <= $2
        and a.action in ('role.create', 'role.update')) t`,
);
const SET_IDS = sql('past.setIds', 'select id::text, name from cluster_set where organization_id = $1');
const TEAM_NAMES = sql('past.teamNames', 'select id, name from team where organization_id = $1');

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
}

interface RoleRow {
  id: bigint;
  name: string;
  description: string;
  created_at: Date;
  updated_at: Date;
  namespaces: string[];
  actions: string[];
  team_ids: bigint[];
}

const ENTRIES_IN_PAGE = 200;

export function createPastStore(db: Db): PastStore {
  return {
    async load(accountId, at, search, extent) {
      return await db.snapshot(async (query) => {
        const log = await recentLog(query, accountId, at, search);
        if (log === undefined) return undefined;
        return {
          ...log,
          ...(await allTuples(query, accountId)),
          setIds: new Map(
            (await query<{ id: string; name: string }>(SET_IDS, [accountId])).map(({ id, name }) => [name, id]),
          ),
          roles: extent === 'with roles' ? await roles(query, accountId) : [],
          teamNames: extent === 'with roles' ? await teamNames(query, accountId) : new Map(),
        };
      });
    },

    async since(organizationId, at, { actions, platformActions, max }, sees) {
      const [counted] = await db.query<{ total: number }>(COUNT, [organizationId, at, actions]);
      const own = await page(db.query, PAGE, organizationId, at, actions, undefined, max);
      const total = counted?.total ?? 0;
      if (sees === 'organization') return { total, items: own };
      const platform = await page(db.query, PLATFORM_PAGE, PLATFORM, at, platformActions, undefined, max);
      const items = [...own, ...platform].sort((one, other) => (one.at === other.at ? 0 : one.at < other.at ? 1 : -1));
      return { total: total + platform.length, items: items.slice(0, max) };
    },

    async begins(organizationId) {
      return (await db.query<{ at: Date }>(FIRST, [organizationId]))[0]?.at;
    },

    async roleTimes(organizationId, at, ids) {
      const rows = await db.query<{ id: bigint; created_at: Date | null; updated_at: Date | null }>(ROLE_TIMES, [
        organizationId,
        at,
        ids,
      ]);
      return new Map(rows.map((row) => [row.id, { createdAt: row.created_at, updatedAt: row.updated_at }]));
    },
  };
}

/** In a snapshot. Undefined if there is no such account. */
export async function recentLog(
  query: Query,
  accountId: bigint,
  at: Date,
  search: LogSearch,
): Promise<RecentLog | undefined> {
  const [account] = await query<{ kind: string }>(KIND, [accountId]);
  if (account === undefined) return undefined;
  const [first] = await query<{ at: Date }>(FIRST, [accountId]);
  const kept = await query<{ at: Date }>(KEPT, [[accountId, PLATFORM]]);
  return {
    isOrganization: account.kind === 'organization',
    begins: first?.at,
    kept: kept.map(({ at: began }) => began),
    chain: await changes(query, PAGE, accountId, at, search.actions, search.max),
    platform: await changes(query, PLATFORM_PAGE, PLATFORM, at, search.platformActions, search.max),
    newer: await query<{ key: string; at: Date }>(NEWER, [accountId, at]),
  };
}

/** One more than the maximum tells that there are too many. */
async function changes(
  query: Query,
  statement: typeof PAGE,
  chain: bigint,
  at: Date,
  actions: LogSearch['actions'],
  max: number,
): Promise<ChangeRow[]> {
  const found: ChangeRow[] = [];
  for (;;) {
    const next = await page(query, statement, chain, at, actions, found.at(-1), ENTRIES_IN_PAGE);
    found.push(...next);
    if (next.length < ENTRIES_IN_PAGE || found.length > max) return found;
  }
}

async function page(
  query: Query,
  statement: typeof PAGE,
  chain: bigint,
  at: Date,
  actions: LogSearch['actions'],
  after: ChangeRow | undefined,
  limit: number,
): Promise<ChangeRow[]> {
  const rows = await query<Row>(statement, [chain, at, actions, after?.at ?? null, after?.id ?? null, limit]);
  const held = rows.map((row) => ({ organizationId: chain, elements: [row.actor_name, row.before, row.after] }));
  const texts = (await textsIn(query, held))(chain);
  const reveal = (state: string | null) => state && revealState(state, texts);
  return rows.map((row) => ({
    id: row.id,
    at: row.moment.replace(/000Z$/, 'Z'),
    actor: { id: row.actor_id, name: revealName(row.actor_name, texts) },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: reveal(row.before),
    after: reveal(row.after),
  }));
}

async function roles(query: Query, organizationId: bigint): Promise<PresentRole[]> {
  const found: PresentRole[] = [];
  for (;;) {
    const rows = await query<RoleRow>(ROLES, [organizationId, found.at(-1)?.id ?? 0n, ROLES_IN_PAGE]);
    for (const { id, name, description, created_at, updated_at, namespaces, actions, team_ids } of rows) {
      const permissions = namespaces.map((namespace, place) => ({ namespace, action: actions[place] ?? '' }));
      const times = { createdAt: created_at, updatedAt: updated_at };
      found.push({ id, name, description, permissions, teamIds: team_ids, ...times });
    }
    if (rows.length < ROLES_IN_PAGE) return found;
  }
}

async function teamNames(query: Query, organizationId: bigint): Promise<Map<bigint, string>> {
  const rows = await query<{ id: bigint; name: string }>(TEAM_NAMES, [organizationId]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
