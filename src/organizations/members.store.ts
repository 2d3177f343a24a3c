import type { RoleGrant, TeamGrant } from '../authz/escalation.ts';
import { limitReached } from '../base/config/limits.ts';
import type { Term } from '../base/expiry.ts';
import type { PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Change, Write } from '../changes/write.ts';
import { type Db, only, type Query, sql, type TransactionQuery } from '../db/db.ts';
import { PROFILE, type ProfileRow, toProfile } from '../users/profile.rows.ts';
import type { Transaction } from '../users/users.store.ts';
import type { GrantCondition, MemberStore, NamedTeam, Present, Removal, TeamMember } from './members.ts';

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const IN_TEAM = 'exists (select 1 from team_member m where m.team_id = $1 and m.account_id = a.id)';
const EXPIRES_AT =
  '(select m.expires_at from team_member m where m.team_id = $1 and m.account_id = a.id) as expires_at';

// Selects the rows of the page first, so that details are read for those rows only.
const OF_TEAM = sql(
  'members.ofTeam',
  `select ${PROFILE}, ${EXPIRES_AT} from (
     select * from account a where ${IN_TEAM} order by a.id offset $2 limit $3
   ) a ${EMAIL} order by a.id`,
);
const COUNT_TEAM = sql('members.countOfTeam', 'select count(*)::integer as total from team_member where team_id = $1');
const MEMBER = sql(
  'members.inTeam',
  `select ${PROFILE}, ${EXPIRES_AT} from account a ${EMAIL} where ${IN_TEAM} and a.id = $2`,
);
const TEAM_NAMED = sql(
  'members.teamNamed',
  'select id, type, permission from team where organization_id = $1 and name_key = lower($2)',
);

// Users are locked before teams wherever both are locked. Waits for an account that is being deleted.
const PERSON = sql('members.person', `select name from account where id = $1 and kind = 'user' for key share`);
const NAME = sql('members.name', 'select name from account where id = $1');
// Locked before anything about it is read: what a statement counted before it waited for a lock may no longer be true.
const LOCK_TEAM = sql('members.lockTeam', 'select id from team where id = $1 for update');
const LOCK_TEAMS = sql(
  'members.lockTeams',
  `select t.id from team t where t.organization_id = $1
      and exists (select 1 from team_member m where m.team_id = t.id and m.account_id = $2) order by t.id for update`,
);
const TEAM = sql(
  'members.team',
  `select t.id, t.organization_id, t.name, t.permission,
          (select count(*)::integer from team_member m where m.team_id = t.id) as members,
          exists (select 1 from team_member m where m.team_id = t.id and m.account_id = $2) as is_member,
          (select m.expires_at from team_member m where m.team_id = t.id and m.account_id = $2) as expires_at,
          exists (select 1 from team_member m where m.team_id = t.id and m.account_id <> $2
                     and m.expires_at is null) as has_others
     from team t where t.id = $1`,
);
const ROLES = sql(
  'members.roles',
  `select distinct p.namespace, p.action, p.relation from assignment rt join role_permission p on p.role_id = rt.role_id
    where rt.team_id = $1 order by p.namespace, p.action`,
);
const ASSIGNED = sql('members.assigned', 'select id from assignment where to_team_id = $1 order by id');
const IS_MEMBER = sql(
  'members.isMember',
  `select exists (select 1 from team_member m join team t on t.id = m.team_id
                   where m.account_id = $2 and t.organization_id = $1) as yes`,
);
const TAKEN = countTaken(
  'members.taken',
  `(select distinct m.account_id from team t join team_member m on m.team_id = t.id
     where t.organization_id = $1) as member`,
);
const TEAMS_TAKEN = countTaken('members.takenInTeams', 'team_member where account_id = $1');
const INSERT = sql('members.insert', 'insert into team_member (team_id, account_id, expires_at) values ($1, $2, $3)');
const UPDATE = sql('members.update', 'update team_member set expires_at = $3 where team_id = $1 and account_id = $2');
const DELETE = sql('members.delete', 'delete from team_member where team_id = $1 and account_id = $2');

