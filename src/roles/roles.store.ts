import { breath } from '../base/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { type Room, roomFor } from '../changes/room.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { findPermission, inCatalogOrder } from './catalog.ts';
import type { Principal, Rejection, Role, RoleDraft, RoleStore, TeamExpiries } from './roles.ts';

interface RoleRow {
  id: bigint;
  organization_id: bigint;
  name: string;
  description: string;
  version: number;
  created_at: Date;
  updated_at: Date;
  namespaces: string[];
  actions: string[];
  team_ids: bigint[];
  team_ends: (bigint | null)[];
}

interface PrincipalRow {
  id: bigint;
  name: string;
  assigned_at: Date;
  expires_at: Date | null;
}

const ROLES_IN_PAGE = 50;

const ROLE_COLUMNS = `r.id, r.organization_id, r.name, r.description, r.version, r.created_at, r.updated_at,
  array(select p.namespace from role_permission p where p.role_id = r.id order by p.namespace, p.action) as namespaces,
  array(select p.action from role_permission p where p.role_id = r.id order by p.namespace, p.action) as actions,
  array(select t.team_id from role_team t where t.role_id = r.id order by t.team_id) as team_ids,
  array(select (extract(epoch from t.expires_at) * 1000)::bigint from role_team t
         where t.role_id = r.id order by t.team_id) as team_ends`;

const PAGE = sql(
  'roles.page',
  `select ${ROLE_COLUMNS} from role r where r.organization_id = $1 and r.id > $2 order by r.id limit $3`,
);
const GET_SOME = sql(
  'roles.getSome',
  `select ${ROLE_COLUMNS} from role r where r.id = any($1::bigint[]) order by r.id`,
);
const GET = sql('roles.get', `select ${ROLE_COLUMNS} from role r where r.organization_id = $1 and r.id = $2`);
// Waits for a running import of roles, before anything is written that the import could wait for.
const JOIN = sql('roles.join', 'select id from account where id = $1 for key share');
const LOCK = sql('roles.lock', 'select id from role where organization_id = $1 and id = $2 for update');
const ROOM = roomFor('roles.room', 'role where organization_id = $1');
const INSERT = sql(
  'roles.insert',
  'insert into role (organization_id, name, name_key, description) values ($1, $2, $3, $4) returning id',
);
const UPDATE = sql(
  'roles.update',
  `update role set name = $2, name_key = $3, description = $4, version = version + 1,
          updated_at = greatest(now(), updated_at) where id = $1`,
);
const DELETE = sql('roles.delete', 'delete from role where id = $1');
// Waits for a team that is being deleted at this moment, so that no role keeps a deleted team.
const TEAMS = sql(
  'roles.teams',
  'select id from team where organization_id = $1 and id = any($2::bigint[]) for key share',
);
const CLEAR_PERMISSIONS = sql('roles.clearPermissions', 'delete from role_permission where role_id = $1');
const ADD_PERMISSIONS = sql(
  'roles.addPermissions',
  `insert into role_permission (role_id, namespace, action, relation)
   select $1, p.namespace, p.action, p.relation
     from unnest($2::text[], $3::text[], $4::text[]) as p (namespace, action, relation)`,
);
const DROP_TEAMS = sql('roles.dropTeams', 'delete from role_team where role_id = $1 and team_id <> all($2::bigint[])');
const ADD_TEAMS = sql(
  'roles.addTeams',
  'insert into role_team (role_id, team_id) select $1, unnest($2::bigint[]) on conflict do nothing',
);
const SET_ENDS = sql(
  'roles.setEnds',
  `update role_team t set expires_at = n.expires_at from unnest($2::bigint[], $3::timestamptz[]) as n (team_id, expires_at)
    where t.role_id = $1 and t.team_id = n.team_id and t.expires_at is distinct from n.expires_at`,
);
const PRINCIPALS = sql(
  'roles.principals',
  `select t.id, t.name, rt.assigned_at, rt.expires_at from role r join role_team rt on rt.role_id = r.id join team t on t.id = rt.team_id
    where r.organization_id = $1 and r.id = $2 order by t.id`,
);

