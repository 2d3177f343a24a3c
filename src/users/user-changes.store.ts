import { endAssignmentsOfUser } from '../authz/places/end-assignments.store.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { type Change, PLATFORM, type Write } from '../changes/write.ts';
import { isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { endApprovals, endSessions } from '../identity/sessions/ended-sessions.store.ts';
import { deleteAccount, lockForRemoval } from './account-removal.store.ts';
import { eraseInLog } from './erasure/erasure.store.ts';
import type { Removal, StoredUser, UserFields, UserStore, UserUpdate } from './users.ts';

interface UserRow {
  id: bigint;
  name: string;
  full_name: string;
  email: string | null;
  language: string;
  description: string;
  website: string;
  location: string;
  is_admin: boolean;
  active: boolean;
  prohibit_login: boolean;
  version: number;
}

const GET = sql(
  'users.get',
  `select a.id, a.name, a.full_name, e.address as email, a.language, a.description, a.website, a.location, a.is_admin, a.active,
          a.prohibit_login, a.version
     from account a left join email e on e.account_id = a.id and e.is_primary where a.id = $1 and a.kind = 'user'`,
);
const LOCK = sql('users.lock', `select id from account where id = $1 and kind = 'user' for no key update`);
// Without this lock, two administrators who demote each other at the same moment would each see the other as remaining.
const ADMINISTRATORS = sql('users.turn', `select pg_advisory_xact_lock(hashtextextended('site administrators', 0))`);
const OTHERS = sql(
  'users.others',
  `select exists (select 1 from account where is_admin and kind = 'user' and active and not prohibit_login and id <> $1) as any`,
);
const UPDATE = sql(
  'users.update',
  `update account set full_name = $2, description = $3, website = $4, location = $5, is_admin = $6, active = $7,
          prohibit_login = $8, password_hash = coalesce($9, password_hash), language = $10, version = version + 1, updated_at = now()
    where id = $1`,
);
const OWN_ADDRESS = sql(
  'users.ownAddress',
  'select id from email where account_id = $1 and address_key = lower($2) and not is_primary',
);
const DELETE_PRIMARY = sql('users.deletePrimary', 'delete from email where account_id = $1 and is_primary');
const SET_PRIMARY = sql(
  'users.setPrimary',
  `insert into email (account_id, address, verified, is_primary) values ($1, $2, true, true)`,
);
const CONFIRM_PRIMARY = sql(
  'users.confirmPrimary',
  'update email set verified = true where account_id = $1 and is_primary and not verified',
);
const DELETE_ADDRESS = sql('users.deleteAddress', 'delete from email where id = $1');
const ORGANIZATIONS = sql(
  'users.organizations',
  `select distinct t.organization_id as id from team_member m join team t on t.id = m.team_id
    where m.account_id = $1 order by id`,
);
const TEAM_IDS = sql(
  'users.teamIds',
  'select array(select team_id from team_member where account_id = $1 order by team_id) as ids',
);
const TEAMS = sql(
  'users.teams',
  `select t.id, t.organization_id, t.name, o.name as organization_name,
          m.expires_at, t.permission = 'owner' and not exists (
            select 1 from team_member n where n.team_id = t.id and n.account_id <> $1) as is_only_owner,
          t.permission = 'owner' and not exists (
            select 1 from team_member n where n.team_id = t.id and n.account_id <> $1
               and (n.expires_at is null or m.expires_at is not null)) as is_last_owner
     from team_member m join team t on t.id = m.team_id join account o on o.id = t.organization_id
    where m.account_id = $1 and m.team_id = any($2::bigint[]) order by t.id`,
);
const TEAMS_AT_ONCE = 500;

interface TeamRow {
  id: bigint;
  organization_id: bigint;
  name: string;
  organization_name: string;
  expires_at: Date | null;
  is_only_owner: boolean;
  /** Those whose memberships expire do not take over from one whose membership does not. */
  is_last_owner: boolean;
}

type Touch = (change: Change) => void;

/**
 * Changes to existing users. There is always an active site administrator. Every organization keeps an owner, unless it
 * is left to the site administrators.
 */
export function createUserChanges(write: Write): Pick<UserStore, 'update' | 'remove' | 'recordView'> {
  return { update, remove, recordView };

  async function recordView(id: bigint, name: string, actor: Actor): Promise<void> {
    await write(async (_query, _touch, record) =>
      record({ ...about(actor, 'user.view_as', id), after: { username: name } }),
    );
  }

  async function update(id: bigint, decide: (current: StoredUser) => UserUpdate, actor: Actor) {
    try {
      return await write(async (query, touch, record) => {
        await takeAdministratorsTurn(query);
        query.later(LOCK, [id]);
        const current = await get(query, id);
        if (!current) return undefined;
        const next = decide(current);
        if (isActiveAdmin(current) && !isActiveAdmin(next) && !(await hasOthers(query, id)))
          return 'last administrator';
        const { passwordHash, confirmsEmail, ...said } = next;
        const texts = [said.fullName, said.description, said.website, said.location];
        const flags = [said.isAdmin, said.active, said.prohibitLogin];
        query.later(UPDATE, [id, ...texts, ...flags, passwordHash ?? null, said.language]);
        if (said.email !== current.email) await setPrimary(query, id, said.email);
        else if (confirmsEmail) await query(CONFIRM_PRIMARY, [id]);
        // Someone else may have signed in with the old password.
        if (passwordHash !== undefined) await endSessions(query, id);
        else if (!said.active || said.prohibitLogin) await endApprovals(query, id);
        touchUser(touch, id, said.isAdmin !== current.isAdmin);
        // Their organizations show them in lists. Other users do not see what else is touched about an account.
        const organizations = await query<{ id: bigint }>(ORGANIZATIONS, [id]);
        for (const one of organizations) touch({ kind: 'account', id, organizationId: one.id });
        const after = { ...toState(said), ...(passwordHash !== undefined && { password: 'changed' }) };
        record({ ...about(actor, 'user.update', id), before: { username: current.name, ...toState(current) }, after });
        return 'done';
      });
    } catch (error) {
      if (isUniqueViolation(error, 'email_address')) return 'email taken';
      throw error;
    }
  }

  async function remove(id: bigint, decide: (current: StoredUser) => void, actor: Actor, how: Removal) {
    return await write(async (query, touch, record) => {
      await query(ADMINISTRATORS);
      await lockForRemoval(query, id);
      const current = await get(query, id);
      if (!current) return undefined;
      decide(current);
      if (!how.isRestore && isActiveAdmin(current) && !(await hasOthers(query, id))) return 'last administrator';
      const teams = await teamsOf(query, id);
      const lastOwnerOf = teams.filter((team) => team.is_last_owner).map((team) => team.organization_name);
      if (lastOwnerOf.length > 0 && !how.orphans) return { lastOwnerOf };
      if (how.erases && !(await eraseInLog({ query, record }, id, actor))) return 'held';
      await endAssignmentsOfUser({ query, touch, record }, id, actor);
      await deleteAccount(query, touch, id);
      touchUser(touch, id, current.isAdmin);
      for (const team of teams) {
        const { organization_id: organizationId, id: teamId } = team;
        touch({ kind: 'team', id: teamId, organizationId });
        const until = team.expires_at && { expiresAt: team.expires_at };
        const before = { team: team.name, userId: id, username: current.name, ...until };
        const left = { organizationId, action: 'team.remove_member', objectType: 'team', objectId: teamId } as const;
        record({ actor, ...left, before, ...(team.is_only_owner && { after: { owners: 0 } }) });
      }
      record({ ...about(actor, 'user.delete', id), before: { username: current.name, ...toState(current) } });
      return 'done';
    });
  }
}

/** Taken before any row of a user is locked, by every transaction that may deactivate one. */
export async function takeAdministratorsTurn(query: Query): Promise<void> {
  await query(ADMINISTRATORS);
}

/** The address becomes the only primary one and counts as verified, because an administrator set it. */
async function setPrimary(query: Query, id: bigint, address: string): Promise<void> {
  const [own] = await query<{ id: bigint }>(OWN_ADDRESS, [id, address]);
  if (own) await query(DELETE_ADDRESS, [own.id]);
  await query(DELETE_PRIMARY, [id]);
  await query(SET_PRIMARY, [id, address]);
}

async function get(query: Query, id: bigint): Promise<StoredUser | undefined> {
  const [row] = await query<UserRow>(GET, [id]);
  if (!row) return undefined;
  const { full_name, email, is_admin, prohibit_login, ...same } = row;
  return { ...same, fullName: full_name, email: email ?? '', isAdmin: is_admin, prohibitLogin: prohibit_login };
}

/** A few at a time: there can be thousands, and a statement must not take long. */
async function teamsOf(query: Query, id: bigint): Promise<TeamRow[]> {
  const { ids } = only(await query<{ ids: bigint[] }>(TEAM_IDS, [id]));
  const teams: TeamRow[] = [];
  for (let first = 0; first < ids.length; first += TEAMS_AT_ONCE) {
    teams.push(...(await query<TeamRow>(TEAMS, [id, ids.slice(first, first + TEAMS_AT_ONCE)])));
  }
  return teams;
}

async function hasOthers(query: Query, id: bigint): Promise<boolean> {
  return only(await query<{ any: boolean }>(OTHERS, [id])).any;
}

function isActiveAdmin({ isAdmin, active, prohibitLogin }: UserFields): boolean {
  return isAdmin && active && !prohibitLogin;
}

function touchUser(touch: Touch, id: bigint, isPlatform: boolean): void {
  touch({ kind: 'account', id });
  if (isPlatform) touch({ kind: 'platform', id: PLATFORM, organizationId: PLATFORM });
}

/** Changes to users are in the audit log of the platform. */
function about(actor: Actor, action: AuditAction, id: bigint): AuditEntry {
  return { actor, organizationId: PLATFORM, action, objectType: 'user', objectId: id };
}

/** A user as the audit log shows them. */
function toState({
  fullName,
  email,
  language,
  description,
  website,
  location,
  isAdmin,
  active,
  prohibitLogin,
}: UserFields): object {
  return { fullName, email, language, description, website, location, isAdmin, active, prohibitLogin };
}
