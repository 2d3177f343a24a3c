import type { Actor } from '../changes/audit-entry.ts';
import type { Write } from '../changes/write.ts';
import { type Db, type Query, sql } from '../db/db.ts';
import type { RoleFileStore } from './role-file.ts';
import type { Plan, RolesNow, StoredRole, Team } from './role-plan.ts';
import { nameKey, ROLE_COLUMNS, type RoleRow, toRole, toState } from './roles.store.ts';
import type { RoleDraft } from './roles.ts';

const READ = sql(
  'roleFile.read',
  `select ${ROLE_COLUMNS},
          array(select n.name from role_team t join team n on n.id = t.team_id where t.role_id = r.id order by t.team_id)
            as team_names
     from role r where r.organization_id = $1 order by r.id`,
);
const TEAMS = sql('roleFile.teams', 'select id, name from team where organization_id = $1 order by id');
// Creating a role locks its organization, changing one locks the role, so an import serialises with both.
const LOCK_ORGANIZATION = sql(
  'roleFile.lockOrganization',
  `select id from account where id = $1 and kind = 'organization' for update`,
);
const LOCK_ROLES = sql('roleFile.lockRoles', 'select id from role where organization_id = $1 order by id for update');
const LOCK_TEAMS = sql('roleFile.lockTeams', `${TEAMS.text} for key share`);
const DELETE = sql('roleFile.delete', 'delete from role where id = any($1::bigint[])');
const INSERT = sql(
  'roleFile.insert',
  `insert into role (organization_id, name, name_key, description)
   select $1, r.name, r.name_key, r.description
     from unnest($2::text[], $3::text[], $4::text[]) with ordinality as r (name, name_key, description, place)
    order by r.place
   returning id, name_key`,
);
const UPDATE = sql(
  'roleFile.update',
  `update role set name = n.name, name_key = n.name_key, description = n.description, version = version + 1,
          updated_at = greatest(now(), updated_at)
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as n (id, name, name_key, description)
    where role.id = n.id`,
);
const CLEAR_PERMISSIONS = sql(
  'roleFile.clearPermissions',
  'delete from role_permission where role_id = any($1::bigint[])',
);
const ADD_PERMISSIONS = sql(
  'roleFile.addPermissions',
  `insert into role_permission (role_id, namespace, action, relation)
   select p.role_id, p.namespace, p.action, p.relation
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as p (role_id, namespace, action, relation)`,
);
const DROP_TEAMS = sql(
  'roleFile.dropTeams',
  `delete from role_team using unnest($1::bigint[], $2::bigint[]) as gone (role_id, team_id)
    where role_team.role_id = gone.role_id and role_team.team_id = gone.team_id`,
);
const ADD_TEAMS = sql(
  'roleFile.addTeams',
  `insert into role_team (role_id, team_id) select n.role_id, n.team_id
     from unnest($1::bigint[], $2::bigint[]) as n (role_id, team_id) on conflict do nothing`,
);

/** A role that is written, with its ID. */
interface Written {
  readonly id: bigint;
  readonly before: StoredRole | undefined;
  readonly draft: RoleDraft;
}

export function createRoleFileStore(db: Db, write: Write): RoleFileStore {
  return { read: (organizationId) => read(db.query, organizationId, TEAMS), change };

  async function change<T extends { readonly plan: Plan }>(
    organizationId: bigint,
    decide: (now: RolesNow) => T,
    actor: Actor,
  ): Promise<T | undefined> {
    return await write(async (query, touch, record) => {
      const [organization] = await query(LOCK_ORGANIZATION, [organizationId]);
      if (!organization) return undefined;
      await query(LOCK_ROLES, [organizationId]);
      const decision = decide(await read(query, organizationId, LOCK_TEAMS));
      const { deletes } = decision.plan;
      if (deletes.length > 0) await query(DELETE, [deletes.map(({ id }) => id)]);
      const written = await put(query, organizationId, decision.plan);
      for (const { id } of [...deletes, ...written]) touch({ kind: 'role', id, organizationId });
      const about = { actor, organizationId, objectType: 'role' };
      for (const role of deletes) {
        record({ ...about, action: 'role.delete', objectId: role.id, before: toState(role) });
      }
      for (const { id, before, draft } of written) {
        const action = before ? 'role.update' : 'role.create';
        record({ ...about, action, objectId: id, before: before && toState(before), after: toState(draft) });
      }
      return decision;
    });
  }
}

/** A handful of statements, however many roles there are. */
async function put(query: Query, organizationId: bigint, { creates, updates }: Plan): Promise<Written[]> {
  const changed = updates.map(({ current, next }) => ({ id: current.id, before: current, draft: next }));
  const written: Written[] = [...(await insert(query, organizationId, creates)), ...changed];
  if (written.length === 0) return [];
  if (changed.length > 0) {
    await query(UPDATE, [changed.map(({ id }) => id), ...columnsOf(changed.map(({ draft }) => draft))]);
    await query(CLEAR_PERMISSIONS, [changed.map(({ id }) => id)]);
    const gone = changed.flatMap(({ id, before, draft }) => pairs(id, without(before.teamIds, draft.teamIds)));
    await query(DROP_TEAMS, [gone.map(([role]) => role), gone.map(([, team]) => team)]);
  }
  const granted = written.flatMap(({ id, draft }) => draft.permissions.map((one) => ({ id, ...one })));
  await query(ADD_PERMISSIONS, [
    granted.map(({ id }) => id),
    granted.map(({ namespace }) => namespace),
    granted.map(({ action }) => action),
    granted.map(({ relation }) => relation),
  ]);
  const joined = written.flatMap(({ id, before, draft }) => pairs(id, without(draft.teamIds, before?.teamIds ?? [])));
  await query(ADD_TEAMS, [joined.map(([role]) => role), joined.map(([, team]) => team)]);
  return written;
}

async function insert(query: Query, organizationId: bigint, drafts: readonly RoleDraft[]): Promise<Written[]> {
  if (drafts.length === 0) return [];
  const rows = await query<{ id: bigint; name_key: string }>(INSERT, [organizationId, ...columnsOf(drafts)]);
  const ids = new Map(rows.map((row) => [row.name_key, row.id]));
  return drafts.map((draft) => {
    const id = ids.get(nameKey(draft));
    if (id === undefined) throw new Error(`the role ${draft.name} was not inserted`);
    return { id, before: undefined, draft };
  });
}

function columnsOf(drafts: readonly RoleDraft[]): string[][] {
  return [drafts.map(({ name }) => name), drafts.map(nameKey), drafts.map(({ description }) => description)];
}

function pairs(id: bigint, teamIds: readonly bigint[]): [bigint, bigint][] {
  return teamIds.map((team) => [id, team]);
}

function without(ids: readonly bigint[], others: readonly bigint[]): bigint[] {
  return ids.filter((id) => !others.includes(id));
}

async function read(query: Query, organizationId: bigint, teams: typeof TEAMS): Promise<RolesNow> {
  const known = await query<{ id: bigint; name: string }>(teams, [organizationId]);
  const rows = await query<RoleRow & { team_names: string[] }>(READ, [organizationId]);
  return {
    teams: known.map(({ id, name }): Team => ({ id, name })),
    roles: rows.map((row) => ({ ...toRole(row), teamNames: row.team_names })),
  };
}