/** A team, as far as an entry about one of its members says what it is. */
interface TeamName {
  readonly id: bigint;
  readonly organization_id: bigint;
  readonly name: string;
}

/** A team, and the membership of one user in it. */
interface TeamRow extends TeamName {
  permission: TeamGrant['permission'];
  members: number;
  is_member: boolean;
  expires_at: Date | null;
  /** Another member whose membership does not expire. */
  has_others: boolean;
}

interface MemberRow extends ProfileRow {
  expires_at: Date | null;
}

export type Touch = (change: Change) => void;

export function createMemberStore(db: Db, write: Write, quotas: Quotas): MemberStore {
  return {
    ofTeam,
    inTeam,
    teamNamed,
    add,
    remove,
    removeFromAll,
  };

  async function ofTeam(id: bigint, { offset, limit }: PageRequest) {
    const { total } = only(await db.query<{ total: number }>(COUNT_TEAM, [id]));
    const rows = await db.query<MemberRow>(OF_TEAM, [id, offset, limit]);
    return { items: rows.map(toMember), total };
  }

  async function inTeam(teamId: bigint, accountId: bigint) {
    const [row] = await db.query<MemberRow>(MEMBER, [teamId, accountId]);
    return row && toMember(row);
  }

  async function teamNamed(organizationId: bigint, name: string): Promise<NamedTeam | undefined> {
    const [row] = await db.query<NamedTeam & Record<string, unknown>>(TEAM_NAMED, [organizationId, name]);
    return row;
  }

  async function add(teamId: bigint, accountId: bigint, condition: GrantCondition, actor: Actor, term?: Term) {
    return await write(async (query, touch, record) => {
      const joined = await joinTeam({ query, touch, record }, quotas, { teamId, accountId, condition, actor, term });
      return joined !== undefined;
    });
  }

  async function remove(teamId: bigint, accountId: bigint, condition: GrantCondition, actor: Actor): Promise<Removal> {
    return await write(async (query, touch, record) =>
      leaveTeam({ query, touch, record }, { teamId, accountId, condition, actor }),
    );
  }

  async function removeFromAll(
    organizationId: bigint,
    accountId: bigint,
    condition: GrantCondition,
    actor: Actor,
    orphans: boolean,
  ): Promise<Removal> {
    return await write(async (query, touch, record) => {
      const locked = await query<{ id: bigint }>(LOCK_TEAMS, [organizationId, accountId]);
      const teams: TeamRow[] = [];
      for (const { id } of locked) teams.push(...(await query<TeamRow>(TEAM, [id, accountId])));
      const left = teams.filter((team) => team.is_member);
      if (left.length === 0) return 'not a member';
      for (const team of left) condition(await grantOfTeam(query, team), presentIn(team));
      if (left.some(isLastOwner) && !orphans) return 'last owner';
      for (const team of left) {
        leave(query, touch, team, accountId);
        record(await departure(query, actor, team, accountId));
      }
      return 'removed';
    });
  }
}

/** Who is to join or to leave a team. */
export interface MemberChange {
  readonly teamId: bigint;
  readonly accountId: bigint;
  readonly condition: GrantCondition;
  readonly actor: Actor;
  readonly term?: Term | undefined;
}

/**
 * Adds a member, or changes when the membership ends, as a part of a transaction. Undefined if the team or the user does
 * not exist. A transaction about several teams takes them in the order of their IDs.
 */
export async function joinTeam(
  { query, touch, record }: Transaction,
  quotas: Quotas,
  { teamId, accountId, condition, actor, term }: MemberChange,
): Promise<'joined' | 'was a member' | undefined> {
  const [person] = await query<{ name: string }>(PERSON, [accountId]);
  query.later(LOCK_TEAM, [teamId]);
  const [team] = await query<TeamRow>(TEAM, [teamId, accountId]);
  if (!team || !person) return undefined;
  condition(await grantOfTeam(query, team), presentIn(team));
  const { is_member: isMember, expires_at: expiresAt } = team;
  const end = term === undefined ? expiresAt : term;
  if (isMember && end?.getTime() === expiresAt?.getTime()) return 'was a member';
  if (!isMember) await requireWithinLimits(query, quotas, team, accountId);
  query.later(isMember ? UPDATE : INSERT, [teamId, accountId, end]);
  touchBoth(touch, team, accountId);
  const stateUntil = (until: Date | null) => memberState(team, accountId, person.name, until);
  record({
    ...about(actor, isMember ? 'team.update_member' : 'team.add_member', team),
    ...(isMember && { before: stateUntil(expiresAt) }),
    after: stateUntil(end),
  });
  return isMember ? 'was a member' : 'joined';
}

