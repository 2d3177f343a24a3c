import { textsIn } from '../changes/personal-texts.store.ts';
import { revealName } from '../changes/personal-texts.ts';
import { shownPhase } from '../clusters/cluster.rows.ts';
import { PHASES, type Phase } from '../clusters/cluster.ts';
import { type Db, only, sql } from '../db/db.ts';
import {
  type ClusterCounts,
  type Counts,
  type LastChange,
  type OverviewStore,
  type Part,
  PLAIN_LISTS,
  type PlainList,
} from './overview.ts';

// Where the values of `amongIds` are.
const [CLUSTERS, CONTRACTS, ROBOTS] = [6, 7, 8] as const;
const MEMBERSHIPS = 'team_member m join team t on t.id = m.team_id where t.organization_id = $1';
const ASSIGNMENTS = 'assignment a where a.organization_id = $1';
/** Each is a value of its own, and the database computes only those that are wanted. */
const COUNTS: Readonly<Record<Exclude<Part, 'lastChange' | 'unusedAccess'>, string>> = {
  members: `select count(distinct m.account_id)::integer from team t join team_member m on m.team_id = t.id
             where t.organization_id = $1`,
  owners: `select count(distinct m.account_id)::integer from team t join team_member m on m.team_id = t.id
            where t.organization_id = $1 and t.permission = 'owner'`,
  ...(Object.fromEntries(
    PLAIN_LISTS.map(({ list, table, ownerColumn }) => [
      list,
      `select count(*)::integer from ${table} o where ${ownerColumn} = $1${list === 'robots' ? amongIds('o', ROBOTS) : ''}`,
    ]),
  ) as Record<PlainList, string>),
  tokens: `select json_build_object('all', count(*),
             'expiring', count(*) filter (where expires_at > $3::timestamptz and expires_at <= $4::timestamptz),
             'unused', count(*) filter (where (expires_at is null or expires_at > $3::timestamptz)
                                          and coalesce(last_used_at, created_at) < $5::timestamptz),
             'days', ${daysOf('expires_at', 'token where account_id = $1')})
             from token where account_id = $1`,
  clusters: `select coalesce(json_object_agg(p.phase, p.total), '{}'::json) from (
               select ${shownPhase('$3')} as phase, count(*) as total from cluster c where c.owner_id = $1
                 ${amongIds('c', CLUSTERS)} group by 1) p`,
  contracts: `select json_build_object('all', count(*), 'ending', count(*) filter (where revoked_at is null
                and ends_at > $3::timestamptz and ends_at <= $4::timestamptz),
                'days', ${daysOf('ends_at', `contract c where owner_id = $1${amongIds('c', CONTRACTS)} and revoked_at is null`)})
                from contract c where owner_id = $1${amongIds('c', CONTRACTS)}`,
  guardrails: 'select count(*)::integer from guardrail where organization_id = $1',
  assignments: 'select count(*)::integer from assignment where organization_id = $1',
  expiring: `select json_build_object(
               'memberships', (select count(*) from ${MEMBERSHIPS} and m.expires_at <= $4::timestamptz),
               'assignments', (select count(*) from ${ASSIGNMENTS} and a.expires_at <= $4::timestamptz),
               'days', json_build_object('memberships', ${daysOf('m.expires_at', MEMBERSHIPS)},
                                         'assignments', ${daysOf('a.expires_at', ASSIGNMENTS)}))`,
};
const COUNT = sql(
  'overview.count',
  `select ${Object.entries(COUNTS)
    .map(([part, select]) => `case when '${part}' = any($2::text[]) then (${select}) end as ${part}`)
    .join(', ')}`,
);
// Spelled as in the index that ends with the newest entry, see `audit` in the schema. A denied request changed nothing.
const LAST_CHANGE = sql(
  'overview.lastChange',
  `select at, actor_id, actor_name, action, object_type, object_id from audit
    where organization_id = $1 and action <> 'access.denied' order by (at at time zone 'UTC') desc, id desc limit 1`,
);

type CountRow = { [Each in Exclude<Part, 'clusters' | 'lastChange' | 'unusedAccess'>]: Counts[Each] | null } & {
  clusters: Partial<Record<Phase, number>> | null;
};

interface ChangeRow {
  at: Date;
  actor_id: bigint;
  actor_name: string;
  action: string;
  object_type: string;
  object_id: bigint;
}

export function createOverviewStore(db: Db): OverviewStore {
  return {
    async count(organizationId, parts, { now, soon, longAgo }, among) {
      const single = [among.get('clusters'), among.get('contracts'), among.get('robots')];
      const row = only(await db.query<CountRow>(COUNT, [organizationId, parts, now, soon, longAgo, ...single]));
      const clusters = row.clusters && toClusterCounts(row.clusters);
      const last = parts.includes('lastChange') ? await lastChange(organizationId) : undefined;
      const found = Object.entries({ ...row, clusters, lastChange: last });
      return Object.fromEntries(found.filter(([, value]) => value !== null && value !== undefined));
    },
  };

  async function lastChange(organizationId: bigint): Promise<LastChange | undefined> {
    const [row] = await db.query<ChangeRow>(LAST_CHANGE, [organizationId]);
    if (!row) return undefined;
    const { at, action } = row;
    const texts = await textsIn(db.query, [{ organizationId, elements: [row.actor_name] }]);
    const actor = { id: row.actor_id, name: revealName(row.actor_name, texts(organizationId)) };
    return { at, actor, action, object: { type: row.object_type, id: row.object_id } };
  }
}

/** Only these objects, if the value is not null. */
function amongIds(table: string, value: number): string {
  return ` and ($${value}::bigint[] is null or ${table}.id = any($${value}))`;
}

/** How many of these end soon, by day. `from` has a condition already. */
function daysOf(time: string, from: string): string {
  return `(select coalesce(json_agg(json_build_object('day', d.day, 'count', d.total) order by d.day), '[]'::json) from (
    select to_char(${time} at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as total from ${from}
       and ${time} > $3::timestamptz and ${time} <= $4::timestamptz group by 1) d)`;
}

function toClusterCounts(found: Partial<Record<Phase, number>>): ClusterCounts {
  const counts = PHASES.map((phase) => [phase, found[phase] ?? 0] as const);
  const all = Object.values(found).reduce((sum, count) => sum + count, 0);
  return { all, byPhase: Object.fromEntries(counts) as Record<Phase, number> };
}
