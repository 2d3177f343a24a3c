import { ASSIGNMENT, type AssignmentRow, assignmentState } from '../authz/places/assignment-row.rows.ts';
import { about, awaitAssignmentsOf, touchAssignment } from '../authz/places/end-assignments.store.ts';
import { limitReached } from '../base/config/limits.ts';
import { SERVER } from '../changes/audit-entry.ts';
import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import { isPrincipal, principalOf } from '../changes/principal.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, type Statement, sql, type TransactionQuery } from '../db/db.ts';
import type { Transaction } from '../users/users.store.ts';
import type { Assignment, AssignmentFilter } from './assignment.ts';
import {
  createReferences,
  type PermissionColumns,
  permissionColumns,
  permissionsOf,
} from './assignment-references.store.ts';
import type { AssignmentStore, NewAssignment, Setting } from './assignments.ts';

interface FullRow extends AssignmentRow, PermissionColumns {
  request_id: string | null;
  assigned_at: Date;
  created_by_type: string | null;
  created_by_id: bigint | null;
  created_by_name: string | null;
  version: number;
  is_owners: boolean;
  clusters: number | null;
}

const COLUMNS = `${ASSIGNMENT}, s.request_id, s.assigned_at, s.created_by_type, s.created_by_id, s.version,
  case s.created_by_type when 'robot_ac' then (select b.name from robot b where b.id = s.created_by_id)
    else (select a.name from account a where a.id = s.created_by_id) end as created_by_name,
  coalesce((select t.permission = 'owner' from team t where t.id = s.on_team_id), false) as is_owners,
  (select count(*)::integer from cluster_set n join cluster c on c.owner_id = n.organization_id
     and c.cluster_set_name = n.name and c.cluster_set_name <> '' where n.id = s.on_set_id) as clusters, ${permissionColumns('s.role_id')}`;
const MINE = `(s.user_id = $2 or s.robot_id = -$2 or s.team_id in (select m.team_id from team_member m where m.account_id = $2)
  or s.to_team_id in (select m.team_id from team_member m where m.account_id = $2))`;
// Names are looked up only for the rows of the page. A filter that is null is none.
const MATCHES = `s.organization_id = $1 and ($2::bigint is null or ${MINE})
  and ($3::bigint is null or s.role_id = $3)
  and ($4::text is null or (s.to_type = $4 and s.to_id = $5))
  and ($6::text is null or (s.on_type = $6 and s.on_id = $7)) and ($8::timestamptz is null or s.expires_at < $8)
  and ($9::text is null or s.on_type = 'organization' or (s.on_type = $9 and s.on_id = $10)
       or ($9 = 'cluster' and s.on_type = 'cluster_set' and s.on_id =
           (select n.id from cluster c join cluster_set n on n.organization_id = c.owner_id and n.name = c.cluster_set_name
             where c.id = $10 and c.cluster_set_name <> '')))`;
