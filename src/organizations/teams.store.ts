import { endAssignments } from '../authz/places/end-assignments.store.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, known, only, type Query, sql } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import type { TeamDraft } from './built-in-teams.ts';
import { TEAM, type TeamRow, toTeam } from './organization.rows.ts';
import type { Team, TeamStore } from './teams.ts';

const LISTED = 't.organization_id = $1 and t.name_key like $2 and ($3::bigint[] is null or t.id = any($3))';
const IN_ORDER = `order by t.permission <> 'owner', t.name_key collate "C", t.id`;
// Selects the rows of the page first, so that roles and members are looked up for those rows only.
const LIST = sql(
  'teams.list',
  `select ${TEAM} from (select * from team t where ${LISTED} ${IN_ORDER} offset $4 limit $5) t
     join account o on o.id = t.organization_id ${IN_ORDER}`,
);
const COUNT = sql('teams.count', `select count(*)::integer as total from team t where ${LISTED}`);
const GET = sql('teams.get', `select ${TEAM} from team t join account o on o.id = t.organization_id where t.id = $1`);
// Waits for an organization that is being deleted at this moment.
const ORGANIZATION = sql(
  'teams.organization',
  `select id from account where id = $1 and kind = 'organization' for key share`,
);
const INSERT = sql(
  'teams.insert',
  `insert into team (organization_id, name, description, permission, type, units)
   select t.organization_id, t.name, t.description, t.permission, t.type,
          array(select json_array_elements_text(t.units::json))
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       as t (organization_id, name, description, permission, type, units)
   returning id, organization_id, name`,
);
const TAKEN = countTaken('teams.taken', 'team where organization_id = $1');
const LOCK = sql('teams.lock', 'select id from team where id = $1 for update');
// Roles are locked before teams wherever both are locked: a change of a role looks up its teams afterwards.
const LOCK_ROLES = sql(
  'teams.lockRoles',
  `select r.id from role r where r.organization_id = (select t.organization_id from team t where t.id = $1)
    order by r.id for update`,
);
const UPDATE = sql(
  'teams.update',
  `update team set name = $2, description = $3, permission = $4, units = $5::text[], version = version + 1 where id = $1`,
);
const DROP_ROLES = sql(
  'teams.dropRoles',
  `with gone as (delete from assignment where team_id = $1 returning role_id, expires_at)
   update role r set version = r.version + 1, updated_at = greatest(now(), r.updated_at)
     from gone where r.id = gone.role_id returning r.id, gone.expires_at`,
);
const DELETE = sql('teams.delete', 'delete from team where id = $1');
const MEMBERS = sql('teams.members', 'select array(select account_id from team_member where team_id = $1) as ids');
const ENDS = sql(
  'teams.ends',
  'select account_id as id, expires_at from team_member where team_id = $1 and expires_at is not null order by account_id',
);
const IS_SCIM = sql('teams.isScim', 'select exists (select 1 from scim_group where team_id = $1) as yes');
// There can be fifty thousand. They would be deleted with the team anyway, but in one statement, which the built-in
// database runs in this thread.
const DELETE_MEMBERS = sql(
  'teams.deleteMembers',
  'delete from team_member where team_id = $1 and account_id = any($2::bigint[])',
);
const AT_ONCE = 1000;

interface EndRow {
  id: bigint;
  expires_at: Date | null;
}

