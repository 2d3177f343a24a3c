import type { RoleGrant, TeamGrant } from '../authz/escalation.ts';
import { limitReached } from '../base/limits.ts';
import type { PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { type Room, roomFor } from '../changes/room.store.ts';
import type { Change, Write } from '../changes/write.ts';
import { type Db, only, type Query, type Statement, sql } from '../db/db.ts';
import { PROFILE, type ProfileRow, toProfile } from '../users/profile.rows.ts';
import type { GrantCondition, MemberStore, NamedTeam, Removal } from './members.ts';

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const IN_ORGANIZATION = `exists (select 1 from team t join team_member m on m.team_id = t.id
  where t.organization_id = $1 and m.account_id = a.id)`;
const IN_TEAM = 'exists (select 1 from team_member m where m.team_id = $1 and m.account_id = a.id)';

/** Selects the rows of the page first, so that details are read for those rows only. */
const pageOf = (condition: string) => `select ${PROFILE} from (
    select * from account a where ${condition} order by a.id offset $2 limit $3
  ) a ${EMAIL} order by a.id`;
const OF_ORGANIZATION = sql('members.ofOrganization', pageOf(IN_ORGANIZATION));
const COUNT_ORGANIZATION = sql(
  'members.countOfOrganization',
  `select count(distinct m.account_id)::integer as total
     from team t join team_member m on m.team_id = t.id where t.organization_id = $1`,
);
const OF_TEAM = sql('members.ofTeam', pageOf(IN_TEAM));
const COUNT_TEAM = sql('members.countOfTeam', 'select count(*)::integer as total from team_member where team_id = $1');
const MEMBER = sql('members.inTeam', `select ${PROFILE} from account a ${EMAIL} where ${IN_TEAM} and a.id = $2`);
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
          exists (select 1 from team_member m where m.team_id = t.id and m.account_id = $2) as is_member
     from team t where t.id = $1`,
);
const ROLES = sql(
  'members.roles',
  `select distinct p.namespace, p.action, p.relation from role_team rt join role_permission p on p.role_id = rt.role_id
    where rt.team_id = $1 order by p.namespace, p.action`,
);
const IS_MEMBER = sql(
  'members.isMember',
  `select exists (select 1 from team_member m join team t on t.id = m.team_id
                   where m.account_id = $2 and t.organization_id = $1) as yes`,
);
const ROOM = roomFor(
  'members.room',
  `(select distinct m.account_id from team t join team_member m on m.team_id = t.id
     where t.organization_id = $1) as member`,
);
const TEAMS_ROOM = roomFor('members.roomInTeams', 'team_member where account_id = $1');
const INSERT = sql('members.insert', 'insert into team_member (team_id, account_id) values ($1, $2)');
const DELETE = sql('members.delete', 'delete from team_member where team_id = $1 and account_id = $2');

interface TeamRow {
  id: bigint;
  organization_id: bigint;
  name: string;
  permission: TeamGrant['permission'];
  members: number;
  is_member: boolean;
}

type Touch = (change: Change) => void;

export function createMemberStore(db: Db, write: Write, room: Room): MemberStore {
  return {
    ofOrganization: (id, request) => list(OF_ORGANIZATION, COUNT_ORGANIZATION, id, request),
    ofTeam: (id, request) => list(OF_TEAM, COUNT_TEAM, id, request),
    inTeam,
    teamNamed,
    add,
    remove,
    removeFromAll,
  };

  async function list(page: Statement, count: Statement, id: bigint, { offset, limit }: PageRequest) {
    const { total } = only(await db.query<{ total: number }>(count, [id]));
    const rows = await db.query<ProfileRow>(page, [id, offset, limit]);
    return { items: rows.map(toProfile), total };
  }

  async function inTeam(teamId: bigint, accountId: bigint) {
    const [row] = await db.query<ProfileRow>(MEMBER, [teamId, accountId]);
    return row && toProfile(row);
  }

  async function teamNamed(organizationId: bigint, name: string): Promise<NamedTeam | undefined> {
    const [row] = await db.query<NamedTeam & Record<string, unknown>>(TEAM_NAMED, [organizationId, name]);
    return row;
  }

  async function add(teamId: bigint, accountId: bigint, condition: GrantCondition, actor: Actor) {
    return await write(async (query, touch, record) => {
      const [person] = await query<{ name: string }>(PERSON, [accountId]);
      await query(LOCK_TEAM, [teamId]);
      const [team] = await query<TeamRow>(TEAM, [teamId, accountId]);
      if (!team || !person) return false;
      condition(await grantOf(query, team));
      if (team.is_member) return true;
      await requireRoom(query, team, accountId);
      await query(INSERT, [teamId, accountId]);
      touchBoth(touch, team, accountId);
      const after = memberState(team, accountId, person.name);
      record({ ...about(actor, 'team.add_member', team), after });
      return true;
    });
  }

  async function remove(teamId: bigint, accountId: bigint, condition: GrantCondition, actor: Actor): Promise<Removal> {
    return await write(async (query, touch, record) => {
      await query(LOCK_TEAM, [teamId]);
      const [team] = await query<TeamRow>(TEAM, [teamId, accountId]);
      if (!team?.is_member) return 'not a member';
      condition(await grantOf(query, team));
      if (isLastOwner(team)) return 'last owner';
      await leave(query, touch, team, accountId);
      record(await departure(query, actor, team, accountId));
      return 'removed';
    });
  }

  async function removeFromAll(
    organizationId: bigint,
    accountId: bigint,
    condition: GrantCondition,
    actor: Actor,
  ): Promise<Removal> {
    return await write(async (query, touch, record) => {
      const locked = await query<{ id: bigint }>(LOCK_TEAMS, [organizationId, accountId]);
      const teams: TeamRow[] = [];
      for (const { id } of locked) teams.push(...(await query<TeamRow>(TEAM, [id, accountId])));
      const left = teams.filter((team) => team.is_member);
      if (left.length === 0) return 'not a member';
      for (const team of left) condition(await grantOf(query, team));
      if (left.some(isLastOwner)) return 'last owner';
      for (const team of left) {
        await leave(query, touch, team, accountId);
        record(await departure(query, actor, team, accountId));
      }
      return 'removed';
    });
  }

  /** The team is locked, so its members are counted already. */
  async function requireRoom(query: Query, team: TeamRow, accountId: bigint): Promise<void> {
    const { membersPerTeam } = room.limits;
    if (team.members >= membersPerTeam) throw limitReached('membersPerTeam', membersPerTeam);
    const { yes } = only(await query<{ yes: boolean }>(IS_MEMBER, [team.organization_id, accountId]));
    if (!yes) {
      await room.require(query, { limit: 'membersPerOrganization', ownerId: team.organization_id, count: ROOM });
    }
    await room.require(query, { limit: 'teamsPerUser', ownerId: accountId, count: TEAMS_ROOM });
  }
}

async function grantOf(query: Query, team: TeamRow): Promise<TeamGrant> {
  const roles = await query<RoleGrant & Record<string, unknown>>(ROLES, [team.id]);
  return { permission: team.permission, roles };
}

function isLastOwner({ permission, members }: TeamRow): boolean {
  return permission === 'owner' && members === 1;
}

async function leave(query: Query, touch: Touch, team: TeamRow, accountId: bigint): Promise<void> {
  await query(DELETE, [team.id, accountId]);
  touchBoth(touch, team, accountId);
}

function touchBoth(touch: Touch, team: TeamRow, accountId: bigint): void {
  touch({ kind: 'account', id: accountId });
  touch({ kind: 'team', id: team.id, organizationId: team.organization_id });
}

async function departure(query: Query, actor: Actor, team: TeamRow, accountId: bigint): Promise<AuditEntry> {
  const [person] = await query<{ name: string }>(NAME, [accountId]);
  const before = memberState(team, accountId, person?.name ?? '');
  return { ...about(actor, 'team.remove_member', team), before };
}

function about(actor: Actor, action: AuditAction, team: TeamRow): AuditEntry {
  return { actor, organizationId: team.organization_id, action, objectType: 'team', objectId: team.id };
}

function memberState(team: TeamRow, userId: bigint, username: string): object {
  return { team: team.name, userId, username };
}
