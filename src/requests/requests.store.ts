import type { PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { principalOf } from '../changes/principal.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Change, Once, Write } from '../changes/write.ts';
import { type Db, known, only, type Query, sql, type TransactionQuery } from '../db/db.ts';
import type { AccessRequest } from './access-request.ts';
import { grantRequest } from './grant.store.ts';
import { type OpenRow, REQUEST, type RequestRow, requestState, toOpenRequest, withDecisions } from './request.rows.ts';
import { notAcknowledged, wasClosed } from './request-errors.ts';
import type { Closing, Created, NewRequest, RequestFilter, RequestStore } from './requests.ts';

export type Touch = (change: Change) => void;
type Row = RequestRow & Record<string, unknown>;

const FROM = `select ${REQUEST} from access_request r`;
const GET = sql('requests.get', `${FROM} where r.id = $1 and ($2::bigint is null or r.organization_id = $2)`);
const NOW = sql('requests.now', 'select now() as now');
const MATCHES = `($1::bigint is null or r.organization_id = $1) and (cardinality($2::text[]) = 0 or r.state = any($2::text[]))
  and ($3::text is null or (r.by_type = $3 and r.by_id = $4))
  and ($5::bigint[] is null or r.id in (select unnest($5::bigint[])) or ($6::text is not null and r.by_type = $6 and r.by_id = $7)
    or ($6::text = 'user' and exists (select 1 from access_request_decision d where d.request_id = r.id and d.user_id = $7)))
  and ($8::bigint[] is null or r.organization_id = any($8::bigint[])
    or (r.role_id is not null and (r.object_type, r.object_id) in (select * from unnest($9::text[], $10::bigint[]))))`;
const LIST = sql(
  'requests.list',
  `${FROM} where r.id in (select r.id from access_request r where ${MATCHES} order by r.created_at desc, r.id desc
     offset $11 limit $12) order by r.created_at desc, r.id desc`,
);
const COUNT = sql('requests.count', `select count(*)::integer as total from access_request r where ${MATCHES}`);
const OPEN = sql(
  'requests.open',
  `select r.id, r.organization_id, r.by_type, r.by_id, r.relation, r.object_type, r.object_id, r.namespaces, r.role_id,
          r.team_id, (select n.name from role n where n.id = r.role_id) as role_name, r.ends_at, r.token_creator
     from access_request r where r.state = 'open' and r.organization_id = any($1::bigint[])
    order by r.created_at desc, r.id desc`,
);
const SOME = sql('requests.some', `${FROM} where r.id = any($1::bigint[]) order by r.created_at desc, r.id desc`);
const SAME = sql(
  'requests.same',
  `${FROM} where r.state = 'open' and r.organization_id = $1 and r.by_type = $2 and r.by_id = $3 and r.relation = $4
     and r.object_type = $5 and r.object_id = $6 and r.namespaces_key = $7`,
);
const JOIN = sql('requests.join', 'select id from account where id = $1 for key share');
const INSERT = sql(
  'requests.insert',
  `insert into access_request (id, organization_id, state, by_type, by_id, relation, object_type, object_id, object_name,
                               namespaces, namespaces_key, role_id, team_id, change_name, reason, rule, approvals,
                               is_break_glass, token_creator, created_at, closes_at, closed_at, ends_at, expires_at,
                               effects, digest)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
           $23, $24, $25, $26)
   on conflict do nothing returning id`,
);
const LOCK = sql('requests.lock', 'select id from access_request where id = $1 for update');
const CLOSE = sql(
  'requests.close',
  `update access_request set state = $2, closed_at = now(), expires_at = null, because = $3, version = version + 1
    where id = $1`,
);
const GRANTED = sql('requests.granted', 'update access_request set assignment_id = $2 where id = $1');
const NOTE_EFFECTS = sql('requests.noteEffects', 'update access_request set effects = $2, digest = $3 where id = $1');
const DECIDE = sql(
  'requests.decide',
  `insert into access_request_decision (request_id, user_id, is_approval, comment, digest, decided_at)
   values ($1, $2, $3, $4, $5, now())
   on conflict (request_id, user_id) do update set is_approval = excluded.is_approval, comment = excluded.comment,
     digest = excluded.digest, decided_at = excluded.decided_at`,
);
const RENEW = sql('requests.renew', 'update access_request set version = version + 1, approvals = $2 where id = $1');
const ACKNOWLEDGE = sql(
  'requests.acknowledge',
  `update access_request set acknowledged_at = now(), acknowledged_by = $2, version = version + 1
    where id = $1 and acknowledged_at is null returning id`,
);
const RECENT = sql(
  'requests.recent',
  `select count(*)::integer as count, min(created_at) as first, now() as now from (
     select created_at from access_request where by_type = $1 and by_id = $2 and created_at > now() - interval '1 hour'
      order by created_at desc limit $3) as recent`,
);
const UNACKNOWLEDGED = sql(
  'requests.unacknowledged',
  `select exists (select 1 from access_request where organization_id = $1 and by_type = $2 and by_id = $3
                     and is_break_glass and acknowledged_at is null and state in ('approved', 'ended')) as yes`,
);
// They are kept longer than callers ask about them. What no owner has acknowledged stays.
const SWEEP = sql(
  'requests.sweep',
  `delete from access_request where id in (
     select id from access_request where state not in ('open', 'approved') and closed_at < now() - interval '400 days'
        and created_at < now() - interval '400 days' and (not is_break_glass or acknowledged_at is not null)
      order by created_at limit 1000 for update skip locked)`,
);
const TAKEN = countTaken('requests.taken', `access_request where organization_id = $1 and state = 'open'`);
const ROOM_BY = countTaken(
  'requests.takenOfUser',
  `access_request where by_type = 'user' and by_id = $1 and state = 'open'`,
);
const ROOM_ROBOT = countTaken(
  'requests.takenOfRobot',
  `access_request where by_type = 'robot_ac' and by_id = -$1::bigint and state = 'open'`,
);
// The audit log says who created a token, or what was kept of it when it was archived. A token that replaced another
// one goes back to the user who created the first.
const TOKEN_CREATOR = sql(
  'requests.tokenCreator',
  `with recursive line as (
     select $1::bigint as id, 1 as depth
     union all select t.id, line.depth + 1 from token t join line on t.superseded_by = line.id where line.depth < 100)
   select a.actor_id from line cross join lateral (
       select actor_id from audit where object_type = 'token' and object_id = line.id and action = 'token.create'
       union all select actor_id from audit_kept where token_id = line.id) a
    where a.actor_id > 0 order by line.depth limit 1`,
);
const TEAMS = sql(
  'requests.teams',
  `select m.account_id as id, lower(t.name) as name from team t join team_member m on m.team_id = t.id
    where t.organization_id = $1 and m.account_id = any($2::bigint[])`,
);
const CLUSTER_SETS = sql(
  'requests.clusterSets',
  `select id, cluster_set_name as name from cluster where id = any($1::bigint[]) and cluster_set_name <> ''`,
);

export function createRequestStore(db: Db, write: Write, quotas: Quotas): RequestStore {
  return {
    now: async () => only(await db.query<{ now: Date }>(NOW)).now,
    get,
    list,
    some: async (ids) => await withDecisions(db.query, await db.query<Row>(SOME, [ids])),
    open: async (ids) => (await db.query<OpenRow & Record<string, unknown>>(OPEN, [ids])).map(toOpenRequest),
    same: async (request) => {
      const [found] = await withDecisions(db.query, await db.query<Row>(SAME, sameValues(request)));
      return found;
    },
    recent: async (by, max) => {
      const { type, id } = principalOf(by);
      const row = only(await db.query<{ count: number; first: Date | null; now: Date }>(RECENT, [type, id, max]));
      const wait = row.first ? Math.ceil((row.first.getTime() + 3_600_000 - row.now.getTime()) / 1000) : 0;
      return { count: row.count, wait: Math.max(1, wait) };
    },
    sweep: async () => {
      await db.query(SWEEP);
    },
    repeat: async (request, once) =>
      await write<Created, Created>(async (_query, _touch, _record, keep) => {
        const found = { request, isNew: false };
        keep(found);
        return found;
      }, once),
    create,
    close,
    approve,
    acknowledge,
    noteEffects: async ({ id }, effects, digest) => {
      await db.query(NOTE_EFFECTS, [id, JSON.stringify(effects), digest]);
    },
    tokenCreator: async (tokenId) => (await db.query<{ actor_id: bigint }>(TOKEN_CREATOR, [tokenId]))[0]?.actor_id,
    teamNamesOf,
    teamNames: async (organizationId, userId) =>
      (await teamNamesOf(organizationId, [userId])).get(userId) ?? new Set<string>(),
    clusterSetsOf,
    clusterSet: async (id) => (await clusterSetsOf([id])).get(id),
  };

  async function teamNamesOf(organizationId: bigint, userIds: readonly bigint[]) {
    const rows = await db.query<{ id: bigint; name: string }>(TEAMS, [organizationId, userIds]);
    const byUser = Map.groupBy(rows, ({ id }) => id);
    return new Map([...byUser].map(([id, some]) => [id, new Set(some.map(({ name }) => name))]));
  }

  async function clusterSetsOf(ids: readonly bigint[]) {
    const rows = await db.query<{ id: bigint; name: string }>(CLUSTER_SETS, [ids]);
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  async function get(id: bigint, organizationId?: bigint): Promise<AccessRequest | undefined> {
    return await getBy(db.query, id, organizationId);
  }

  async function list(filter: RequestFilter, { offset, limit }: PageRequest) {
    const { organizationId, states, by, visible, limits } = filter;
    const asked = by === undefined ? undefined : principalOf(by);
    const reader = visible?.own === undefined ? undefined : principalOf(visible.own);
    const values = [
      ...[organizationId, states, asked?.type, asked?.id, visible?.ids ?? null, reader?.type, reader?.id],
      ...[limits?.organizations.map(({ id }) => id), limits?.objects.map(({ type }) => type)],
      limits?.objects.map(({ id }) => id),
    ];
    const { total } = only(await db.query<{ total: number }>(COUNT, values));
    const rows = await db.query<Row>(LIST, [...values, offset, limit]);
    return { items: await withDecisions(db.query, rows), total };
  }

  /** The turns come last, so the assignment of a request that is granted immediately is created before them. */
  async function create(actor: Actor, made: NewRequest, once?: Once<Created>): Promise<Created> {
    return await write<Created, Created>(async (query, touch, record, keep) => {
      const { request, granting } = made;
      query.later(JOIN, [request.organizationId]);
      const isOpen = granting === undefined;
      if (isOpen) await requireWithinLimits(query, actor.id, request.organizationId);
      else await requireAcknowledged(query, actor.id, request);
      const added = await query<{ id: bigint }>(INSERT, valuesOf(request));
      if (added.length === 0) {
        const [existing] = await withDecisions(query, await query<Row>(SAME, sameValues(request)));
        const found = { request: known(existing), isNew: false };
        keep(found);
        return found;
      }
      const first = known((await rowsOf(query, request.id))[0]);
      record(about(first, 'request.create', actor, { after: requestState(first) }));
      if (granting) {
        const assignmentId = await grantRequest({ query, touch, record }, quotas, request, granting);
        if (assignmentId !== undefined) query.later(GRANTED, [request.id, assignmentId]);
        const after = { ...requestState(first), assignmentId };
        record(about(first, 'request.approve', granting.actor, { after }));
      }
      touchRequest(touch, first);
      const [whole] = await withDecisions(query, await rowsOf(query, request.id));
      const created = { request: known(whole), isNew: true };
      keep(created);
      return created;
    }, once);
  }

  async function requireWithinLimits(query: TransactionQuery, by: bigint, organizationId: bigint): Promise<void> {
    const count = by < 0n ? ROOM_ROBOT : ROOM_BY;
    await quotas.require(query, { limit: 'openRequestsPerUser', ownerId: by, count });
    await quotas.require(query, { limit: 'openRequestsPerOrganization', ownerId: organizationId, count: TAKEN });
  }

  /** Two at the same moment take turns. */
  async function requireAcknowledged(query: TransactionQuery, by: bigint, request: AccessRequest): Promise<void> {
    if (!request.isBreakGlass) return;
    quotas.turn(query, 'openRequestsPerUser', by);
    const { type, id } = request.by;
    const { yes } = only(await query<{ yes: boolean }>(UNACKNOWLEDGED, [request.organizationId, type, id]));
    if (yes) throw notAcknowledged();
  }

  /** Undefined if it was closed by then. */
  async function close(actor: Actor, id: bigint, closing: Closing): Promise<AccessRequest | undefined> {
    return await write(async (query, touch, record) => {
      const row = await lockedOpen(query, id);
      if (!row) return undefined;
      const { state, action, because, comment } = closing;
      if (state === 'denied') query.later(DECIDE, [id, actor.id, false, comment ?? '', null]);
      query.later(CLOSE, [id, state, because ?? null]);
      touchRequest(touch, row);
      const after = { ...(comment && { comment }), ...(because !== undefined && { because }) };
      record(about(row, action, actor, { before: requestState(row), after }));
      return await getBy(query, id);
    });
  }

  /**
   * The request is locked after everything that an assignment or a membership locks: whatever ends those locks the
   * request last, too. `decide` looks at the decisions while no other user can decide.
   */
  async function approve(...[actor, request, approval]: Parameters<RequestStore['approve']>) {
    const { comment, digest, needed, granting, decide } = approval;
    return await write(async (query, touch, record) => {
      const { id } = request;
      const assignmentId = granting && (await grantRequest({ query, touch, record }, quotas, request, granting));
      const row = await lockedOpen(query, id);
      if (!row) throw wasClosed();
      const [now] = await withDecisions(query, [row]);
      decide(known(now));
      query.later(DECIDE, [id, actor.id, true, comment, digest]);
      if (granting) query.later(CLOSE, [id, 'approved', null]);
      else query.later(RENEW, [id, needed]);
      if (assignmentId !== undefined) query.later(GRANTED, [id, assignmentId]);
      touchRequest(touch, row);
      const after = { ...requestState(row), digest, ...(comment && { comment }), isLast: granting !== undefined };
      record(about(row, 'request.approve', actor, { after: { ...after, ...(assignmentId && { assignmentId }) } }));
      return known(await getBy(query, id));
    });
  }

  async function acknowledge(actor: Actor, id: bigint): Promise<AccessRequest | undefined> {
    return await write(async (query, touch, record) => {
      const isFirst = (await query<{ id: bigint }>(ACKNOWLEDGE, [id, actor.id])).length > 0;
      const [row] = await rowsOf(query, id);
      if (row && isFirst) {
        touchRequest(touch, row);
        record(about(row, 'request.acknowledge', actor, { after: requestState(row) }));
      }
      return await getBy(query, id);
    });
  }
}

async function lockedOpen(query: TransactionQuery, id: bigint): Promise<Row | undefined> {
  query.later(LOCK, [id]);
  const [row] = await rowsOf(query, id);
  return row?.state === 'open' ? row : undefined;
}

async function rowsOf(query: Query, id: bigint): Promise<Row[]> {
  return await query<Row>(GET, [id, null]);
}

async function getBy(query: Query, id: bigint, organizationId?: bigint): Promise<AccessRequest | undefined> {
  const [found] = await withDecisions(query, await query<Row>(GET, [id, organizationId ?? null]));
  return found;
}

function sameValues({ organizationId, by, relation, object, namespaces }: AccessRequest): unknown[] {
  return [organizationId, by.type, by.id, relation, object.type, object.id, keyOf(namespaces)];
}

function keyOf(namespaces: readonly string[] | null): string {
  return namespaces ? [...namespaces].sort().join(' ') : '';
}

function valuesOf(request: AccessRequest): unknown[] {
  const { by, object, change, namespaces } = request;
  const isOpen = request.state === 'open';
  const named = change.action === 'assignment.create' ? change.role : change.team;
  return [
    ...[request.id, request.organizationId, request.state, by.type, by.id, request.relation],
    ...[object.type, object.id, object.name, namespaces, keyOf(namespaces)],
    ...[
      change.action === 'assignment.create' ? named.id : null,
      change.action === 'assignment.create' ? null : named.id,
    ],
    ...[named.name, request.reason, request.rule, request.approvals, request.isBreakGlass, request.tokenCreator],
    ...[request.createdAt, request.closesAt, isOpen ? null : request.createdAt, request.until],
    ...[isOpen ? request.closesAt : null, JSON.stringify(request.effects), request.digest],
  ];
}

export function touchRequest(
  touch: Touch,
  { id, organization_id: organizationId }: Pick<RequestRow, 'id' | 'organization_id'>,
) {
  touch({ kind: 'request', id, organizationId });
}

export function about(
  { id, organization_id }: Pick<RequestRow, 'id' | 'organization_id'>,
  action: AuditAction,
  actor: Actor,
  states: Pick<AuditEntry, 'before' | 'after'>,
): AuditEntry {
  return { actor, organizationId: organization_id, action, objectType: 'request', objectId: id, ...states };
}
