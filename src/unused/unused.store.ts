import { ASSIGNMENT, type AssignmentRow } from '../authz/places/assignment-row.rows.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { type Db, only, sql } from '../db/db.ts';
import { keyOf, permissionKey } from './credits.ts';
import type { Grant, UnusedStore } from './unused.ts';

const START = sql('unused.start', 'select started_at from access_use_start where id = 1');
const USES = sql(
  'unused.uses',
  `select principal_id, object_type, object_id, relation, last_day::text as day from access_use
    where organization_id = $1 and object_type <> 'user'
    order by last_day desc, principal_id, object_type, object_id, relation`,
);
const ASSIGNMENTS = sql(
  'unused.assignments',
  `select ${ASSIGNMENT}, s.assigned_at, coalesce((select t.permission = 'owner' from team t where t.id = s.on_team_id), false) as is_owners
     from assignment s where s.organization_id = $1 order by s.id`,
);
const MEMBERSHIPS = sql(
  'unused.memberships',
  `select t.id as team_id, t.name as team_name, a.id as user_id, a.name as user_name, m.created_at
     from team t join team_member m on m.team_id = t.id join account a on a.id = m.account_id
    where t.organization_id = $1 order by t.id, a.id`,
);
// When a permission was added is not known, but it was before the last change of its role.
const PERMISSIONS = sql(
  'unused.permissions',
  `select r.id as role_id, r.name as role_name, p.namespace, p.action, p.relation, r.updated_at
     from role r join role_permission p on p.role_id = r.id
    where r.organization_id = $1 order by r.id, p.namespace, p.action`,
);

interface UseRow {
  principal_id: bigint;
  object_type: string;
  object_id: bigint;
  relation: string;
  day: string;
}
interface MembershipRow {
  team_id: bigint;
  team_name: string;
  user_id: bigint;
  user_name: string;
  created_at: Date;
}
interface PermissionRow {
  role_id: bigint;
  role_name: string;
  namespace: string;
  action: string;
  relation: string;
  updated_at: Date;
}

export function createUnusedStore(db: Db): UnusedStore {
  return {
    async trackedSince() {
      return only(await db.query<{ started_at: Date }>(START)).started_at;
    },

    async uses(organizationId) {
      const rows = await db.query<UseRow>(USES, [organizationId]);
      return rows.map((row) => ({
        user: subjectOfPrincipal(row.principal_id),
        relation: row.relation,
        object: `${row.object_type}:${row.object_id}`,
        day: row.day,
      }));
    },

    async grants(organizationId) {
      const assignments = await db.query<AssignmentRow & { assigned_at: Date; is_owners: boolean }>(ASSIGNMENTS, [
        organizationId,
      ]);
      const memberships = await db.query<MembershipRow>(MEMBERSHIPS, [organizationId]);
      const permissions = await db.query<PermissionRow>(PERMISSIONS, [organizationId]);
      return [...memberships.map(toMembership), ...assignments.map(toAssignment), ...permissions.map(toPermission)];
    },
  };
}

function toMembership(row: MembershipRow): Grant {
  const tuple = { object: `team:${row.team_id}`, relation: 'member', user: `user:${row.user_id}` };
  return {
    kind: 'membership',
    key: keyOf(tuple) ?? '',
    id: row.team_id,
    team: { id: row.team_id, name: row.team_name },
    to: { type: 'user', id: row.user_id, name: row.user_name },
    createdAt: row.created_at,
  };
}

function toAssignment(row: AssignmentRow & { assigned_at: Date; is_owners: boolean }): Grant {
  const user = `${row.to_type}:${row.to_id}${row.to_type === 'team' ? '#member' : ''}`;
  const object = row.on_type === 'organization' ? `role:${row.role_id}` : `assignment:${row.id}`;
  return {
    kind: 'assignment',
    key: keyOf({ object, relation: 'assignee', user }) ?? '',
    id: row.id,
    role: { id: row.role_id, name: row.role_name },
    to: { type: row.to_type, id: row.to_id, name: row.to_name },
    on: {
      type: row.on_type,
      id: row.on_type === 'organization' ? row.organization_id : row.on_id,
      name: row.on_name,
      isOwners: row.is_owners,
      namespaces: row.namespaces,
    },
    createdAt: row.assigned_at,
  };
}

function toPermission(row: PermissionRow): Grant {
  return {
    kind: 'permission',
    key: permissionKey(`role:${row.role_id}`, row.relation),
    id: row.role_id,
    role: { id: row.role_id, name: row.role_name },
    permission: { namespace: row.namespace, action: row.action },
    createdAt: row.updated_at,
  };
}
