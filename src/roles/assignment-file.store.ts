import { ASSIGNMENT, type AssignmentRow, assignmentState } from '../authz/places/assignment-row.rows.ts';
import { about, awaitAssignmentsOf, touchAssignment } from '../authz/places/end-assignments.store.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import { principalOf } from '../changes/principal.ts';
import type { Change } from '../changes/write.ts';
import { only, type Query, type Statement, sql } from '../db/db.ts';
import {
  type AssignmentPlan,
  type AssignmentsNow,
  type NewFileAssignment,
  nameOf,
  type StoredAssignment,
  type WantedAssignment,
  type Where,
} from './assignment-plan.ts';

/** What only reads may not lock. In the transaction of a change, objects stay as long as it lasts. */
interface Pair {
  readonly read: Statement;
  readonly lock: Statement;
}

interface StoredRow extends AssignmentRow {
  is_owners: boolean;
  is_ambiguous: boolean;
  is_requested: boolean;
}

// The teams that have a role in the whole organization are in the role.
const STORED = sql(
  'assignmentFile.stored',
  `select ${ASSIGNMENT}, s.request_id is not null as is_requested,
          coalesce((select t.permission = 'owner' from team t where t.id = s.on_team_id), false) as is_owners,
          exists (select 1 from contract c join contract d on d.owner_id = c.owner_id and d.name = c.name and d.id <> c.id
                   where c.id = s.on_contract_id) as is_ambiguous
     from assignment s where s.organization_id = $1 and s.team_id is null order by s.id`,
);
const LOCK = sql(
  'assignmentFile.lock',
  'select id from assignment where organization_id = $1 and team_id is null order by id for update',
);
const COUNTS = sql(
  'assignmentFile.counts',
  'select to_type, to_id, count(*)::integer as count from assignment where organization_id = $1 group by to_type, to_id',
);
const MEMBERS = sql(
  'assignmentFile.members',
  `select o.id, o.name from account o where o.kind = 'user' and o.name_key = any($2::text[]) and exists (
     select 1 from team_member m join team t on t.id = m.team_id where m.account_id = o.id and t.organization_id = $1)`,
);
const TEAMS = sql(
  'assignmentFile.teams',
  `select id, name, permission = 'owner' as is_owners from team where organization_id = $1 and $2::text[] is not null`,
);
const FOUND: Readonly<Record<Exclude<PlaceType | PrincipalType, 'organization'>, Pair>> = {
  user: { read: MEMBERS, lock: MEMBERS },
  // Locked already, with all others of the organization.
  team: { read: TEAMS, lock: TEAMS },
  robot_ac: owned('robot'),
  cluster: owned('cluster'),
  contract: owned('contract'),
  cluster_set: pair('sets', 'select id, name from cluster_set where organization_id = $1 and name = any($2::text[])'),
};
const CONTRACTS_BY_ID = pair(
  'contractsById',
  'select id, name from contract where owner_id = $1 and id = any($2::bigint[])',
);
const ADD_SETS = sql(
  'assignmentFile.addSets',
  `insert into cluster_set (organization_id, name) select $1, n.name from unnest($2::text[]) as n (name)
   on conflict (organization_id, name) do update set name = excluded.name returning id, name`,
);
const INSERT = sql(
  'assignmentFile.insert',
  `insert into assignment (organization_id, role_id, to_team_id, user_id, robot_id, on_cluster_id, on_set_id,
                           on_contract_id, on_robot_id, on_team_id, reason, expires_at, created_by_type, created_by_id,
                           namespaces, namespaces_key)
   select $1, n.role_id, case n.to_type when 'team' then n.to_id end, case n.to_type when 'user' then n.to_id end,
          case n.to_type when 'robot_ac' then n.to_id end, case n.on_type when 'cluster' then n.on_id end,
          case n.on_type when 'cluster_set' then n.on_id end, case n.on_type when 'contract' then n.on_id end,
          case n.on_type when 'robot_ac' then n.on_id end, case n.on_type when 'team' then n.on_id end,
          n.reason, n.expires_at, $2, $3, string_to_array(n.namespaces, ','),
          coalesce((select md5(string_agg(m.name, ',' order by m.name))
                      from unnest(string_to_array(n.namespaces, ',')) as m (name)), '')
     from unnest($4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::timestamptz[],
                 $11::text[])
          with ordinality as n (role_id, to_type, to_id, on_type, on_id, reason, expires_at, namespaces, place)
    order by n.place returning id`,
);
const UPDATE = sql(
  'assignmentFile.update',
  `update assignment s set reason = n.reason, expires_at = n.expires_at, version = s.version + 1
     from unnest($1::bigint[], $2::text[], $3::timestamptz[]) as n (id, reason, expires_at) where s.id = n.id`,
);
const DELETE = sql('assignmentFile.delete', 'delete from assignment where id = any($1::bigint[])');
const ROWS = sql(
  'assignmentFile.rows',
  `select ${ASSIGNMENT} from assignment s where s.id = any($1::bigint[]) order by s.id`,
);

