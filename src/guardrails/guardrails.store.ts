import type { Actor } from '../changes/audit-entry.ts';
import { OWNED_TYPES } from '../changes/object-kinds.ts';
import { isRobotPrincipal, principalOf } from '../changes/principal.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Change, Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { GUARDRAIL_COLUMNS, type GuardrailRow, toGuardrail, toViolations } from './guardrail.rows.ts';
import { type Guardrail, type GuardrailDraft, isSameStatement } from './guardrail.ts';
import type { Reference, References } from './guardrail-input.ts';
import { guardrailSentence } from './guardrail-text.ts';
import type { GuardrailStore, StoredGuardrails } from './guardrails.ts';

type StateRow = GuardrailRow & { violations: Parameters<typeof toViolations>[0] | null };

// One statement, so one moment: what does not hold belongs to these very guardrails.
const READ = `select ${GUARDRAIL_COLUMNS}, s.violations
  from guardrail g left join guardrail_state s on s.organization_id = g.organization_id where g.organization_id = $1`;
const LIST = sql('guardrails.list', `${READ} order by g.name_key, g.id`);
const GET = sql('guardrails.get', `${READ} and g.id = $2`);
// Waits for a running import, before anything is written that the import could wait for.
const JOIN = sql('guardrails.join', 'select id from account where id = $1 for key share');
const LOCK = sql(
  'guardrails.lock',
  `select ${GUARDRAIL_COLUMNS} from guardrail g where g.organization_id = $1 and g.id = $2 for update`,
);
const LOCK_ALL = sql(
  'guardrails.lockAll',
  `select ${GUARDRAIL_COLUMNS} from guardrail g where g.organization_id = $1 order by g.id for update`,
);
const TAKEN = countTaken('guardrails.taken', 'guardrail where organization_id = $1');
const VALUES = `name, name_key, description, kind, user_ids, team_id, relation, object_type, object_id, count, names, enforce`;
const INSERT = sql(
  'guardrails.insert',
  `insert into guardrail as g (organization_id, ${VALUES})
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::json, $13) returning ${GUARDRAIL_COLUMNS}`,
);
const UPDATE = sql(
  'guardrails.update',
  `update guardrail as g set (${VALUES}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::json, $13),
          version = version + 1, statement = statement + $14, updated_at = greatest(now(), updated_at)
    where id = $1 returning ${GUARDRAIL_COLUMNS}`,
);
const DELETE = sql('guardrails.delete', 'delete from guardrail where id = $1');

const USERS = sql(
  'guardrails.users',
  `select id, name from account where kind = 'user' and name_key = any ($1::text[]) order by id`,
);
const ORGANIZATION = sql(
  'guardrails.organization',
  `select id, name from account where kind = 'organization' and id = $1 and ($1 = $2::bigint or name_key = lower($3))`,
);
const OBJECTS = new Map<string, ReturnType<typeof sql>>(
  OWNED_TYPES.map(({ type, table, ownerColumn }) => [
    type,
    sql(
      `guardrails.${table}`,
      `select id, name from ${table} where ${ownerColumn} = $1 and (id = $2::bigint or lower(name) = lower($3))
        order by id limit 2`,
    ),
  ]),
);

export function createGuardrailStore(db: Db, write: Write, quotas: Quotas): GuardrailStore {
  return { list, get, create, update, remove, ...createReferences(db) };

  async function list(organizationId: bigint): Promise<StoredGuardrails> {
    return toStored(await db.query<StateRow>(LIST, [organizationId]));
  }

  async function get(organizationId: bigint, id: bigint): Promise<StoredGuardrails> {
    return toStored(await db.query<StateRow>(GET, [organizationId, id]));
  }

  async function create(organizationId: bigint, draft: GuardrailDraft, actor: Actor, once?: Once<Guardrail>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        await query(JOIN, [organizationId]);
        await quotas.require(query, { limit: 'guardrailsPerOrganization', ownerId: organizationId, count: TAKEN });
        const made = await insertGuardrail(query, organizationId, draft);
        touch(changeOf(made));
        record({ ...about(made, actor), action: 'guardrail.create', after: toState(made) });
        keep(made);
        return made;
      }, once),
    );
  }

  async function update(
    organizationId: bigint,
    id: bigint,
    decide: (current: Guardrail) => GuardrailDraft,
    actor: Actor,
  ) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        const [row] = await query<GuardrailRow>(LOCK, [organizationId, id]);
        if (!row) return undefined;
        const current = toGuardrail(row);
        const next = await updateGuardrail(query, current, decide(current));
        touch(changeOf(next));
        const states = { before: toState(current), after: toState(next) };
        record({ ...about(next, actor), action: 'guardrail.update', ...states });
        return next;
      }),
    );
  }

  async function remove(organizationId: bigint, id: bigint, decide: (current: Guardrail) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      const [row] = await query<GuardrailRow>(LOCK, [organizationId, id]);
      if (!row) return false;
      const current = toGuardrail(row);
      decide(current);
      await deleteGuardrail(query, id);
      touch(changeOf(current));
      record({ ...about(current, actor), action: 'guardrail.delete', before: toState(current) });
      return true;
    });
  }
}

