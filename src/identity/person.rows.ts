import { principalOfRobot } from '../changes/principal.ts';
import type { Moment } from '../changes/revision.ts';
import type { Permission, Person, RobotIdentity } from './callers.ts';
import { FACTOR_KINDS } from './sessions/proof-kinds.ts';

export interface PersonRow extends Moment {
  id: bigint | null;
  name: string;
  full_name: string;
  email: string | null;
  language: string;
  location: string;
  website: string;
  description: string;
  is_admin: boolean;
  active: boolean;
  prohibit_login: boolean;
  last_login_at: Date | null;
  created_at: Date;
  password_hash: string | null;
  organization_ids: bigint[] | null;
  permissions: Permission[] | null;
  in_client_organization: boolean;
  has_passkey: boolean;
  has_totp: boolean;
}

/** The user with their teams, and the moment of the same snapshot. */
export const PERSON = `r.value as revision, r.stamp, a.id, a.name, a.full_name, e.address as email, a.language, a.location,
  a.website, a.description, a.is_admin, a.active, a.prohibit_login, a.last_login_at, a.created_at, a.password_hash,
  m.organization_ids, m.permissions, coalesce(m.in_client_organization, false) as in_client_organization,
  exists (select 1 from passkey f where f.account_id = a.id) as has_passkey,
  exists (select 1 from totp f where f.account_id = a.id) as has_totp`;
/** Joins for the revision `r` and an account `a`; conditions may follow. */
export const DETAILS = `
  left join email e on e.account_id = a.id and e.is_primary
  left join lateral (
    select array_agg(t.organization_id) as organization_ids, array_agg(t.permission) as permissions,
           bool_or(o.org_type = 'client') as in_client_organization
      from team_member tm join team t on t.id = tm.team_id join account o on o.id = t.organization_id
     where tm.account_id = a.id
  ) m on true
  where r.id = 1`;

export function toPerson(row: PersonRow & { id: bigint }): Person {
  return {
    id: row.id,
    login: row.name,
    fullName: row.full_name,
    email: row.email ?? '',
    language: row.language,
    location: row.location,
    website: row.website,
    description: row.description,
    isAdmin: row.is_admin,
    active: row.active,
    prohibitLogin: row.prohibit_login,
    lastLoginAt: row.last_login_at,
    createdAt: row.created_at,
    passwordHash: row.password_hash,
    organizations: highest(row.organization_ids ?? [], row.permissions ?? []),
    inClientOrganization: row.in_client_organization,
    secondFactors: FACTOR_KINDS.filter((kind) => (kind === 'passkey' ? row.has_passkey : row.has_totp)),
  };
}

/** A robot has no account of its own. While that of its organization may not be used, neither may the robot. */
export function personOfRobot({ id, name, organization }: RobotIdentity, account: Person, createdAt: Date): Person {
  return {
    id: principalOfRobot(id),
    login: `${organization.name}/${name}`,
    fullName: name,
    email: '',
    language: '',
    location: '',
    website: '',
    description: '',
    isAdmin: false,
    active: account.active,
    prohibitLogin: account.prohibitLogin,
    lastLoginAt: null,
    createdAt,
    passwordHash: null,
    organizations: new Map([[organization.id, 'none']]),
    inClientOrganization: false,
    secondFactors: [],
  };
}

const RANK: readonly Permission[] = ['none', 'read', 'write', 'admin', 'owner'];

function highest(organizations: readonly bigint[], permissions: readonly Permission[]): Map<bigint, Permission> {
  const best = new Map<bigint, Permission>();
  organizations.forEach((id, index) => {
    const permission = permissions[index] ?? 'none';
    const known = best.get(id);
    if (known === undefined || RANK.indexOf(permission) > RANK.indexOf(known)) best.set(id, permission);
  });
  return best;
}