export function createTeamStore(db: Db, write: Write, quotas: Quotas): TeamStore {
  return { list, get: (id) => get(db.query, id), create, update, remove };

  async function list(
    organizationId: bigint,
    text: string,
    { offset, limit }: PageRequest,
    among?: readonly bigint[],
  ): Promise<Page<Team>> {
    const pattern = likeText(text);
    const { total } = only(await db.query<{ total: number }>(COUNT, [organizationId, pattern, among]));
    const rows = await db.query<TeamRow>(LIST, [organizationId, pattern, among, offset, limit]);
    return { items: rows.map(toTeam), total };
  }

  async function create(organizationId: bigint, draft: TeamDraft, actor: Actor, once?: Once<Team>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        const [organization] = await query(ORGANIZATION, [organizationId]);
        if (!organization) return undefined;
        await quotas.require(query, { limit: 'teamsPerOrganization', ownerId: organizationId, count: TAKEN });
        const id = only(await insertTeams(query, [{ ...draft, organizationId }]));
        touch({ kind: 'team', id, organizationId, isNew: true });
        const created = await get(query, id);
        if (!created) return undefined;
        record({ ...about(actor, 'team.create', created), after: toState(draft) });
        keep(created);
        return created;
      }, once),
    );
  }

  async function update(id: bigint, decide: (current: Team) => TeamDraft, actor: Actor) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        query.later(LOCK, [id]);
        const current = await get(query, id);
        if (!current) return undefined;
        const next = decide(current);
        query.later(UPDATE, [id, next.name, next.description, next.permission, next.units ?? []]);
        touch({ kind: 'team', id, organizationId: current.organization.id });
        // The permission of a user in an organization is remembered with the user.
        if (next.permission !== current.permission) {
          for (const member of await membersOf(query, id)) touch({ kind: 'account', id: member });
        }
        record({ ...about(actor, 'team.update', current), before: toState(current), after: toState(next) });
        return await get(query, id);
      }),
    );
  }

  async function remove(id: bigint, decide: (current: Team) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      query.later(LOCK_ROLES, [id]);
      query.later(LOCK, [id]);
      const current = await get(query, id);
      if (!current) return false;
      decide(current);
      const organizationId = current.organization.id;
      const members = await membersOf(query, id);
      const memberEnds = endsIn('memberEnds', await query<EndRow>(ENDS, [id]));
      const isScim = only(await query<{ yes: boolean }>(IS_SCIM, [id])).yes;
      await endAssignments({ query, touch, record }, 'team', [id], actor);
      // No entry of its own says that these roles lost the team.
      const roles = await query<EndRow>(DROP_ROLES, [id]);
      const roleIds = roles.map((role) => role.id);
      for (const role of roleIds) touch({ kind: 'role', id: role, organizationId });
      for (let first = 0; first < members.length; first += AT_ONCE) {
        await query(DELETE_MEMBERS, [id, members.slice(first, first + AT_ONCE)]);
      }
      query.later(DELETE, [id]);
      touch({ kind: 'team', id, organizationId });
      for (const member of members) touch({ kind: 'account', id: member });
      const ends = { ...memberEnds, ...endsIn('roleEnds', roles) };
      const before = { ...toState(current), members, roleIds, ...ends, isScim };
      record({ ...about(actor, 'team.delete', current), before });
      return true;
    });
  }
}

/** Returns their IDs, in the same order. */
export async function insertTeams(
  query: Query,
  drafts: readonly (TeamDraft & { readonly organizationId: bigint })[],
): Promise<bigint[]> {
  const rows = await query<{ id: bigint; organization_id: bigint; name: string }>(INSERT, [
    drafts.map(({ organizationId }) => organizationId),
    drafts.map(({ name }) => name),
    drafts.map(({ description }) => description),
    drafts.map(({ permission }) => permission),
    drafts.map(({ type }) => type),
    drafts.map(({ units }) => JSON.stringify(units ?? [])),
  ]);
  const ids = new Map(rows.map(({ id, organization_id, name }) => [`${organization_id} ${name}`, id]));
  return drafts.map(({ organizationId, name }) => known(ids.get(`${organizationId} ${name}`)));
}

async function get(query: Query, id: bigint): Promise<Team | undefined> {
  const [row] = await query<TeamRow>(GET, [id]);
  return row && toTeam(row);
}

async function membersOf(query: Query, id: bigint): Promise<bigint[]> {
  return only(await query<{ ids: bigint[] }>(MEMBERS, [id])).ids;
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'team_name')) return 'name taken';
    throw error;
  }
}

function about(actor: Actor, action: AuditAction, { id, organization }: Team): AuditEntry {
  return { actor, organizationId: organization.id, action, objectType: 'team', objectId: id };
}

/** When rows were to end, by ID, if any was. */
function endsIn(name: 'memberEnds' | 'roleEnds', rows: readonly EndRow[]): object {
  const ends = rows.flatMap(({ id, expires_at }) => (expires_at ? [[id, expires_at] as const] : []));
  return ends.length > 0 ? { [name]: Object.fromEntries(ends) } : {};
}

/** A team as the audit log shows it. */
function toState({ name, description, permission, units }: TeamDraft): object {
  return { name, description, permission, units: units ?? [] };
}
