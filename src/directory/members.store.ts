import { type Query, sql } from '../db/db.ts';
import type { Actor, AuditEntry } from './audit.ts';
import type { Change, Write } from './clock.ts';
import type { MemberStore, RoleGrant, TeamGrant } from './members.ts';

// People are locked before teams wherever both are. Somebody who is being deleted at this moment is waited for.
const PERSON = sql('members.person', `select name from account where id = $1 and kind = 'user' for key share`);
const NAME = sql('members.name', 'select name from account where id = $1');
// Locked before anything about it is read: what a statement that waits for a lock has counted may be over by then.
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

export function createMemberStore(write: Write): MemberStore {
  return { add, remove, removeFromAll };

  async function add(...[teamId, accountId, require, actor]: Parameters<MemberStore['add']>) {
    return await write(async (query, touch, record) => {
      const [person] = await query<{ name: string }>(PERSON, [accountId]);
      await query(LOCK_TEAM, [teamId]);
      const [team] = await query<TeamRow>(TEAM, [teamId, accountId]);
      if (!team || !person) return false;
      require(await grantOf(query, team));
      if (team.is_member) return true;
      await query(INSERT, [teamId, accountId]);
      touchBoth(touch, team, accountId);
      const after = memberState(team, accountId, person.name);
      if (actor) record({ ...about(actor, 'team.add_member', team), after });
      return true;
    });
  }

  async function remove(...[teamId, accountId, require, actor]: Parameters<MemberStore['remove']>) {
    return await write(async (query, touch, record) => {
      await query(LOCK_TEAM, [teamId]);
      const [team] = await query<TeamRow>(TEAM, [teamId, accountId]);
      if (!team?.is_member) return 'not a member';
      require(await grantOf(query, team));
      if (isLastOwner(team)) return 'last owner';
      await leave(query, touch, team, accountId);
      if (actor) record(await departure(query, actor, team, accountId));
      return 'removed';
    });
  }

  async function removeFromAll(
    ...[organizationId, accountId, require, actor]: Parameters<MemberStore['removeFromAll']>
  ) {
    return await write(async (query, touch, record) => {
      const locked = await query<{ id: bigint }>(LOCK_TEAMS, [organizationId, accountId]);
      const teams: TeamRow[] = [];
      for (const { id } of locked) teams.push(...(await query<TeamRow>(TEAM, [id, accountId])));
      const left = teams.filter((team) => team.is_member);
      if (left.length === 0) return 'not a member';
      for (const team of left) require(await grantOf(query, team));
      if (left.some(isLastOwner)) return 'last owner';
      for (const team of left) {
        await leave(query, touch, team, accountId);
        record(await departure(query, actor, team, accountId));
      }
      return 'removed';
    });
  }
}

async function grantOf(query: Query, team: TeamRow): Promise<TeamGrant> {
  const { id, organization_id, name, permission } = team;
  const roles = await query<RoleGrant & Record<string, unknown>>(ROLES, [id]);
  return { teamId: id, organizationId: organization_id, name, permission, roles };
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

function about(actor: Actor, action: string, team: TeamRow): AuditEntry {
  return { actor, organizationId: team.organization_id, action, objectType: 'team', objectId: team.id };
}

function memberState(team: TeamRow, userId: bigint, username: string): object {
  return { team: team.name, userId, username };
}
