import { endAssignments } from '../authz/places/end-assignments.store.ts';
import { mapInSlices, yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Write } from '../changes/write.ts';
import { type Db, type Query, sql } from '../db/db.ts';
import { applyGuardrails, readGuardrails } from '../guardrails/guardrail-file.store.ts';
import { applyAssignments, readAssignmentsNow } from './assignment-file.store.ts';
import type { WantedAssignment } from './assignment-plan.ts';
import type { RoleFileDecision, RoleFileNow, RoleFileStore } from './role-file.ts';
import type { Plan, StoredRole, Team } from './role-plan.ts';
import { nameKey, readRoles, toState, withoutTeams } from './roles.store.ts';
import type { RoleDraft } from './roles.ts';

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
  `delete from assignment t using unnest($1::bigint[], $2::bigint[]) as gone (role_id, team_id)
    where t.role_id = gone.role_id and t.team_id = gone.team_id`,
);
const ADD_TEAMS = sql(
  'roleFile.addTeams',
  `insert into assignment (role_id, team_id) select n.role_id, n.team_id
     from unnest($1::bigint[], $2::bigint[]) as n (role_id, team_id) on conflict do nothing`,
);
const SET_ENDS = sql(
  'roleFile.setEnds',
  `update assignment t set expires_at = n.expires_at, version = t.version + 1
     from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) as n (role_id, team_id, expires_at)
    where t.role_id = n.role_id and t.team_id = n.team_id`,
);

/** Written with one round of statements, none of which may take long. */
const ROLES_AT_ONCE = 25;

/** A role that is written, with its ID. */
interface Written {
  readonly id: bigint;
  readonly before: StoredRole | undefined;
  readonly draft: RoleDraft;
}

export function createRoleFileStore(db: Db, write: Write): RoleFileStore {
  return {
    read: (organizationId, wanted) => db.snapshot((query) => readRoleFile(query, organizationId, wanted, false)),
    change,
  };

  async function change<T extends RoleFileDecision>(
    organizationId: bigint,
    wanted: readonly WantedAssignment[] | undefined,
    decide: (now: RoleFileNow) => Promise<T>,
    actor: Actor,
  ): Promise<T | undefined> {
    return await write(async (query, touch, record) => {
      const [organization] = await query(LOCK_ORGANIZATION, [organizationId]);
      if (!organization) return undefined;
      await query(LOCK_ROLES, [organizationId]);
      const decision = await decide(await readRoleFile(query, organizationId, wanted, true));
      const { deletes } = decision.plan;
      const deletedIds = deletes.map(({ id }) => id);
      const ended = await endAssignments({ query, touch, record }, 'role', deletedIds, actor);
      if (deletes.length > 0) await query(DELETE, [deletedIds]);
      const written = await put(query, organizationId, decision.plan);
      for (const { id } of [...deletes, ...written]) touch({ kind: 'role', id, organizationId });
      const about = { actor, organizationId, objectType: 'role' };
      for (const role of deletes) {
        record({ ...about, action: 'role.delete', objectId: role.id, before: toState(withoutTeams(role, ended)) });
      }
      for (const { id, before, draft } of written) {
        const action = before ? 'role.update' : 'role.create';
        record({ ...about, action, objectId: id, before: before && toState(before), after: toState(draft) });
      }
      const { assignments, rules } = decision;
      const transaction = { query, touch, record };
      const created = new Map(written.map(({ id, draft }) => [nameKey(draft), id]));
      if (assignments) await applyAssignments(transaction, organizationId, assignments, created, actor);
      if (rules) await applyGuardrails([query, touch, record], organizationId, rules, actor);
      return decision;
    });
  }
}

/** A handful of statements for every few roles. */
async function put(query: Query, organizationId: bigint, { creates, updates }: Plan): Promise<Written[]> {
  const written: Written[] = [];
  for (let first = 0; first < creates.length; first += ROLES_AT_ONCE) {
    const created = await insert(query, organizationId, creates.slice(first, first + ROLES_AT_ONCE));
    await fill(query, created);
    written.push(...created);
    await yieldToEventLoop();
  }
  for (let first = 0; first < updates.length; first += ROLES_AT_ONCE) {
    const part = updates.slice(first, first + ROLES_AT_ONCE);
    const changed = part.map(({ current, next }) => ({ id: current.id, before: current, draft: next }));
    await query(UPDATE, [changed.map(({ id }) => id), ...columnsOf(changed.map(({ draft }) => draft))]);
    await query(CLEAR_PERMISSIONS, [changed.map(({ id }) => id)]);
    const gone = changed.flatMap(({ id, before, draft }) => pairs(id, without(before.teamIds, draft.teamIds)));
    await query(DROP_TEAMS, [gone.map(([role]) => role), gone.map(([, team]) => team)]);
    await fill(query, changed);
    written.push(...changed);
    await yieldToEventLoop();
  }
  return written;
}

async function fill(query: Query, written: readonly Written[]): Promise<void> {
  const granted = written.flatMap(({ id, draft }) => draft.permissions.map((one) => ({ id, ...one })));
  await query(ADD_PERMISSIONS, [
    granted.map(({ id }) => id),
    granted.map(({ namespace }) => namespace),
    granted.map(({ action }) => action),
    granted.map(({ relation }) => relation),
  ]);
  const joined = written.flatMap(({ id, before, draft }) => pairs(id, without(draft.teamIds, before?.teamIds ?? [])));
  await query(ADD_TEAMS, [joined.map(([role]) => role), joined.map(([, team]) => team)]);
  const moved = written.flatMap(({ id, before, draft }) =>
    draft.teamIds.flatMap((team) => {
      const end = draft.teamExpiries?.get(team) ?? null;
      return end?.getTime() === before?.teamExpiries?.get(team)?.getTime() ? [] : [{ id, team, end }];
    }),
  );
  if (moved.length === 0) return;
  await query(SET_ENDS, [moved.map(({ id }) => id), moved.map(({ team }) => team), moved.map(({ end }) => end)]);
}

async function insert(query: Query, organizationId: bigint, drafts: readonly RoleDraft[]): Promise<Written[]> {
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

/**
 * The names of teams are read once, not for each role that has them. In a transaction, the rows that are read are
 * locked.
 */
export async function readRoleFile(
  query: Query,
  organizationId: bigint,
  wanted: readonly WantedAssignment[] | undefined,
  locks: boolean,
): Promise<RoleFileNow> {
  const rows = await query<{ id: bigint; name: string }>(locks ? LOCK_TEAMS : TEAMS, [organizationId]);
  const teams = rows.map(({ id, name }): Team => ({ id, name }));
  const names = new Map(teams.map(({ id, name }) => [id, name]));
  const roles = await mapInSlices(await readRoles(query, organizationId), (role) => ({
    ...role,
    teamNames: role.teamIds.map((id) => names.get(id) ?? ''),
    teamEnds: new Map([...(role.teamExpiries ?? [])].map(([id, end]) => [names.get(id) ?? '', end])),
  }));
  const assignments = await readAssignmentsNow(query, organizationId, wanted, locks);
  return { teams, roles, assignments, rules: await readGuardrails(query, organizationId, locks) };
}
