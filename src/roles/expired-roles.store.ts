import { SERVER } from '../changes/audit-entry.ts';
import type { Expirer } from '../changes/revision.ts';
import { sql } from '../db/db.ts';
import { getRoles, toState } from './roles.store.ts';

// By the clock of the database, at the start of the transaction.
const EXPIRED = sql(
  'expiredRoles.find',
  `select role_id, team_id from assignment
    where expires_at <= now() and team_id is not null and created_by_id is null order by expires_at limit $1`,
);
// As in every change of a role. What was extended meanwhile is not deleted.
const LOCK = sql('expiredRoles.lock', 'select id from role where id = any($1::bigint[]) order by id for update');
const DELETE = sql(
  'expiredRoles.delete',
  `delete from assignment t using unnest($1::bigint[], $2::bigint[]) as e (role_id, team_id)
    where t.role_id = e.role_id and t.team_id = e.team_id and t.expires_at <= now()
   returning t.role_id, t.team_id`,
);
const UPDATE = sql(
  'expiredRoles.update',
  `update role set version = version + 1, updated_at = greatest(now(), updated_at) where id = any($1::bigint[])`,
);

interface Assignment {
  role_id: bigint;
  team_id: bigint;
}

/** Ends assignments of roles whose time has come, with the same effects as any other change of those roles. */
export const expireRoles: Expirer = async (query, touch, record, max) => {
  const found = await query<Assignment>(EXPIRED, [max]);
  if (found.length === 0) return 0;
  const roleIds = [...new Set(found.map((one) => one.role_id))];
  await query(LOCK, [roleIds]);
  const roles = await getRoles(query, roleIds);
  const deleted = await query<Assignment>(DELETE, [found.map((one) => one.role_id), found.map((one) => one.team_id)]);
  const gone = Map.groupBy(deleted, (one) => one.role_id);
  await query(UPDATE, [[...gone.keys()]]);
  for (const role of roles) {
    const teams = new Set(gone.get(role.id)?.map((one) => one.team_id));
    if (teams.size === 0) continue;
    const { id, organizationId } = role;
    const after = {
      ...role,
      teamIds: role.teamIds.filter((team) => !teams.has(team)),
      teamExpiries: new Map([...(role.teamExpiries ?? [])].filter(([team]) => !teams.has(team))),
    };
    touch({ kind: 'role', id, organizationId });
    const about = { actor: SERVER, organizationId, action: 'role.expire', objectType: 'role', objectId: id } as const;
    record({ ...about, before: toState(role), after: toState(after) });
  }
  return found.length;
};