/** Finds what statements name. */
export function createReferences(db: Pick<Db, 'query'>): References {
  return {
    users: async (logins) => (logins.length === 0 ? [] : await db.query<RefRow>(USERS, [logins])),
    teams: async (organizationId, which) => await find('team', organizationId, which),
    async objects(organizationId, type, which) {
      if (type !== 'organization') return await find(type, organizationId, which);
      return await db.query<RefRow>(ORGANIZATION, [organizationId, ...either(which)]);
    },
  };

  async function find(type: string, organizationId: bigint, which: bigint | string): Promise<Reference[]> {
    const statement = OBJECTS.get(type);
    if (statement === undefined) return [];
    return await db.query<RefRow>(statement, [organizationId, ...either(which)]);
  }
}

type RefRow = { id: bigint; name: string };

function either(which: bigint | string): readonly [bigint | null, string | null] {
  return typeof which === 'bigint' ? [which, null] : [null, which];
}

/** The guardrails of an organization, which no other transaction can change until this one ends. */
export async function lockGuardrails(query: Query, organizationId: bigint): Promise<Guardrail[]> {
  return (await query<GuardrailRow>(LOCK_ALL, [organizationId])).map(toGuardrail);
}

export async function insertGuardrail(query: Query, organizationId: bigint, draft: GuardrailDraft): Promise<Guardrail> {
  return toGuardrail(only(await query<GuardrailRow>(INSERT, [organizationId, ...valuesOf(draft)])));
}

export async function updateGuardrail(query: Query, current: Guardrail, next: GuardrailDraft): Promise<Guardrail> {
  const values = [current.id, ...valuesOf(next), isSameStatement(current, next) ? 0 : 1];
  return toGuardrail(only(await query<GuardrailRow>(UPDATE, values)));
}

export async function deleteGuardrail(query: Query, id: bigint): Promise<void> {
  await query(DELETE, [id]);
}

function valuesOf(draft: GuardrailDraft): unknown[] {
  return [
    draft.name,
    draft.name.toLowerCase(),
    draft.description,
    draft.kind,
    draft.userIds,
    draft.teamId ?? null,
    draft.relation,
    draft.objectType,
    draft.objectId ?? null,
    draft.count ?? null,
    JSON.stringify(draft.names),
    draft.enforce,
  ];
}

function toStored(rows: readonly StateRow[]): StoredGuardrails {
  const guardrails = rows.map(toGuardrail);
  const known = toViolations(rows[0]?.violations ?? undefined);
  // What was known about an earlier statement is not about this one.
  const violations = guardrails.flatMap(({ id, statement }) => {
    const violation = known.get(id);
    return violation?.statement === statement ? [[id, violation] as const] : [];
  });
  return { guardrails, violations: new Map(violations) };
}

export function changeOf({ id, organizationId }: Pick<Guardrail, 'id' | 'organizationId'>): Change {
  return { kind: 'guardrail', id, organizationId };
}

function about({ id, organizationId }: Guardrail, actor: Actor) {
  return { actor, organizationId, objectType: 'guardrail', objectId: id };
}

/** A guardrail as the audit log shows it. */
export function toState({ names, ...guardrail }: GuardrailDraft): object {
  const { name, description, enforce, kind, userIds, teamId, relation, objectType, objectId, count } = guardrail;
  const robots = userIds.filter(isRobotPrincipal);
  const users = userIds.filter((id) => !isRobotPrincipal(id));
  return {
    name,
    description,
    enforce,
    sentence: guardrailSentence(guardrail, (object) => names[object] ?? object),
    [kind]: {
      ...(users.length > 0 && { userIds: users }),
      ...(robots.length > 0 && { robotIds: robots.map((id) => principalOf(id).id) }),
      ...(teamId !== undefined && { teamId }),
      ...(count !== undefined && { count }),
      relation,
      object: { type: objectType, ...(objectId !== undefined && { id: objectId }) },
    },
  };
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'guardrail_name')) return 'name taken';
    throw error;
  }
}
