import type { Actor } from '../changes/audit-entry.ts';
import type { Work } from '../changes/write.ts';
import { isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { takeAdministratorsTurn } from '../users/user-changes.store.ts';
import type { Candidate, Membership, ScimUser, ScimUserChanges, UserDraft } from './provisioning.ts';
import { findUser } from './scim-user.rows.ts';

const LOCK = sql('scimUsers.lock', `select id from account where id = $1 and kind = 'user' for no key update`);
const IS_FREE = sql(
  'scimUsers.isFree',
  `select exists (select 1 from account a join email e on e.account_id = a.id and e.is_primary and e.verified
     where a.id = $1 and not a.is_admin and e.address_key = lower($2)
       and not exists (select 1 from scim_user o where o.account_id = a.id and o.is_owned)) as yes`,
);
const NAME_TAKEN = sql(
  'scimUsers.nameTaken',
  'select exists (select 1 from scim_user where organization_id = $1 and user_name_key = lower($2)) as yes',
);
// Users add further addresses themselves, those of other users too if addresses need no confirmation. So only the
// primary one says who a user is.
const CANDIDATE = sql(
  'scimUsers.candidate',
  `select a.id, a.name as login, a.active as is_usable, not a.is_admin and not exists (
            select 1 from scim_user o where o.account_id = a.id and o.is_owned) as is_free,
          exists (select 1 from scim_user l where l.account_id = a.id and l.organization_id = $1) as is_linked,
          exists (select 1 from team_member m join team t on t.id = m.team_id
                   where m.account_id = a.id and t.organization_id = $1) as is_member,
          v.id is not null as has_address
     from account a left join email v on v.account_id = a.id and v.is_primary and v.verified
                                     and v.address_key = lower($2)
    where a.kind = 'user' and (v.id is not null or (a.name_key = lower($3) and exists (
            select 1 from team_member m join team t on t.id = m.team_id
             where m.account_id = a.id and t.organization_id = $1)
          and not exists (select 1 from scim_user l where l.account_id = a.id and l.organization_id = $1)))
    order by v.id is null limit 1`,
);
// A directory creates people in bulk. Those with similar names take turns, so that none is rejected for the name of
// another.
const LOGIN_TURN = sql(
  'scimUsers.loginTurn',
  `select pg_advisory_xact_lock(hashtextextended('scim login ' || lower($1), 0))`,
);
const FREE_LOGIN = sql(
  'scimUsers.freeLogin',
  `select n.name from unnest($1::text[]) with ordinality as n (name, place)
    where not exists (select 1 from account a where a.name_key = lower(n.name))
      and not exists (select 1 from reserved_name r where r.name_key = lower(n.name))
    order by n.place limit 1`,
);
const SAVE = sql(
  'scimUsers.save',
  `insert into scim_user (organization_id, account_id, user_name, external_id, display_name, formatted_name, given_name,
                          family_name, email, email_type, is_owned, title, department, employee_number, cost_center,
                          manager, manager_name)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
   on conflict (organization_id, account_id) do update
      set user_name = excluded.user_name, external_id = excluded.external_id, display_name = excluded.display_name,
          formatted_name = excluded.formatted_name, given_name = excluded.given_name, family_name = excluded.family_name,
          email = excluded.email, email_type = excluded.email_type, is_owned = excluded.is_owned,
          title = excluded.title, department = excluded.department, employee_number = excluded.employee_number,
          cost_center = excluded.cost_center, manager = excluded.manager, manager_name = excluded.manager_name,
          updated_at = now()`,
);
const SET_ACTIVE = sql(
  'scimUsers.setActive',
  'update scim_user set active = $3, updated_at = now() where organization_id = $1 and account_id = $2',
);
const FORGET = sql('scimUsers.forget', 'delete from scim_user where organization_id = $1 and account_id = $2');
const MEMBERSHIPS = sql(
  'scimUsers.memberships',
  `select m.team_id, m.expires_at from team_member m join team t on t.id = m.team_id
    where m.account_id = $2 and t.organization_id = $1 order by m.team_id`,
);
const SUSPEND = sql(
  'scimUsers.suspend',
  `insert into scim_suspension (team_id, account_id, expires_at)
   select m.team_id, $1, m.expires_at from unnest($2::bigint[], $3::timestamptz[]) as m (team_id, expires_at)
   on conflict (team_id, account_id) do update set expires_at = excluded.expires_at`,
);
// All teams before any user is counted into one of them: a transaction that holds a count must not wait for a team.
const LOCK_SUSPENDED = sql(
  'scimUsers.lockSuspended',
  `select t.id from team t join scim_suspension s on s.team_id = t.id
    where t.organization_id = $1 and s.account_id = $2 order by t.id for update of t`,
);
const RESUME = sql(
  'scimUsers.resume',
  `with gone as (
     delete from scim_suspension s using team t where t.id = s.team_id and t.organization_id = $1 and s.account_id = $2
     returning s.team_id, s.expires_at)
   select team_id, expires_at from gone where expires_at is null or expires_at > now() order by team_id`,
);
// Of those who are owners, a user must be left who can act, and whose membership lasts.
const LAST_OWNER_OF = sql(
  'scimUsers.lastOwnerOf',
  `select o.name from team_member m join team t on t.id = m.team_id and t.permission = 'owner'
     join account o on o.id = t.organization_id
    where m.account_id = $1 and not exists (
      select 1 from team_member n join account b on b.id = n.account_id
       where n.team_id = t.id and n.account_id <> $1 and n.expires_at is null and b.active and not b.prohibit_login)
    order by o.name`,
);

type Inside = {
  readonly query: Query;
  readonly record: Parameters<Work<void>>[2];
  readonly touch: Parameters<Work<void>>[1];
};

export function createScimUserChanges({ query, record, touch }: Inside): ScimUserChanges {
  const yes = async (statement: typeof IS_FREE, values: readonly unknown[]) =>
    only(await query<{ yes: boolean }>(statement, values)).yes;
  return {
    find: (organizationId, id) => findUser(query, organizationId, id),
    isFree: (id, address) => yes(IS_FREE, [id, address]),
    isNameTaken: (organizationId, userName) => yes(NAME_TAKEN, [organizationId, userName]),

    async lock(id) {
      await takeAdministratorsTurn(query);
      await query(LOCK, [id]);
    },

    async candidate(organizationId, email, userName): Promise<Candidate | undefined> {
      const [row] = await query<CandidateRow>(CANDIDATE, [organizationId, email, userName]);
      if (!row) return undefined;
      const { id, login, is_member, is_linked, is_usable, is_free, has_address } = row;
      const state = { isMember: is_member, isLinked: is_linked, isUsable: is_usable };
      return { id, login, ...state, isFree: is_free, hasAddress: has_address };
    },

    async freeLogin(names) {
      await query(LOGIN_TURN, [names[0] ?? '']);
      return (await query<{ name: string }>(FREE_LOGIN, [names])).at(0)?.name;
    },

    async save(organizationId, id, draft, isOwned) {
      try {
        await query(SAVE, [organizationId, id, ...valuesOf(draft), isOwned, ...workOf(draft)]);
        touch({ kind: 'account', id, organizationId });
        return 'done';
      } catch (error) {
        if (isUniqueViolation(error, 'scim_user_name')) return 'name taken';
        throw error;
      }
    },

    async setActive(organizationId, id, active) {
      await query(SET_ACTIVE, [organizationId, id, active]);
      touch({ kind: 'account', id, organizationId });
    },

    async forget(organizationId, id) {
      await query(FORGET, [organizationId, id]);
      touch({ kind: 'account', id, organizationId });
    },

    async memberships(organizationId, id) {
      return (await query<MembershipRow>(MEMBERSHIPS, [organizationId, id])).map(toMembership);
    },

    async suspend(id, memberships) {
      const columns = [memberships.map(({ teamId }) => teamId), memberships.map(({ expiresAt }) => expiresAt)];
      await query(SUSPEND, [id, ...columns]);
    },

    async resume(organizationId, id) {
      await query(LOCK_SUSPENDED, [organizationId, id]);
      return (await query<MembershipRow>(RESUME, [organizationId, id])).map(toMembership);
    },

    async lastOwnerOf(id) {
      return (await query<{ name: string }>(LAST_OWNER_OF, [id])).map(({ name }) => name);
    },

    record(organizationId: bigint, id: bigint, actor: Actor, before?: ScimUser, after?: ScimUser) {
      const action = after ? 'user.provision' : 'user.deprovision';
      const states = { ...(before?.isLinked && { before: toState(before) }), ...(after && { after: toState(after) }) };
      record({ actor, organizationId, action, objectType: 'user', objectId: id, ...states });
    },
  };
}

interface CandidateRow {
  id: bigint;
  login: string;
  is_member: boolean;
  is_linked: boolean;
  is_usable: boolean;
  is_free: boolean;
  has_address: boolean;
}

interface MembershipRow {
  team_id: bigint;
  expires_at: Date | null;
}

function valuesOf({ userName, externalId, displayName, email, emailType, ...names }: UserDraft): unknown[] {
  return [userName, externalId, displayName, names.formattedName, names.givenName, names.familyName, email, emailType];
}

function workOf({ title, department, employeeNumber, costCenter, manager, managerName }: UserDraft): unknown[] {
  return [title, department, employeeNumber, costCenter, manager, managerName];
}

function toMembership({ team_id, expires_at }: MembershipRow): Membership {
  return { teamId: team_id, expiresAt: expires_at };
}

/** A person as the audit log of the organization shows them. */
function toState({ login, userName, externalId, displayName, email, active, isOwned, ...user }: ScimUser): object {
  const { title, department, employeeNumber, costCenter, manager } = user;
  const work = Object.entries({ title, department, employeeNumber, costCenter, manager });
  return {
    ...{ username: login, userName, externalId, displayName, email, active, isOwned },
    ...Object.fromEntries(work.filter(([, text]) => text !== '')),
  };
}