/** Written with one round of statements, none of which may take long. */
const ROWS_AT_ONCE = 200;

function owned(table: string): Pair {
  return pair(`${table}s`, `select id, name from ${table} where owner_id = $1 and name = any($2::text[])`);
}

function pair(name: string, text: string): Pair {
  return {
    read: sql(`assignmentFile.${name}`, `${text} order by id`),
    lock: sql(`assignmentFile.${name}:lock`, `${text} order by id for key share`),
  };
}

interface Transaction {
  readonly query: Query;
  readonly touch: (change: Change) => void;
  readonly record: (entry: AuditEntry) => void;
}

/**
 * `wanted` is what a file names; without it, nothing is looked up. In a transaction, the rows that are read are locked.
 */
export async function readAssignmentsNow(
  query: Query,
  organizationId: bigint,
  wanted: readonly WantedAssignment[] | undefined,
  locks: boolean,
): Promise<AssignmentsNow> {
  // Objects before their assignments, and users who may be leaving before both, as in every change that ends assignments.
  const found = wanted ? await find(query, organizationId, wanted, locks) : new Map<string, Where[]>();
  if (locks) await query(LOCK, [organizationId]);
  const stored = (await query<StoredRow>(STORED, [organizationId])).map(toStored);
  if (!wanted) return { stored, found, total: 0, byPrincipal: new Map() };
  const counts = await query<{ to_type: string; to_id: bigint; count: number }>(COUNTS, [organizationId]);
  return {
    ...{ stored, found },
    total: counts.reduce((sum, { count }) => sum + count, 0),
    byPrincipal: new Map(counts.map(({ to_type, to_id, count }) => [`${to_type}:${to_id}`, count])),
  };
}

async function find(
  query: Query,
  organizationId: bigint,
  wanted: readonly WantedAssignment[],
  locks: boolean,
): Promise<Map<string, Where[]>> {
  const mode = locks ? 'lock' : 'read';
  const references = wanted.flatMap(({ to, on }) => [to, ...(on ? [on] : [])]);
  const found = new Map<string, Where[]>();
  for (const [type, some] of Map.groupBy(references, (reference) => reference.type)) {
    if (type === 'organization') continue;
    const names = [...new Set(some.map(({ name }) => (type === 'user' ? name.toLowerCase() : name)))];
    if (type === 'user' && locks) {
      // A user who leaves the organization in the same moment waits, or has left.
      const ids = (await query<{ id: bigint }>(MEMBERS, [organizationId, names])).map(({ id }) => id);
      await awaitAssignmentsOf(query, ids);
    }
    const rows = await query<{ id: bigint; name: string; is_owners?: boolean }>(FOUND[type][mode], [
      organizationId,
      names,
    ]);
    for (const row of rows) note(type as PlaceType, row, nameOf(type, row.name));
    const ids = some.flatMap((one) => ('id' in one && one.id !== undefined ? [one.id] : []));
    if (ids.length === 0) continue;
    const byId = await query<{ id: bigint; name: string }>(CONTRACTS_BY_ID[mode], [organizationId, [...new Set(ids)]]);
    for (const row of byId) note(type as PlaceType, row, idKey(type, row.id));
  }
  return found;

  function note(type: PlaceType, row: { id: bigint; name: string; is_owners?: boolean }, key: string): void {
    const one = { type, id: row.id, name: row.name, isOwners: row.is_owners ?? false };
    found.set(key, [...(found.get(key) ?? []), one]);
  }
}

