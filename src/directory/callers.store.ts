import { type Db, sql } from '../db/db.ts';
import type { CallerStore, Organization, Permission, Person, SessionGrant, TokenGrant } from './callers.ts';
import type { Loaded } from './exact-cache.ts';

interface PersonRow {
  revision: bigint;
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
}

interface TokenRow extends PersonRow {
  token_id: bigint;
  robot_id: bigint | null;
  scopes: string[];
  expires_at: Date | null;
}

interface SessionRow extends PersonRow {
  csrf: string;
  expires_at: Date;
}

/** The person with their teams, beside the revision of the same snapshot. */
const PERSON = `r.value as revision, a.id, a.name, a.full_name, e.address as email, a.language, a.location, a.website,
  a.description, a.is_admin, a.active, a.prohibit_login, a.last_login_at, a.created_at, a.password_hash,
  m.organization_ids, m.permissions, coalesce(m.in_client_organization, false) as in_client_organization`;
const DETAILS = `
  left join email e on e.account_id = a.id and e.is_primary
  left join lateral (
    select array_agg(t.organization_id) as organization_ids, array_agg(t.permission) as permissions,
           bool_or(o.org_type = 'client') as in_client_organization
      from team_member tm join team t on t.id = tm.team_id join account o on o.id = t.organization_id
     where tm.account_id = a.id
  ) m on true
  where r.id = 1`;

const BY_TOKEN = sql(
  'callers.byToken',
  `select ${PERSON}, k.id as token_id, k.robot_id, k.scopes, k.expires_at
     from revision r left join token k on k.hash = $1 left join account a on a.id = k.account_id ${DETAILS}`,
);
const BY_SESSION = sql(
  'callers.bySession',
  `select ${PERSON}, s.csrf, s.expires_at
     from revision r left join session s on s.hash = $1 left join account a on a.id = s.account_id ${DETAILS}`,
);
const BY_LOGIN = sql(
  'callers.byLogin',
  `select ${PERSON} from revision r left join account a on a.kind = 'user' and (a.name_key = $1
     or a.id = (select v.account_id from email v where v.address_key = $1 and v.verified)) ${DETAILS}`,
);
const ORGANIZATION = sql(
  'callers.organization',
  `select r.value as revision, a.id, a.name from revision r
     left join account a on a.name_key = $1 and a.kind = 'organization' where r.id = 1`,
);

export function createCallerStore(db: Db): CallerStore {
  return { byToken, bySession, byLogin, organization };

  async function byToken(hash: Buffer): Promise<Loaded<TokenGrant>> {
    const [row] = await db.query<TokenRow>(BY_TOKEN, [hash]);
    return loaded(row, (found) => ({
      person: toPerson(found),
      tokenId: found.token_id,
      robotId: found.robot_id,
      scopes: found.scopes,
      expiresAt: found.expires_at,
    }));
  }

  async function bySession(hash: Buffer): Promise<Loaded<SessionGrant>> {
    const [row] = await db.query<SessionRow>(BY_SESSION, [hash]);
    return loaded(row, (found) => ({ person: toPerson(found), csrf: found.csrf, expiresAt: found.expires_at }));
  }

  async function byLogin(login: string): Promise<Loaded<Person>> {
    const [row] = await db.query<PersonRow>(BY_LOGIN, [login]);
    return loaded(row, toPerson);
  }

  async function organization(name: string): Promise<Loaded<Organization>> {
    const [row] = await db.query<{ revision: bigint; id: bigint; name: string }>(ORGANIZATION, [name]);
    return loaded(row, ({ id, name: spelled }) => ({ id, name: spelled }));
  }
}

function loaded<Row extends { revision: bigint; id: bigint | null }, V>(
  row: Row | undefined,
  build: (row: Row & { id: bigint }) => V,
): Loaded<V> {
  const revision = row?.revision ?? 0n;
  return { revision, value: row && row.id !== null ? build({ ...row, id: row.id }) : undefined };
}

function toPerson(row: PersonRow & { id: bigint }): Person {
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
