import { ASSIGNMENT, type AssignmentRow, assignmentState } from '../authz/places/assignment-row.rows.ts';
import { about, touchAssignment } from '../authz/places/end-assignments.store.ts';
import { SERVER } from '../changes/audit-entry.ts';
import type { Expirer } from '../changes/revision.ts';
import { sql } from '../db/db.ts';

// By the clock of the database, at the start of the transaction. The teams that were named by a role expire with an entry
// about the role.
const EXPIRED = sql(
  'expiredAssignments.find',
  `select s.id from assignment s where s.expires_at <= now() and (s.team_id is null or s.created_by_id is not null)
    order by s.expires_at limit $1`,
);
// Roles are locked before their assignments, in the order of their IDs, as in every change of a role. What was extended
// meanwhile stays.
const RENEW_ROLES = sql(
  'expiredAssignments.renewRoles',
  `update role r set version = r.version + 1, updated_at = greatest(now(), r.updated_at)
     from (select id from role
            where id in (select role_id from assignment where id = any($1::bigint[]) and team_id is not null)
            order by id for update) as locked
    where r.id = locked.id`,
);
const LOCK = sql(
  'expiredAssignments.lock',
  'select id from assignment where id = any($1::bigint[]) and expires_at <= now() order by id for update',
);
const ROWS = sql(
  'expiredAssignments.rows',
  `select ${ASSIGNMENT} from assignment s where s.id = any($1::bigint[]) order by s.id`,
);
const DELETE = sql('expiredAssignments.delete', 'delete from assignment where id = any($1::bigint[])');

/** Ends assignments whose time has come. */
export const expireAssignments: Expirer = async (query, touch, record, max) => {
  const found = await query<{ id: bigint }>(EXPIRED, [max]);
  if (found.length === 0) return 0;
  const ids = found.map(({ id }) => id);
  await query(RENEW_ROLES, [ids]);
  const gone = (await query<{ id: bigint }>(LOCK, [ids])).map(({ id }) => id);
  const rows = await query<AssignmentRow>(ROWS, [gone]);
  await query(DELETE, [gone]);
  for (const row of rows) {
    touchAssignment(touch, row);
    record(about(row, 'assignment.expire', SERVER, { before: assignmentState(row) }));
  }
  return found.length;
};