/** Removes a member as a part of a transaction. */
export async function leaveTeam(
  { query, touch, record }: Transaction,
  { teamId, accountId, condition, actor }: MemberChange,
): Promise<Removal> {
  query.later(LOCK_TEAM, [teamId]);
  const [team] = await query<TeamRow>(TEAM, [teamId, accountId]);
  if (!team?.is_member) return 'not a member';
  condition(await grantOfTeam(query, team), presentIn(team));
  if (isLastOwner(team)) return 'last owner';
  leave(query, touch, team, accountId);
  record(await departure(query, actor, team, accountId));
  return 'removed';
}

/** The team is locked, so its members are counted already. */
async function requireWithinLimits(
  query: TransactionQuery,
  quotas: Quotas,
  team: TeamRow,
  accountId: bigint,
): Promise<void> {
  const { membersPerTeam } = quotas.limits;
  if (team.members >= membersPerTeam) throw limitReached('membersPerTeam', membersPerTeam);
  const { yes } = only(await query<{ yes: boolean }>(IS_MEMBER, [team.organization_id, accountId]));
  if (!yes) {
    await quotas.require(query, { limit: 'membersPerOrganization', ownerId: team.organization_id, count: TAKEN });
  }
  await quotas.require(query, { limit: 'teamsPerUser', ownerId: accountId, count: TEAMS_TAKEN });
}

/** What a user gets with a team, as it is now. */
export async function grantOfTeam(query: Query, team: Pick<TeamRow, 'id' | 'permission'>): Promise<TeamGrant> {
  const roles = await query<RoleGrant & Record<string, unknown>>(ROLES, [team.id]);
  const assigned = await query<{ id: bigint }>(ASSIGNED, [team.id]);
  return { permission: team.permission, roles, assignmentIds: assigned.map(({ id }) => id) };
}

function presentIn({ is_member, expires_at, has_others }: TeamRow): Present {
  return { isMember: is_member, expiresAt: expires_at, hasOthers: has_others };
}

/** Owners whose memberships expire do not count, except for one who is left alone. */
function isLastOwner({ permission, members, expires_at, has_others }: TeamRow): boolean {
  return permission === 'owner' && (members === 1 || (expires_at === null && !has_others));
}

function toMember(row: MemberRow): TeamMember {
  return { profile: toProfile(row), expiresAt: row.expires_at };
}

function leave(query: TransactionQuery, touch: Touch, team: TeamRow, accountId: bigint): void {
  query.later(DELETE, [team.id, accountId]);
  touchBoth(touch, team, accountId);
}

export function touchBoth(touch: Touch, team: TeamName, accountId: bigint): void {
  touch({ kind: 'account', id: accountId });
  touch({ kind: 'team', id: team.id, organizationId: team.organization_id });
}

async function departure(query: Query, actor: Actor, team: TeamRow, accountId: bigint): Promise<AuditEntry> {
  const [person] = await query<{ name: string }>(NAME, [accountId]);
  const before = memberState(team, accountId, person?.name ?? '', team.expires_at);
  const after = team.permission === 'owner' && team.members === 1 ? { after: { owners: 0 } } : {};
  return { ...about(actor, 'team.remove_member', team), before, ...after };
}

export function about(actor: Actor, action: AuditAction, team: TeamName): AuditEntry {
  return { actor, organizationId: team.organization_id, action, objectType: 'team', objectId: team.id };
}

/** A membership as the audit log shows it. */
export function memberState(team: TeamName, userId: bigint, username: string, expiresAt: Date | null): object {
  return { team: team.name, userId, username, ...(expiresAt && { expiresAt }) };
}