const LIST = sql(
  'assignments.list',
  `select ${COLUMNS} from (select * from assignment s where ${MATCHES} order by s.id offset $11 limit $12) s order by s.id`,
);
// The nearest ones first, so that an assignment on the object itself is never beyond the first page for one that is
// not.
const LIST_REACHING = sql(
  'assignments.listReaching',
  `select ${COLUMNS} from (
     select *, case on_type when $9 then 0 when 'organization' then 2 else 1 end as distance from assignment s
      where ${MATCHES} order by distance, s.id offset $11 limit $12
   ) s order by s.distance, s.id`,
);
const COUNT = sql('assignments.count', `select count(*)::integer as total from assignment s where ${MATCHES}`);
const GET = sql('assignments.get', `select ${COLUMNS} from assignment s where s.organization_id = $1 and s.id = $2`);
// Wherever more than one of them is locked: the organization, its roles, its teams, assignments, and last the turn of a
// user. In another order, two requests could wait for each other.
const LOCK_ITS_ROLE = sql(
  'assignments.lockItsRole',
  `select r.id from role r where r.id = (select s.role_id from assignment s
                                          where s.organization_id = $1 and s.id = $2 and s.team_id is not null)
     for no key update`,
);
const LOCK = sql('assignments.lock', 'select id from assignment where organization_id = $1 and id = $2 for update');
const IS_IN_TEAM = sql(
  'assignments.isInTeam',
  'select exists (select 1 from team_member where team_id = $1 and account_id = $2) as yes',
);
const ADD_SET = sql(
  'assignments.addSet',
  `insert into cluster_set (organization_id, name) values ($1, $2)
   on conflict (organization_id, name) do update set name = excluded.name returning id`,
);
const JOIN = sql('assignments.join', 'select id from account where id = $1 for key share');
const LOCK_ROLE = sql('assignments.lockRole', 'select id from role where id = $1 for key share');
// What an approver has seen must be what the role gives.
const KEEP_ROLE = sql('assignments.keepRole', 'select id from role where id = $1 for share');
const LOCK_TEAM = sql('assignments.lockTeam', 'select id from team where id = $1 for key share');
const IS_MEMBER = sql(
  'assignments.isMember',
  `select exists (select 1 from team_member m join team t on t.id = m.team_id
                   where m.account_id = $2 and t.organization_id = $1) as yes`,
);
const INSERT = sql(
  'assignments.insert',
  `insert into assignment (organization_id, role_id, team_id, to_team_id, user_id, robot_id, on_cluster_id, on_set_id,
                           on_contract_id, on_robot_id, on_team_id, reason, expires_at, created_by_type, created_by_id,
                           namespaces, namespaces_key, request_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::text[],
           coalesce((select md5(string_agg(n.name, ',' order by n.name)) from unnest($16::text[]) as n (name)), ''), $17)
   returning id`,
);
const UPDATE = sql(
  'assignments.update',
  'update assignment set reason = $2, expires_at = $3, version = version + 1 where id = $1',
);
const DELETE = sql('assignments.delete', 'delete from assignment where id = $1');
const RENEW_ROLE = sql(
  'assignments.renewRole',
  'update role set version = version + 1, updated_at = greatest(now(), updated_at) where id = $1',
);
const TAKEN = countTaken('assignments.taken', 'assignment where organization_id = $1');
const TAKEN_BY: Readonly<Record<PrincipalType, Statement>> = {
  user: countTaken('assignments.takenOfUser', 'assignment where user_id = $1'),
  robot_ac: countTaken('assignments.takenOfRobot', 'assignment where robot_id = $1'),
  team: countTaken('assignments.takenOfTeam', 'assignment where team_id = $1 or to_team_id = $1'),
};
const TEAMS_OF_ROLE = countTaken('assignments.takenOfRole', 'assignment where role_id = $1 and team_id is not null');

