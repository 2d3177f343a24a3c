import { type AssignmentRow, ON_NAME, TO_NAME } from '../authz/places/assignment-row.rows.ts';
import { endAssignments } from '../authz/places/end-assignments.store.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
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

/** What the database adds to a role that is written. */
type WrittenRow = Pick<RoleRow, 'id' | 'version' | 'created_at' | 'updated_at'>;

interface PrincipalRow {
  to_type: PrincipalType;
  to_id: bigint;
  to_name: string;
  on_type: PlaceType;
  on_id: bigint;
  on_name: string;
  namespaces: string[] | null;
  assigned_at: Date;
  expires_at: Date | null;
}

const ROLES_IN_PAGE = 50;

const ROLE_COLUMNS = `r.id, r.organization_id, r.name, r.description, r.version, r.created_at, r.updated_at,
  array(select p.namespace from role_permission p where p.role_id = r.id order by p.namespace, p.action) as namespaces,
  array(select p.action from role_permission p where p.role_id = r.id order by p.namespace, p.action) as actions,
  array(select t.team_id from assignment t where t.role_id = r.id and t.team_id is not null
         order by t.team_id) as team_ids,
  array(select (extract(epoch from t.expires_at) * 1000)::bigint from assignment t
         where t.role_id = r.id and t.team_id is not null order by t.team_id) as team_ends`;

const PAGE = sql(
  'roles.page',
  `select ${ROLE_COLUMNS} from role r where r.organization_id = $1 and r.id > $2 order by r.id limit $3`,
);
const GET_SOME = sql(
  'roles.getSome',
  `select ${ROLE_COLUMNS} from role r where r.id = any($1::bigint[]) order by r.id`,
);
const GET = sql('roles.get', `select ${ROLE_COLUMNS} from role r where r.organization_id = $1 and r.id = $2`);
// The organization comes before its roles, as where it is deleted and where roles are imported: a role that is written
// refers to the organization, and two transactions that lock both in different orders would block each other.
const JOIN = sql('roles.join', 'select id from account where id = $1 for key share');
const LOCK = sql('roles.lock', 'select id from role where organization_id = $1 and id = $2 for update');
const TAKEN = countTaken('roles.taken', 'role where organization_id = $1');
// A role is written with one statement, because each costs a round trip. Its parts all see the moment before it. What
// stays as it is must not be removed and added again, then: one part would not see what another does.
const INSERT = sql(
  'roles.insert',
  `with made as (
     insert into role (organization_id, name, name_key, description) values ($1, $2, $3, $4)
     returning id, version, created_at, updated_at),
   permissions as (
     insert into role_permission (role_id, namespace, action, relation)
     select made.id, p.namespace, p.action, p.relation
       from made, unnest($5::text[], $6::text[], $7::text[]) as p (namespace, action, relation)),
   teams as (
     insert into assignment (organization_id, role_id, team_id, expires_at) select $1, made.id, t.team_id, t.expires_at
       from made, unnest($8::bigint[], $9::timestamptz[]) as t (team_id, expires_at))
   select id, version, created_at, updated_at from made`,
);
const UPDATE = sql(
  'roles.update',
  `with old_permissions as (
     delete from role_permission where role_id = $1 and not exists (
       select 1 from unnest($5::text[], $6::text[]) as p (namespace, action)
        where p.namespace = role_permission.namespace and p.action = role_permission.action)),
   permissions as (
     insert into role_permission (role_id, namespace, action, relation)
     select $1, p.namespace, p.action, p.relation
       from unnest($5::text[], $6::text[], $7::text[]) as p (namespace, action, relation)
     on conflict (role_id, namespace, action) do update set relation = excluded.relation
      where role_permission.relation <> excluded.relation),
   old_teams as (delete from assignment where role_id = $1 and team_id is not null
       and team_id <> all($8::bigint[])),
   teams as (
     insert into assignment (role_id, team_id, expires_at) select $1, t.team_id, t.expires_at
       from unnest($8::bigint[], $9::timestamptz[]) as t (team_id, expires_at)
     on conflict (role_id, team_id) do update set expires_at = excluded.expires_at, version = assignment.version + 1
      where assignment.expires_at is distinct from excluded.expires_at)
   update role set name = $2, name_key = $3, description = $4, version = version + 1,
          updated_at = greatest(now(), updated_at) where id = $1
   returning id, version, created_at, updated_at`,
);
const DELETE = sql('roles.delete', 'delete from role where id = $1');
// Waits for a team that is being deleted at this moment, so that no role keeps a deleted team.
const TEAMS = sql(
  'roles.teams',
  'select id from team where organization_id = $1 and id = any($2::bigint[]) for key share',
);
// Teams, then users, then robots; for each the organization first.
const PRINCIPALS = sql(
  'roles.principals',
  `select s.to_type, s.to_id, ${TO_NAME} as to_name, s.on_type, s.on_id, ${ON_NAME} as on_name, s.namespaces, s.assigned_at,
          s.expires_at
     from assignment s where s.organization_id = $1 and s.role_id = $2
    order by s.to_type <> 'team', s.to_type <> 'user', s.to_id, s.on_type <> 'organization', s.on_type, s.on_id,
          s.namespaces is not null, s.id`,
);

