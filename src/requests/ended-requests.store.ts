/**
 * Requests that close or end because of something else.
 *
 * 1. It happens in the same transaction: an approved request ends with its assignment or membership, and an open one
 *    fails with its role, team, object or requester.
 * 2. Requests are the last rows that a transaction locks, so nothing waits for a role or team while it holds a request.
 */

import { type AuditEntry, SERVER } from '../changes/audit-entry.ts';
import { BELONGING_TYPES, OBJECT_KINDS, PLACE_TYPES } from '../changes/object-kinds.ts';
import type { Expirer } from '../changes/revision.ts';
import type { Change, Finisher } from '../changes/write.ts';
import { type Query, sql } from '../db/db.ts';
import { REQUEST, type RequestRow, requestState } from './request.rows.ts';
import { about, type Touch, touchRequest } from './requests.store.ts';

type Row = RequestRow & Record<string, unknown>;

const EXPIRED = sql(
  'endedRequests.expired',
  `update access_request set state = 'expired', closed_at = now(), expires_at = null, version = version + 1
    where id in (select id from access_request where expires_at <= now() order by id limit $1 for update)
   returning id`,
);
const ROWS = sql(
  'endedRequests.rows',
  `select ${REQUEST} from access_request r where r.id = any($1::bigint[]) order by r.id`,
);
// Of what the transaction has touched: assignments, teams with users, and what open requests name.
const MOVED = sql(
  'endedRequests.moved',
  `select r.id, a.expires_at as ends_at, a.id is null as is_over
     from access_request r left join assignment a on a.id = r.assignment_id
    where r.state = 'approved' and r.assignment_id = any($1::bigint[]) and (a.id is null or a.expires_at is distinct from r.ends_at)
   union all
   select r.id, m.expires_at, m.account_id is null
     from access_request r left join team_member m on m.team_id = r.team_id and m.account_id = r.by_id
    where r.state = 'approved' and r.team_id = any($2::bigint[])
      and (m.account_id is null or m.expires_at is distinct from r.ends_at)`,
);
const OBJECT_EXISTS = `case r.object_type when 'organization' then true
  ${BELONGING_TYPES.map(({ type, table, ownerColumn }) => `when '${type}' then exists (select 1 from ${table} o where o.id = r.object_id and o.${ownerColumn} = r.organization_id)`).join('\n  ')} end`;
const FAILING = sql(
  'endedRequests.failing',
  `select r.id, case when not ${OBJECT_EXISTS} then 'the object' when n.role then 'the role' when n.team then 'the team'
                else 'the requester' end as because
     from access_request r cross join lateral (
       select r.role_id is not null and not exists (select 1 from role o where o.id = r.role_id) as role,
              r.team_id is not null and not exists (select 1 from team o where o.id = r.team_id) as team,
              case r.by_type when 'robot_ac' then not exists (select 1 from robot o where o.id = r.by_id)
                else not exists (select 1 from team_member m join team t on t.id = m.team_id
                                  where m.account_id = r.by_id and t.organization_id = r.organization_id) end as requester) n
    where r.state = 'open' and r.organization_id = any($1::bigint[])
      and (n.role or n.team or n.requester or not ${OBJECT_EXISTS})`,
);
const FOLLOW = sql(
  'endedRequests.follow',
  'update access_request set ends_at = $2, version = version + 1 where id = $1',
);
const END = sql(
  'endedRequests.end',
  `update access_request set state = $2, because = $3, closed_at = now(), expires_at = null, version = version + 1,
          ends_at = case when $2 = 'ended' then least(ends_at, now()) else ends_at end
    where id = any($1::bigint[]) and state = $4 returning id`,
);

/** Closes open requests that were not decided in time. */
export const expireRequests: Expirer = async (query, touch, record, max) => {
  const gone = await query<{ id: bigint }>(EXPIRED, [max]);
  if (gone.length === 0) return 0;
  const ids = gone.map(({ id }) => id);
  for (const row of await query<Row>(ROWS, [ids])) {
    touchRequest(touch, row);
    record(about(row, 'request.expire', SERVER, { before: requestState(row) }));
  }
  return gone.length;
};

/** Deletions name their organization, or touch a team or an assignment of it. */
const NAMED: ReadonlySet<Change['kind']> = new Set(['role', ...PLACE_TYPES.map((type) => OBJECT_KINDS[type].source)]);

/** What ends nothing that a request names, so most writes need no further trip to the database. */
const KEEPING = /^(?!assignment\.update$)\w+\.(?:create|update|add_member|report|phase|bind)$/;

export const endRequests: Finisher = async (query, touched, touch, record, entries) => {
  if (entries.length > 0 && entries.every(({ action }) => KEEPING.test(action))) return;
  const actor = entries[0]?.actor ?? SERVER;
  const ids = (kind: Change['kind']) => touched.flatMap((one) => (one.kind === kind && !one.isNew ? [one.id] : []));
  const [assignments, teams] = [ids('assignment'), ids('team')];
  const organizations = new Set(
    touched.flatMap(({ kind, organizationId, isNew }) =>
      NAMED.has(kind) && !isNew && organizationId != null ? [organizationId] : [],
    ),
  );
  const transaction = { query, touch, record };
  if (assignments.length + teams.length > 0) {
    const moved = await query<{ id: bigint; ends_at: Date | null; is_over: boolean }>(MOVED, [assignments, teams]);
    for (const one of moved.filter(({ is_over }) => !is_over)) {
      await query(FOLLOW, [one.id, one.ends_at]);
      for (const row of await query<Row>(ROWS, [[one.id]])) touchRequest(touch, row);
    }
    const over = moved.filter(({ is_over }) => is_over).map(({ id }) => id);
    await end(transaction, over, 'ended', null, actor);
  }
  if (organizations.size === 0) return;
  const failing = await query<{ id: bigint; because: string }>(FAILING, [[...organizations]]);
  for (const { id, because } of failing) await end(transaction, [id], 'failed', because, actor);
};

async function end(
  { query, touch, record }: { query: Query; touch: Touch; record: (entry: AuditEntry) => void },
  ids: readonly bigint[],
  state: 'ended' | 'failed',
  because: string | null,
  actor: typeof SERVER,
): Promise<void> {
  if (ids.length === 0) return;
  const isEnd = state === 'ended';
  const done = await query<{ id: bigint }>(END, [ids, state, because, isEnd ? 'approved' : 'open']);
  if (done.length === 0) return;
  for (const row of await query<Row>(ROWS, [done.map(({ id }) => id)])) {
    touchRequest(touch, row);
    const after = because === null ? {} : { after: { because } };
    record(about(row, isEnd ? 'request.end' : 'request.fail', actor, { before: requestState(row), ...after }));
  }
}