export function createAssignmentStore(db: Db, write: Write, quotas: Quotas): AssignmentStore {
  const references = createReferences(db);
  return {
    list,
    get: (organizationId, id) => get(db.query, organizationId, id),
    isTo,
    ...references,
    create,
    update,
    remove,
  };

  async function list(
    organizationId: bigint,
    filter: AssignmentFilter,
    { offset, limit }: { offset: number; limit: number },
    mine?: bigint,
  ) {
    const wanted = await idsOf(organizationId, filter);
    if (!wanted) return { items: [], total: 0 };
    const { roleId, toType, toId, onType, onId, reachedType, reachedId } = wanted;
    const values = [
      ...[organizationId, mine, roleId, toType, toId, onType, onId],
      ...[filter.expiresBefore, reachedType, reachedId],
    ];
    const { total } = only(await db.query<{ total: number }>(COUNT, values));
    const rows = await db.query<FullRow>(reachedType ? LIST_REACHING : LIST, [...values, offset, limit]);
    return { items: rows.map(toAssignment), total };
  }

  /** Undefined if the filter names what does not exist. */
  async function idsOf(organizationId: bigint, { role: named, to, on, reaching }: AssignmentFilter) {
    const found = named && (await references.role(organizationId, named));
    if (named && !found) return undefined;
    const whom = to && (await references.principal(organizationId, to, false));
    if (to && !whom) return undefined;
    const where = on && (await references.place(organizationId, on));
    if (on && (!where || where.id === undefined)) return undefined;
    const reached = reaching && (await references.place(organizationId, reaching));
    if (reaching && !reached) return undefined;
    return {
      ...{ reachedType: reached?.type, reachedId: reached?.id },
      ...{ roleId: found?.id, toType: whom?.type, toId: whom?.id, onType: where?.type },
      onId: where?.type === 'organization' ? 0n : where?.id,
    };
  }

  async function isTo({ to }: Assignment, callerId: bigint): Promise<boolean> {
    if (to.type !== 'team') return isPrincipal(to, callerId);
    return only(await db.query<{ yes: boolean }>(IS_IN_TEAM, [to.id, callerId])).yes;
  }

  async function create(setting: Setting, made: NewAssignment, once?: Once<Assignment>) {
    try {
      return await write<Assignment | 'not a member', Assignment>(async (query, touch, record, keep) => {
        const assignment = await insertAssignment({ query, touch, record }, quotas, setting, made);
        if (assignment !== 'not a member') keep(assignment);
        return assignment;
      }, once);
    } catch (error) {
      if (isAssignedTwice(error)) return 'already assigned';
      throw error;
    }
  }

  async function update(
    { organizationId, actor }: Setting,
    id: bigint,
    decide: (current: Assignment) => Pick<Assignment, 'reason' | 'expiresAt'>,
  ) {
    return await write(async (query, touch, record) => {
      const current = await locked(query, organizationId, id);
      if (!current) return undefined;
      const { reason, expiresAt } = decide(toAssignment(current));
      const isSame = reason === current.reason && expiresAt?.getTime() === current.expires_at?.getTime();
      if (isSame) return toAssignment(current);
      if (current.team_id !== null) query.later(RENEW_ROLE, [current.role_id]);
      query.later(UPDATE, [id, reason, expiresAt]);
      touchAssignment(touch, current);
      const row = known(await rowOf(query, organizationId, id));
      const states = { before: assignmentState(current), after: assignmentState(row) };
      record(about(row, 'assignment.update', actor, states));
      return toAssignment(row);
    });
  }

  async function remove({ organizationId, actor }: Setting, id: bigint, decide: (current: Assignment) => void) {
    return await write(async (query, touch, record) => {
      const current = await locked(query, organizationId, id);
      if (!current) return false;
      decide(toAssignment(current));
      if (current.team_id !== null) query.later(RENEW_ROLE, [current.role_id]);
      query.later(DELETE, [id]);
      touchAssignment(touch, current);
      record(about(current, 'assignment.delete', actor, { before: assignmentState(current) }));
      return true;
    });
  }
}

/** Makes an assignment as a part of a transaction. With a request, its role stays as it is until the transaction ends. */
export async function insertAssignment(
  { query, touch, record }: Transaction,
  quotas: Quotas,
  setting: Setting,
  made: NewAssignment,
  requestId: string | null = null,
): Promise<Assignment | 'not a member'> {
  const { organizationId, actor } = setting;
  query.later(JOIN, [organizationId]);
  query.later(requestId === null ? LOCK_ROLE : KEEP_ROLE, [made.role.id]);
  if (made.on.type === 'team') query.later(LOCK_TEAM, [made.on.id]);
  if (made.to.type === 'user' && !(await isStillMember(query, organizationId, made.to.id))) return 'not a member';
  const onId = made.on.type === 'cluster_set' ? await setId(query, organizationId, made.on.name) : made.on.id;
  const isOfRole = made.to.type === 'team' && made.on.type === 'organization';
  // Locked before there is a turn to wait for.
  if (isOfRole) await query(RENEW_ROLE, [made.role.id]);
  await requireWithinLimits(query, quotas, organizationId, made, isOfRole);
  const values = valuesOf(setting, made, onId, isOfRole, requestId);
  const { id } = only(await query<{ id: bigint }>(INSERT, values));
  const row = known(await rowOf(query, organizationId, id));
  touchAssignment(touch, row);
  record(about(row, 'assignment.create', actor, { after: assignmentState(row) }));
  return toAssignment(row);
}