export function createRoleStore(db: Db, write: Write, quotas: Quotas): RoleStore {
  return { list, get: (organizationId, id) => get(db.query, organizationId, id), principals, create, update, remove };

  async function list(organizationId: bigint): Promise<Role[]> {
    const first = await db.query<RoleRow>(PAGE, [organizationId, 0n, ROLES_IN_PAGE]);
    if (first.length < ROLES_IN_PAGE) return first.map(toRole);
    return await db.snapshot((query) => readRoles(query, organizationId));
  }

  async function principals(organizationId: bigint, id: bigint): Promise<Principal[]> {
    const rows = await db.query<PrincipalRow>(PRINCIPALS, [organizationId, id]);
    return rows.map((row) => ({
      ...{ type: row.to_type, id: row.to_id, name: row.to_name },
      on: row.on_type === 'organization' ? undefined : placeIn(row),
      ...{ assignedAt: row.assigned_at, expiresAt: row.expires_at },
    }));
  }

  async function create(organizationId: bigint, draft: RoleDraft, actor: Actor, once?: Once<Role>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        query.later(JOIN, [organizationId]);
        const unknown = await unknownTeams(query, organizationId, draft);
        if (unknown) return unknown;
        await quotas.require(query, { limit: 'rolesPerOrganization', ownerId: organizationId, count: TAKEN });
        const values = valuesOf(organizationId, draft, endsOf(draft));
        const role = written(organizationId, draft, endsOf(draft), await query<WrittenRow>(INSERT, values));
        const { id } = role;
        touch({ kind: 'role', id, organizationId });
        record({
          actor,
          organizationId,
          action: 'role.create',
          objectType: 'role',
          objectId: id,
          after: toState(draft),
        });
        keep(role);
        return role;
      }, once),
    );
  }

  async function update(organizationId: bigint, id: bigint, decide: (current: Role) => RoleDraft, actor: Actor) {
    const outcome = await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        query.later(JOIN, [organizationId]);
        query.later(LOCK, [organizationId, id]);
        const current = await get(query, organizationId, id);
        if (!current) return undefined;
        const draft = decide(current);
        const unknown = await unknownTeams(query, organizationId, draft);
        if (unknown) return unknown;
        const ends = endsOf(draft, current);
        const rows = query.later<WrittenRow>(UPDATE, valuesOf(id, draft, ends));
        touch({ kind: 'role', id, organizationId });
        const states = { before: toState(current), after: toState(draft) };
        record({ actor, organizationId, action: 'role.update', objectType: 'role', objectId: id, ...states });
        return () => written(organizationId, draft, ends, rows());
      }),
    );
    return typeof outcome === 'function' ? outcome() : outcome;
  }

  async function remove(organizationId: bigint, id: bigint, decide: (current: Role) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      query.later(LOCK, [organizationId, id]);
      const current = await get(query, organizationId, id);
      if (!current) return false;
      decide(current);
      const ended = await endAssignments({ query, touch, record }, 'role', [id], actor);
      query.later(DELETE, [id]);
      touch({ kind: 'role', id, organizationId });
      record({
        actor,
        organizationId,
        action: 'role.delete',
        objectType: 'role',
        objectId: id,
        before: toState(withoutTeams(current, ended)),
      });
      return true;
    });
  }
}

