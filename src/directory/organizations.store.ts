import { isUniqueViolation, type Query, sql } from '../db/db.ts';
import type { Change, Write } from './clock.ts';
import type { OrganizationDraft, OrganizationStore, TeamDraft } from './organizations.ts';

const INSERT = sql(
  'organizations.insert',
  `insert into account (kind, name, full_name, description) values ('organization', $1, $2, $3) returning id`,
);
const INSERT_TEAM = sql(
  'organizations.insertTeam',
  `insert into team (organization_id, name, description, permission, type) values ($1, $2, $3, $4, $5) returning id`,
);
const INSERT_MEMBER = sql(
  'organizations.insertMember',
  `insert into team_member (team_id, account_id)
   select t.id, a.id from team t, account a where t.id = $1 and a.id = $2 and a.kind = 'user'
   on conflict do nothing`,
);
// Locked, so that the two last owners cannot leave at the same moment.
const LOCK_TEAM = sql(
  'organizations.lockTeam',
  `select t.organization_id, t.permission,
          (select count(*)::integer from team_member m where m.team_id = t.id) as members,
          exists (select 1 from team_member m where m.team_id = t.id and m.account_id = $2) as is_member
     from team t where t.id = $1 for update of t`,
);
const DELETE_MEMBER = sql(
  'organizations.deleteMember',
  'delete from team_member where team_id = $1 and account_id = $2',
);
const IS_PERSON = sql('organizations.isPerson', `select id from account where id = $1 and kind = 'user'`);

interface TeamRow {
  organization_id: bigint;
  permission: string;
  members: number;
  is_member: boolean;
}

export function createOrganizationStore(write: Write): OrganizationStore {
  return { create, createTeam, addMember, removeMember };

  async function create(draft: OrganizationDraft) {
    try {
      return await write((query, touch) => insertOrganization(query, touch, draft));
    } catch (error) {
      if (isUniqueViolation(error, 'account_name')) return 'name taken';
      throw error;
    }
  }

  async function createTeam(organizationId: bigint, draft: TeamDraft) {
    try {
      return await write(async (query, touch) => {
        const id = await insertTeam(query, organizationId, draft);
        touch({ kind: 'team', id, organizationId });
        return id;
      });
    } catch (error) {
      if (isUniqueViolation(error, 'team_name')) return 'name taken';
      throw error;
    }
  }

  async function addMember(teamId: bigint, accountId: bigint): Promise<boolean> {
    return await write(async (query, touch) => {
      const [team] = await query<TeamRow>(LOCK_TEAM, [teamId, accountId]);
      const [person] = await query(IS_PERSON, [accountId]);
      if (!team || !person) return false;
      await query(INSERT_MEMBER, [teamId, accountId]);
      touch({ kind: 'account', id: accountId });
      touch({ kind: 'team', id: teamId, organizationId: team.organization_id });
      return true;
    });
  }

  async function removeMember(teamId: bigint, accountId: bigint) {
    return await write(async (query, touch) => {
      const [team] = await query<TeamRow>(LOCK_TEAM, [teamId, accountId]);
      if (!team?.is_member) return 'not a member';
      if (team.permission === 'owner' && team.members === 1) return 'last owner';
      await query(DELETE_MEMBER, [teamId, accountId]);
      touch({ kind: 'account', id: accountId });
      touch({ kind: 'team', id: teamId, organizationId: team.organization_id });
      return 'removed';
    });
  }
}

/** For transactions that make an organization together with something else. */
export async function insertOrganization(query: Query, touch: (change: Change) => void, draft: OrganizationDraft) {
  const [row] = await query<{ id: bigint }>(INSERT, [draft.name, draft.fullName, draft.description]);
  const id = row?.id ?? 0n;
  const teamIds: bigint[] = [];
  for (const team of draft.teams) teamIds.push(await insertTeam(query, id, team));
  await query(INSERT_MEMBER, [teamIds[0], draft.founderId]);
  touch({ kind: 'account', id, organizationId: id });
  touch({ kind: 'account', id: draft.founderId });
  for (const team of teamIds) touch({ kind: 'team', id: team, organizationId: id });
  return { id, teamIds };
}

async function insertTeam(query: Query, organizationId: bigint, draft: TeamDraft): Promise<bigint> {
  const values = [organizationId, draft.name, draft.description, draft.permission, draft.type];
  const [row] = await query<{ id: bigint }>(INSERT_TEAM, values);
  return row?.id ?? 0n;
}
