import type { AuditAction } from '../../changes/audit-actions.ts';
import { type Actor, type AuditEntry, SERVER } from '../../changes/audit-entry.ts';
import type { OBJECT_KINDS, PlaceType } from '../../changes/object-kinds.ts';
import type { Change, Finisher } from '../../changes/write.ts';
import { type Query, type Statement, sql } from '../../db/db.ts';
import { ASSIGNMENT, type AssignmentRow, assignmentState } from './assignment-row.rows.ts';

/** A transaction that ends assignments as a part of what it does. */
interface Transaction {
  readonly query: Query;
  readonly touch: (change: Change) => void;
  readonly record: (entry: AuditEntry) => void;
}

/** The kind of an object that is about to be deleted. */
type Deleted = Exclude<(typeof OBJECT_KINDS)[PlaceType | 'role']['source'], 'account'>;

/**
 * A team that has a role because a caller named the teams of the role: the entry about the role or the team tells it.
 */
const IS_TOLD = 's.team_id is not null and s.created_by_id is null';

const WHERE: Readonly<Record<Deleted, string>> = {
  role: 's.role_id = any($1::bigint[])',
  team: '(s.team_id = any($1::bigint[]) or s.to_team_id = any($1::bigint[]) or s.on_team_id = any($1::bigint[]))',
  robot: '(s.robot_id = any($1::bigint[]) or s.on_robot_id = any($1::bigint[]))',
  cluster: 's.on_cluster_id = any($1::bigint[])',
  contract: 's.on_contract_id = any($1::bigint[])',
};
const STATEMENTS = new Map(
  Object.entries(WHERE).map(([deleted, where]) => [
    deleted,
    { find: find(`endAssignments.find:${deleted}`, where), remove: remove(`endAssignments.remove:${deleted}`, where) },
  ]),
);
// Users who are in no team of the organization any more, as of the end of the transaction.
const LEFT = `s.user_id = any($1::bigint[]) and s.organization_id = any($2::bigint[]) and not exists (
     select 1 from team_member m join team t on t.id = m.team_id
      where m.account_id = s.user_id and t.organization_id = s.organization_id)`;
const FIND_LEFT = find('endAssignments.find:left', LEFT);
const REMOVE_LEFT = remove('endAssignments.remove:left', LEFT);
const FIND_ACCOUNT = find('endAssignments.find:account', 's.user_id = any($1::bigint[])');
const REMOVE_ACCOUNT = remove('endAssignments.remove:account', 's.user_id = any($1::bigint[])');
// Assigning a role to a user waits for a transaction in which that user leaves, and the other way round.
const TURN = sql(
  'endAssignments.turn',
  `select count(pg_advisory_xact_lock(hashtextextended('assignments of user', u.id)))
     from (select id from unnest($1::bigint[]) as u (id) order by id) u`,
);
const RENEW_ROLES = sql(
  'endAssignments.renewRoles',
  `update role set version = version + 1, updated_at = greatest(now(), updated_at) where id = any($1::bigint[])`,
);

function find(name: string, where: string): Statement {
  return sql(name, `select ${ASSIGNMENT} from assignment s where ${where} and not (${IS_TOLD}) order by s.id`);
}

function remove(name: string, where: string): Statement {
  return sql(name, `delete from assignment s where ${where} and not (${IS_TOLD})`);
}

/** Ends the assignments that name objects which are about to be deleted. The objects are locked, and still there. */
export async function endAssignments(
  transaction: Transaction,
  deleted: Deleted,
  ids: readonly bigint[],
  actor: Actor,
): Promise<AssignmentRow[]> {
  const statements = STATEMENTS.get(deleted);
  if (!statements || ids.length === 0) return [];
  const rows = await transaction.query<AssignmentRow>(statements.find, [ids]);
  if (rows.length > 0) await transaction.query(statements.remove, [ids]);
  await note(transaction, rows, actor, `${deleted}.delete`);
  return rows;
}

/** Ends the assignments of a user who is about to be deleted, in all organizations. */
export async function endAssignmentsOfUser(transaction: Transaction, id: bigint, actor: Actor): Promise<void> {
  const rows = await transaction.query<AssignmentRow>(FIND_ACCOUNT, [[id]]);
  if (rows.length > 0) await transaction.query(REMOVE_ACCOUNT, [[id]]);
  await note(transaction, rows, actor, 'user.delete');
}

/** Other transactions that add or end assignments of these users in the same moment wait until this one ends. */
export async function awaitAssignmentsOf(query: Query, userIds: readonly bigint[]): Promise<void> {
  await query(TURN, [userIds]);
}

/**
 * Ends the assignments of users whom a transaction has left without any team of an organization, in whatever way: it
 * looks at the end of the transaction, so that leaving one team and joining another ends nothing.
 */
export const endAssignmentsOfLeavers: Finisher = async (query, touched, touch, record, entries) => {
  const actor = entries[0]?.actor ?? SERVER;
  const organizations = touched.flatMap(({ kind, organizationId, isNew }) =>
    kind === 'team' && !isNew ? (organizationId ?? []) : [],
  );
  const users = touched.flatMap(({ kind, id }) => (kind === 'account' ? [id] : []));
  if (organizations.length === 0 || users.length === 0) return;
  const values = [[...new Set(users)], [...new Set(organizations)]] as const;
  // One after the other, in one trip to the database.
  const [, rows] = await Promise.all([awaitAssignmentsOf(query, values[0]), query<AssignmentRow>(FIND_LEFT, values)]);
  if (rows.length === 0) return;
  await query(REMOVE_LEFT, values);
  await note({ query, touch, record }, rows, actor, 'team.remove_member');
};

async function note(
  { query, touch, record }: Transaction,
  rows: readonly AssignmentRow[],
  actor: Actor,
  because: AuditAction | `${Deleted}.delete`,
): Promise<void> {
  const roles = [...new Set(rows.flatMap((row) => (row.team_id === null ? [] : [row.role_id])))];
  if (roles.length > 0) await query(RENEW_ROLES, [roles]);
  for (const row of rows) {
    touchAssignment(touch, row);
    record(about(row, 'assignment.end', actor, { before: assignmentState(row), after: { because } }));
  }
}

/** A team that has a role in the whole organization is a part of the role, for tuples and for answers about the role. */
export function touchAssignment(
  touch: (change: Change) => void,
  { id, organization_id: organizationId, team_id, role_id }: AssignmentRow,
): void {
  touch({ kind: 'assignment', id, organizationId });
  if (team_id !== null) touch({ kind: 'role', id: role_id, organizationId });
}

export function about(
  { id, organization_id }: Pick<AssignmentRow, 'id' | 'organization_id'>,
  action: AuditAction,
  actor: Actor,
  states: Pick<AuditEntry, 'before' | 'after'>,
): AuditEntry {
  return { actor, organizationId: organization_id, action, objectType: 'assignment', objectId: id, ...states };
}