/**
 * All roles of an organization, page by page, with other requests served in between. The roles must not change meanwhile, so it takes a snapshot or a lock.
 */
export async function readRoles(query: Query, organizationId: bigint): Promise<Role[]> {
  const roles: Role[] = [];
  for (;;) {
    const page = await query<RoleRow>(PAGE, [organizationId, roles.at(-1)?.id ?? 0n, ROLES_IN_PAGE]);
    for (const row of page) roles.push(toRole(row));
    if (page.length < ROLES_IN_PAGE) return roles;
    await yieldToEventLoop();
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

/** When assignments end: as the draft says or, if it says nothing about that, as before. */
function endsOf({ teamIds, teamExpiries }: RoleDraft, current?: Role): TeamExpiries {
  const ends = teamExpiries ?? current?.teamExpiries ?? new Map<bigint, Date>();
  return new Map([...ends].filter(([team]) => teamIds.includes(team)));
}

/** For both statements. They begin with the ID of the organization, or of the role. */
function valuesOf(id: bigint, draft: RoleDraft, ends: TeamExpiries): unknown[] {
  const { permissions, teamIds } = draft;
  return [
    ...[id, draft.name, nameKey(draft), draft.description],
    permissions.map((one) => one.namespace),
    permissions.map((one) => one.action),
    permissions.map((one) => one.relation),
    ...[teamIds, teamIds.map((team) => ends.get(team) ?? null)],
  ];
}

/** The role as it is now, without reading it again. */
function written(organizationId: bigint, draft: RoleDraft, ends: TeamExpiries, rows: readonly WrittenRow[]): Role {
  const { id, version, created_at: createdAt, updated_at: updatedAt } = only(rows);
  return { ...draft, teamExpiries: ends, id, organizationId, version, createdAt, updatedAt };
}

async function unknownTeams(query: Query, organizationId: bigint, draft: RoleDraft): Promise<Rejection | undefined> {
  if (draft.teamIds.length === 0) return undefined;
  const rows = await query<{ id: bigint }>(TEAMS, [organizationId, draft.teamIds]);
  const known = new Set(rows.map((row) => row.id));
  const teamIds = draft.teamIds.filter((team) => !known.has(team));
  return teamIds.length > 0 ? { rejected: 'unknown teams', teamIds } : undefined;
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | Rejection> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'role_name')) return { rejected: 'name taken' };
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

function placeIn({ on_type: type, on_id: id, on_name: name, namespaces }: PrincipalRow) {
  return { type, id, name, namespaces };
}

function expiriesOf({ team_ids, team_ends }: RoleRow): TeamExpiries {
  const ends = team_ids.map((id, place) => [id, team_ends[place] ?? null] as const);
  return new Map(ends.flatMap(([id, end]) => (end === null ? [] : [[id, new Date(Number(end))]])));
}

/** A role after assignments of it have ended, each with an entry of its own. */
export function withoutTeams(role: RoleDraft & Pick<Role, 'id'>, ended: readonly AssignmentRow[]): RoleDraft {
  const gone = new Set(ended.filter(({ role_id }) => role_id === role.id).map(({ team_id }) => team_id));
  const stays = (team: bigint) => !gone.has(team);
  return {
    ...role,
    teamIds: role.teamIds.filter(stays),
    teamExpiries: new Map([...(role.teamExpiries ?? [])].filter(([team]) => stays(team))),
  };
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