export function createRoleStore(db: Db, write: Write, room: Room): RoleStore {
  return { list, get: (organizationId, id) => get(db.query, organizationId, id), principals, create, update, remove };

  async function list(organizationId: bigint): Promise<Role[]> {
    const first = await db.query<RoleRow>(PAGE, [organizationId, 0n, ROLES_IN_PAGE]);
    if (first.length < ROLES_IN_PAGE) return first.map(toRole);
    return await db.snapshot((query) => readRoles(query, organizationId));
  }

  async function principals(organizationId: bigint, id: bigint): Promise<Principal[]> {
    const rows = await db.query<PrincipalRow>(PRINCIPALS, [organizationId, id]);
    return rows.map(({ id, name, assigned_at, expires_at }) => ({
      ...{ type: 'team', id, name },
      ...{ assignedAt: assigned_at, expiresAt: expires_at },
    }));
  }

  async function create(organizationId: bigint, draft: RoleDraft, actor: Actor, once?: Once<Role>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        await query(JOIN, [organizationId]);
        const unknown = await unknownTeams(query, organizationId, draft);
        if (unknown) return unknown;
        await room.require(query, { limit: 'rolesPerOrganization', ownerId: organizationId, count: ROOM });
        const values = [organizationId, draft.name, nameKey(draft), draft.description];
        const { id } = only(await query<{ id: bigint }>(INSERT, values));
        await fill(query, id, draft);
        touch({ kind: 'role', id, organizationId });
        record({
          actor,
          organizationId,
          action: 'role.create',
          objectType: 'role',
          objectId: id,
          after: toState(draft),
        });
        const created = await get(query, organizationId, id);
        if (created) keep(created);
        return created;
      }, once),
    );
  }

  async function update(organizationId: bigint, id: bigint, decide: (current: Role) => RoleDraft, actor: Actor) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        await query(LOCK, [organizationId, id]);
        const current = await get(query, organizationId, id);
        if (!current) return undefined;
        const draft = decide(current);
        const unknown = await unknownTeams(query, organizationId, draft);
        if (unknown) return unknown;
        await query(UPDATE, [id, draft.name, nameKey(draft), draft.description]);
        await query(CLEAR_PERMISSIONS, [id]);
        await fill(query, id, draft);
        touch({ kind: 'role', id, organizationId });
        const states = { before: toState(current), after: toState(draft) };
        record({ actor, organizationId, action: 'role.update', objectType: 'role', objectId: id, ...states });
        return await get(query, organizationId, id);
      }),
    );
  }

  async function remove(organizationId: bigint, id: bigint, decide: (current: Role) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      await query(LOCK, [organizationId, id]);
      const current = await get(query, organizationId, id);
      if (!current) return false;
      decide(current);
      await query(DELETE, [id]);
      touch({ kind: 'role', id, organizationId });
      record({
        actor,
        organizationId,
        action: 'role.delete',
        objectType: 'role',
        objectId: id,
        before: toState(current),
      });
      return true;
    });
  }
}

/**
 * All roles of an organization, page by page: the built-in database reads in this process, and each statement keeps
 * other requests waiting. The roles must not change meanwhile, so it takes a snapshot or a lock.
 */
export async function readRoles(query: Query, organizationId: bigint): Promise<Role[]> {
  const roles: Role[] = [];
  for (;;) {
    const page = await query<RoleRow>(PAGE, [organizationId, roles.at(-1)?.id ?? 0n, ROLES_IN_PAGE]);
    for (const row of page) roles.push(toRole(row));
    if (page.length < ROLES_IN_PAGE) return roles;
    await breath();
  }
}

/** Ordered by ID. */
export async function getRoles(query: Query, ids: readonly bigint[]): Promise<Role[]> {
  return (await query<RoleRow>(GET_SOME, [ids])).map(toRole);
}

async function get(query: Query, organizationId: bigint, id: bigint): Promise<Role | undefined> {
  const [row] = await query<RoleRow>(GET, [organizationId, id]);
  return row && toRole(row);
}

async function fill(query: Query, id: bigint, draft: RoleDraft): Promise<void> {
  const { permissions, teamIds, teamExpiries } = draft;
  await query(ADD_PERMISSIONS, [
    id,
    permissions.map((one) => one.namespace),
    permissions.map((one) => one.action),
    permissions.map((one) => one.relation),
  ]);
  await query(DROP_TEAMS, [id, teamIds]);
  await query(ADD_TEAMS, [id, teamIds]);
  if (teamExpiries) await query(SET_ENDS, [id, teamIds, teamIds.map((team) => teamExpiries.get(team) ?? null)]);
}

async function unknownTeams(query: Query, organizationId: bigint, draft: RoleDraft): Promise<Rejection | undefined> {
  if (draft.teamIds.length === 0) return undefined;
  const rows = await query<{ id: bigint }>(TEAMS, [organizationId, draft.teamIds]);
  const known = new Set(rows.map((row) => row.id));
  const teamIds = draft.teamIds.filter((team) => !known.has(team));
  return teamIds.length > 0 ? { refused: 'unknown teams', teamIds } : undefined;
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | Rejection> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'role_name')) return { refused: 'name taken' };
    throw error;
  }
}

export function nameKey(draft: RoleDraft): string {
  return draft.name.toLowerCase();
}

function toRole(row: RoleRow): Role {
  const pairs = row.namespaces.map((namespace, place) => ({ namespace, action: row.actions[place] ?? '' }));
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    permissions: inCatalogOrder(pairs.flatMap((pair) => findPermission(pair) ?? [])),
    teamIds: row.team_ids,
    teamExpiries: expiriesOf(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function expiriesOf({ team_ids, team_ends }: RoleRow): TeamExpiries {
  const ends = team_ids.map((id, place) => [id, team_ends[place] ?? null] as const);
  return new Map(ends.flatMap(([id, end]) => (end === null ? [] : [[id, new Date(Number(end))]])));
}

/** A role as the audit log shows it. */
export function toState({ name, description, permissions, teamIds, teamExpiries }: RoleDraft): object {
  return {
    name,
    description,
    permissions: permissions.map(({ namespace, action }) => ({ namespace, action })),
    teamIds,
    ...(teamExpiries && teamExpiries.size > 0 && { teamExpiries: Object.fromEntries(teamExpiries) }),
  };
}