function idKey(type: string, id: bigint): string {
  return `${type}#${id}`;
}

/** Each assignment with its own entry in the audit log. `roleIds` are those of roles that were just created, by name in lower case. */
export async function applyAssignments(
  transaction: Transaction,
  organizationId: bigint,
  { creates, updates, deletes }: AssignmentPlan,
  roleIds: ReadonlyMap<string, bigint>,
  actor: Actor,
): Promise<void> {
  const { query } = transaction;
  for (const part of partsOf(deletes.map(({ id }) => id))) {
    const gone = await query<AssignmentRow>(ROWS, [part]);
    await query(DELETE, [part]);
    for (const row of gone) note(row, 'assignment.delete', { before: assignmentState(row) });
    await yieldToEventLoop();
  }
  for (const part of partsOf(updates)) {
    const ids = part.map(({ current }) => current.id);
    const before = new Map((await query<AssignmentRow>(ROWS, [ids])).map((row) => [row.id, assignmentState(row)]));
    await query(UPDATE, [ids, part.map(({ next }) => next.reason), part.map(({ next }) => next.expiresAt)]);
    for (const row of await query<AssignmentRow>(ROWS, [ids])) {
      const was = before.get(row.id);
      note(row, 'assignment.update', { ...(was && { before: was }), after: assignmentState(row) });
    }
    await yieldToEventLoop();
  }
  for (const part of partsOf(creates)) {
    const made = await query<{ id: bigint }>(INSERT, await valuesOf(part));
    const rows = await query<AssignmentRow>(ROWS, [made.map(({ id }) => id)]);
    for (const row of rows) note(row, 'assignment.create', { after: assignmentState(row) });
    await yieldToEventLoop();
  }

  async function valuesOf(part: readonly NewFileAssignment[]): Promise<unknown[]> {
    const fresh = [...new Set(part.flatMap(({ on }) => (on.type === 'cluster_set' ? [on.name] : [])))].sort();
    const sets = fresh.length === 0 ? [] : await query<{ id: bigint; name: string }>(ADD_SETS, [organizationId, fresh]);
    const setIds = new Map(sets.map(({ id, name }) => [name, id]));
    const creator = principalOf(actor.id);
    return [
      ...[organizationId, creator.type, creator.id],
      part.map(({ role }) => role.id ?? only([roleIds.get(role.name.toLowerCase())])),
      ...[part.map(({ to }) => to.type), part.map(({ to }) => to.id), part.map(({ on }) => on.type)],
      part.map(({ on }) => (on.type === 'cluster_set' ? setIds.get(on.name) : on.id)),
      ...[part.map(({ reason }) => reason), part.map(({ expiresAt }) => expiresAt)],
      part.map(({ on }) => on.namespaces?.join() ?? null),
    ];
  }

  function note(row: AssignmentRow, action: AuditAction, states: Pick<AuditEntry, 'before' | 'after'>): void {
    touchAssignment(transaction.touch, row);
    transaction.record(about(row, action, actor, states));
  }
}

function* partsOf<T>(items: readonly T[]): Generator<readonly T[], void, void> {
  for (let first = 0; first < items.length; first += ROWS_AT_ONCE) yield items.slice(first, first + ROWS_AT_ONCE);
}

function toStored(row: StoredRow): StoredAssignment {
  return {
    ...{ id: row.id, roleId: row.role_id, reason: row.reason, expiresAt: row.expires_at },
    to: { type: row.to_type, id: row.to_id, name: row.to_name },
    on: {
      ...{ type: row.on_type, id: row.on_type === 'organization' ? row.organization_id : row.on_id, name: row.on_name },
      ...{ isOwners: row.is_owners, isAmbiguous: row.is_ambiguous },
      ...(row.namespaces && { namespaces: row.namespaces.toSorted() }),
    },
    isRequested: row.is_requested,
  };
}
