import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import { type Db, only, type Statement, sql } from '../db/db.ts';
import { findPermission, inCatalogOrder } from '../roles/catalog.ts';
import type { AssignedPlace, AssignedRole, AssignmentInput, Principal } from './assignment.ts';
import { requireAgreement } from './assignment-input.ts';

/** The permissions of a role, as two lists of the same length. */
export interface PermissionColumns {
  areas: string[];
  actions: string[];
}

export const permissionColumns = (role: string) => `
  array(select p.namespace from role_permission p where p.role_id = ${role} order by p.namespace, p.action) as areas,
  array(select p.action from role_permission p where p.role_id = ${role} order by p.namespace, p.action) as actions`;
const NAMED = '($2::bigint is null or o.id = $2)';
const ROLE = sql(
  'assignments.role',
  `select o.id, o.name, ${permissionColumns('o.id')} from role o
    where o.organization_id = $1 and ${NAMED} and ($3::text is null or o.name_key = lower($3))`,
);
const MEMBER_OF = `exists (select 1 from team_member m join team t on t.id = m.team_id
  where m.account_id = o.id and t.organization_id = $1)`;
const PRINCIPALS: Readonly<Record<PrincipalType, Statement>> = {
  user: sql(
    'assignments.toUser',
    `select o.id, o.name from account o
      where o.kind = 'user' and ${NAMED} and ($3::text is null or o.name_key = lower($3)) and ${MEMBER_OF}`,
  ),
  team: sql(
    'assignments.toTeam',
    `select o.id, o.name from team o
      where o.organization_id = $1 and ${NAMED} and ($3::text is null or o.name_key = lower($3))`,
  ),
  robot_ac: sql('assignments.toRobot', owned('robot')),
};
const PLACES: Readonly<Record<Exclude<PlaceType, 'cluster_set'>, Statement>> = {
  organization: sql(
    'assignments.onOrganization',
    `select o.id, o.name from account o where o.id = $1 and ${NAMED} and ($3::text is null or o.name_key = lower($3))`,
  ),
  cluster: sql('assignments.onCluster', owned('cluster')),
  contract: sql('assignments.onContract', owned('contract')),
  robot_ac: sql('assignments.onRobot', owned('robot')),
  team: sql(
    'assignments.onTeam',
    `select o.id, o.name, o.permission = 'owner' as is_owners from team o
      where o.organization_id = $1 and ${NAMED} and ($3::text is null or o.name_key = lower($3))`,
  ),
};
const SET = sql(
  'assignments.onSet',
  `select (select id from cluster_set where organization_id = $1 and name = $2) as id,
          (select count(*)::integer from cluster where owner_id = $1 and cluster_set_name = $2 and cluster_set_name <> '') as clusters`,
);
function owned(table: string): string {
  return `select o.id, o.name from ${table} o where o.owner_id = $1 and ${NAMED} and ($3::text is null or o.name = $3)`;
}

/**
 * Finds what an assignment names, by ID or by name: the role, to whom, and on what. Whether the ID and the name of a place
 * agree is for the caller to say, who knows whether the place may be spoken of.
 */
export function createReferences(db: Db) {
  return { role, principal, place };

  async function role(organizationId: bigint, reference: AssignmentInput['role']): Promise<AssignedRole | undefined> {
    const byId = reference.id !== undefined;
    const [row] = await db.query<{ id: bigint; name: string } & PermissionColumns>(ROLE, [
      organizationId,
      reference.id,
      byId ? null : reference.name,
    ]);
    if (!row) return undefined;
    requireAgreement('role', reference, row);
    return { id: row.id, name: row.name, permissions: permissionsOf(row) };
  }

  async function principal(
    organizationId: bigint,
    reference: AssignmentInput['to'],
    mustAgree = true,
  ): Promise<Principal | undefined> {
    const type = reference.type as PrincipalType;
    const values = [organizationId, reference.id, reference.id === undefined ? reference.name : null];
    const [row] = await db.query<{ id: bigint; name: string }>(PRINCIPALS[type], values);
    if (!row) return undefined;
    if (mustAgree) requireAgreement('to', reference, row);
    return { type, id: row.id, name: row.name };
  }

  async function place(
    organizationId: bigint,
    reference: NonNullable<AssignmentInput['on']>,
  ): Promise<AssignedPlace | undefined> {
    const { type, id, name = '' } = reference;
    if (type === 'cluster_set') {
      const found = only(await db.query<{ id: bigint | null; clusters: number }>(SET, [organizationId, name]));
      return { type, id: found.id ?? undefined, name, clusters: found.clusters };
    }
    const statement = type in PLACES ? PLACES[type as keyof typeof PLACES] : undefined;
    if (!statement) return undefined;
    const values = [organizationId, id, id === undefined ? reference.name : null];
    const [row] = await db.query<{ id: bigint; name: string; is_owners?: boolean }>(statement, values);
    if (!row) return undefined;
    return { type: type as PlaceType, id: row.id, name: row.name, isOwners: row.is_owners ?? false };
  }
}

export function permissionsOf({ areas, actions }: PermissionColumns) {
  const pairs = areas.map((namespace, place) => ({ namespace, action: actions[place] ?? '' }));
  return inCatalogOrder(pairs.flatMap((pair) => findPermission(pair) ?? []));
}
