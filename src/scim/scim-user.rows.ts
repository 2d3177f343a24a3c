import { type Query, sql } from '../db/db.ts';
import { managerOf } from '../organizations/manager.rows.ts';
import type { ScimUser } from './provisioning.ts';
import type { Columns } from './scim-filter.store.ts';

export interface UserRow {
  id: bigint;
  login: string;
  user_name: string;
  external_id: string | null;
  display_name: string | null;
  formatted_name: string | null;
  given_name: string | null;
  family_name: string | null;
  email: string | null;
  email_type: string;
  title: string | null;
  department: string | null;
  employee_number: string | null;
  cost_center: string | null;
  manager: string | null;
  manager_name: string | null;
  manager_id: bigint | null;
  active: boolean;
  created_at: Date;
  updated_at: Date;
  is_linked: boolean;
  is_owned: boolean;
  is_usable: boolean;
  is_enabled: boolean;
}

// $1 is the organization.
const DETAILS = `left join scim_user s on s.organization_id = $1 and s.account_id = a.id
  left join email e on e.account_id = a.id and e.is_primary`;
/** Members, and those whom the provider has said something about. */
export const PEOPLE = `(select m.account_id as id from team t join team_member m on m.team_id = t.id
                  where t.organization_id = $1
                 union select l.account_id from scim_user l where l.organization_id = $1) p
  join account a on a.id = p.id and a.kind = 'user' ${DETAILS} where true`;
/** The same, for conditions that leave few accounts. */
export const AMONG = `account a ${DETAILS} where a.kind = 'user' and (s.account_id is not null or exists (
    select 1 from team_member m join team t on t.id = m.team_id
     where m.account_id = a.id and t.organization_id = $1))`;
/** The name at the provider. Until it has given one, the address that providers usually take for it. */
export const USER_NAME = 'coalesce(s.user_name, case when e.verified then e.address end, a.name)';
const DISPLAY_NAME = `nullif(case when s.account_id is null then a.full_name else s.display_name end, '')`;
const ADDRESS = `nullif(case when s.account_id is null then e.address else s.email end, '')`;
const ACTIVE = '(a.active and coalesce(s.active, true))';
const CREATED = 'coalesce(s.created_at, a.created_at)';
const UPDATED = 'greatest(a.updated_at, s.updated_at)';
export const SELECT = `select a.id, a.name as login, ${USER_NAME} as user_name, s.external_id, ${DISPLAY_NAME} as display_name,
  s.formatted_name, s.given_name, s.family_name, s.title, s.department, s.employee_number, s.cost_center, s.manager,
  s.manager_name, ${managerOf('s')} as manager_id, ${ADDRESS} as email, coalesce(s.email_type, 'work') as email_type,
  ${ACTIVE} as active, ${CREATED} as created_at, ${UPDATED} as updated_at, s.account_id is not null as is_linked,
  coalesce(s.is_owned and not a.is_admin, false) as is_owned, a.active as is_usable, coalesce(s.active, true) as is_enabled`;
const IN_GROUP = `exists (select 1 from (select team_id from team_member where account_id = a.id
    union select team_id from scim_suspension where account_id = a.id) g
  join team gt on gt.id = g.team_id and gt.organization_id = $1 where`;

const EMAILS = {
  value: { sql: ADDRESS, type: 'text' },
  type: { sql: `coalesce(s.email_type, 'work')`, type: 'text' },
  primary: { sql: 'true', type: 'boolean' },
} as const;
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user';
const text = (column: string) => ({ sql: `nullif(s.${column}, '')`, type: 'text' }) as const;
export const COLUMNS: Columns = {
  id: { sql: 'a.id', type: 'id' },
  externalid: { sql: 's.external_id', type: 'exact' },
  username: { sql: USER_NAME, type: 'text' },
  displayname: { sql: DISPLAY_NAME, type: 'text' },
  'name.formatted': text('formatted_name'),
  'name.givenname': text('given_name'),
  'name.familyname': text('family_name'),
  title: text('title'),
  [`${ENTERPRISE}:employeenumber`]: text('employee_number'),
  [`${ENTERPRISE}:costcenter`]: text('cost_center'),
  [`${ENTERPRISE}:department`]: text('department'),
  [`${ENTERPRISE}:manager`]: { sql: `nullif(s.manager, '')`, type: 'exact' },
  [`${ENTERPRISE}:manager.value`]: { sql: `nullif(s.manager, '')`, type: 'exact' },
  [`${ENTERPRISE}:manager.displayname`]: text('manager_name'),
  active: { sql: ACTIVE, type: 'boolean' },
  // There is one address, so nothing is looked for in a list.
  emails: { exists: '(', columns: EMAILS },
  'emails.value': EMAILS.value,
  'emails.type': EMAILS.type,
  'emails.primary': EMAILS.primary,
  groups: {
    exists: IN_GROUP,
    columns: { value: { sql: 'gt.id', type: 'id' }, display: { sql: 'gt.name', type: 'text' } },
  },
  'meta.created': { sql: CREATED, type: 'time' },
  'meta.lastmodified': { sql: UPDATED, type: 'time' },
  'meta.resourcetype': { sql: `'User'::text`, type: 'text' },
};

const FIND = sql('scimUsers.find', `${SELECT} from ${AMONG} and a.id = $2`);

export async function findUser(query: Query, organizationId: bigint, id: bigint): Promise<ScimUser | undefined> {
  const [row] = await query<UserRow>(FIND, [organizationId, id]);
  return row && toUser(row);
}

export function toUser(row: UserRow): ScimUser {
  return {
    id: row.id,
    login: row.login,
    userName: row.user_name,
    externalId: row.external_id,
    displayName: row.display_name ?? '',
    formattedName: row.formatted_name ?? '',
    givenName: row.given_name ?? '',
    familyName: row.family_name ?? '',
    email: row.email ?? '',
    emailType: row.email_type,
    title: row.title ?? '',
    department: row.department ?? '',
    employeeNumber: row.employee_number ?? '',
    costCenter: row.cost_center ?? '',
    manager: row.manager ?? '',
    managerName: row.manager_name ?? '',
    managerId: row.manager_id,
    active: row.active,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    isLinked: row.is_linked,
    isOwned: row.is_owned,
    isUsable: row.is_usable,
    isEnabled: row.is_enabled,
  };
}