/** Whether the same was assigned already. */
export function isAssignedTwice(error: unknown): boolean {
  return isUniqueViolation(error, 'assignment_place_key') || isUniqueViolation(error, 'assignment_role_team');
}

async function requireWithinLimits(
  query: TransactionQuery,
  quotas: Quotas,
  organizationId: bigint,
  made: NewAssignment,
  isOfRole: boolean,
): Promise<void> {
  const { id, type } = made.to;
  await quotas.require(query, { limit: 'assignmentsPerPrincipal', ownerId: id, count: TAKEN_BY[type] });
  await quotas.require(query, { limit: 'assignmentsPerOrganization', ownerId: organizationId, count: TAKEN });
  if (!isOfRole) return;
  const { teamsPerRole } = quotas.limits;
  const { taken } = only(await query<{ taken: number }>(TEAMS_OF_ROLE, [made.role.id, teamsPerRole]));
  if (taken >= teamsPerRole) throw limitReached('teamsPerRole', teamsPerRole, taken);
}

async function locked(query: TransactionQuery, organizationId: bigint, id: bigint): Promise<FullRow | undefined> {
  query.later(LOCK_ITS_ROLE, [organizationId, id]);
  query.later(LOCK, [organizationId, id]);
  return await rowOf(query, organizationId, id);
}

async function isStillMember(query: TransactionQuery, organizationId: bigint, userId: bigint): Promise<boolean> {
  await awaitAssignmentsOf(query, [userId]);
  return only(await query<{ yes: boolean }>(IS_MEMBER, [organizationId, userId])).yes;
}

/** Also of a set that has no cluster yet. */
async function setId(query: Query, organizationId: bigint, name: string): Promise<bigint> {
  return only(await query<{ id: bigint }>(ADD_SET, [organizationId, name])).id;
}

function valuesOf(
  { organizationId, actor }: Setting,
  { role, to, on, reason, expiresAt }: NewAssignment,
  onId: bigint | undefined,
  isOfRole: boolean,
  requestId: string | null,
): unknown[] {
  const whom = (type: PrincipalType) => (to.type === type ? to.id : null);
  const where = (type: PlaceType) => (on.type === type ? onId : null);
  const creator = principalOf(actor.id);
  return [
    ...[
      organizationId,
      role.id,
      isOfRole ? to.id : null,
      isOfRole ? null : whom('team'),
      whom('user'),
      whom('robot_ac'),
    ],
    ...[where('cluster'), where('cluster_set'), where('contract'), where('robot_ac'), where('team')],
    ...[reason, expiresAt, ...(actor.id === SERVER.id ? [null, null] : [creator.type, creator.id])],
    ...[on.namespaces ?? null, requestId],
  ];
}

async function get(query: Query, organizationId: bigint, id: bigint): Promise<Assignment | undefined> {
  const row = await rowOf(query, organizationId, id);
  return row && toAssignment(row);
}

async function rowOf(query: Query, organizationId: bigint, id: bigint): Promise<FullRow | undefined> {
  return (await query<FullRow>(GET, [organizationId, id]))[0];
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an assignment that was just written is not there');
  return value;
}

function toAssignment(row: FullRow): Assignment {
  const { created_by_type: type, created_by_id: creator, created_by_name: name } = row;
  return {
    id: row.id,
    organizationId: row.organization_id,
    role: { id: row.role_id, name: row.role_name, permissions: permissionsOf(row) },
    to: { type: row.to_type, id: row.to_id, name: row.to_name },
    on: {
      ...{ type: row.on_type, id: row.on_type === 'organization' ? row.organization_id : row.on_id },
      ...{ name: row.on_name, isOwners: row.is_owners, clusters: row.clusters ?? undefined },
      namespaces: row.namespaces,
    },
    ...{ reason: row.reason, expiresAt: row.expires_at, requestId: row.request_id },
    createdAt: row.assigned_at,
    createdBy: type !== null && creator !== null && name !== null ? { type, id: creator, name } : null,
    version: row.version,
  };
}
