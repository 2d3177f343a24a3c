import { endAssignments } from '../authz/places/end-assignments.store.ts';
import type { PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import type { Robot, RobotDraft, RobotStore } from './robots.ts';

interface RobotRow {
  id: bigint;
  owner_id: bigint;
  name: string;
  description: string;
  created_at: Date;
  version: number;
}

const SELECT = 'select id, owner_id, name, description, created_at, version from robot where owner_id = $1';
const NAMED = '($2::text is null or name = $2) and ($3::bigint[] is null or id = any($3))';
const LIST = sql('robots.list', `${SELECT} and ${NAMED} order by id limit $4 offset $5`);
const COUNT = sql('robots.count', `select count(*)::integer as total from robot where owner_id = $1 and ${NAMED}`);
const GET = sql('robots.get', `${SELECT} and id = $2`);
// Also waits for a token that is being created for it.
const LOCK = sql('robots.lock', `${SELECT} and id = $2 for update`);
const LOCK_OWNER = sql('robots.lockOwner', 'select id from account where id = $1 for key share');
const TAKEN = countTaken('robots.taken', 'robot where owner_id = $1');
const INSERT = sql('robots.insert', 'insert into robot (owner_id, name, description) values ($1, $2, $3) returning id');
const UPDATE = sql(
  'robots.update',
  'update robot set name = $2, description = $3, version = version + 1 where id = $1',
);
const DELETE_TOKENS = sql(
  'robots.deleteTokens',
  'delete from token where robot_id = $1 returning id, name, trust_rule_id is not null as is_issued',
);
const DELETE = sql('robots.delete', 'delete from robot where id = $1');

export function createRobotStore(db: Db, write: Write, quotas: Quotas): RobotStore {
  return { list, get: (ownerId, id) => one(db.query, GET, ownerId, id), create, update, remove };

  async function list(
    ownerId: bigint,
    name: string | undefined,
    { limit, offset }: PageRequest,
    among?: readonly bigint[],
  ) {
    const rows = await db.query<RobotRow>(LIST, [ownerId, name, among, limit, offset]);
    const { total } = only(await db.query<{ total: number }>(COUNT, [ownerId, name, among]));
    return { total, items: rows.map(toRobot) };
  }

  async function create(ownerId: bigint, draft: RobotDraft, actor: Actor, once?: Once<Robot>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        if ((await query(LOCK_OWNER, [ownerId])).length === 0) return undefined;
        await quotas.require(query, { limit: 'robotsPerOrganization', ownerId, count: TAKEN });
        const { id } = only(await query<{ id: bigint }>(INSERT, [ownerId, draft.name, draft.description]));
        touch({ kind: 'robot', id, organizationId: ownerId });
        record({ ...about(actor, ownerId, id), action: 'robot.create', after: draft });
        const created = await one(query, GET, ownerId, id);
        if (created) keep(created);
        return created;
      }, once),
    );
  }

  /** No permissions depend on the name, but the caller behind its tokens has it. */
  async function update(ownerId: bigint, id: bigint, decide: (current: Robot) => RobotDraft, actor: Actor) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        const current = await one(query, LOCK, ownerId, id);
        if (!current) return undefined;
        const { name, description } = decide(current);
        query.later(UPDATE, [id, name, description]);
        touch({ kind: 'robot', id, organizationId: ownerId });
        if (name !== current.name) touch({ kind: 'account', id: ownerId });
        const before = { name: current.name, description: current.description };
        record({ ...about(actor, ownerId, id), action: 'robot.update', before, after: { name, description } });
        return await one(query, GET, ownerId, id);
      }),
    );
  }

  async function remove(ownerId: bigint, id: bigint, decide: (current: Robot) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      const current = await one(query, LOCK, ownerId, id);
      if (!current) return false;
      decide(current);
      const tokens = await query<{ id: bigint; name: string; is_issued: boolean }>(DELETE_TOKENS, [id]);
      await endAssignments({ query, touch, record }, 'robot', [id], actor);
      query.later(DELETE, [id]);
      touch({ kind: 'robot', id, organizationId: ownerId });
      for (const token of tokens) touch({ kind: 'token', id: token.id, organizationId: ownerId });
      // The caller behind a robot's token is remembered under the account that the robot belongs to.
      if (tokens.length > 0) touch({ kind: 'account', id: ownerId });
      const { name, description } = current;
      const stored = tokens.filter((token) => !token.is_issued);
      const [names, tokenIds] = [stored.map((token) => token.name), stored.map((token) => token.id)];
      const before = { name, description, tokens: names, tokenIds };
      record({ ...about(actor, ownerId, id), action: 'robot.delete', before });
      return true;
    });
  }
}

async function one(query: Query, statement: typeof GET, ownerId: bigint, id: bigint): Promise<Robot | undefined> {
  const [row] = await query<RobotRow>(statement, [ownerId, id]);
  return row && toRobot(row);
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'robot_name')) return 'name taken';
    throw error;
  }
}

function about(actor: Actor, organizationId: bigint, objectId: bigint) {
  return { actor, organizationId, objectType: 'robot_ac', objectId };
}

function toRobot({ id, owner_id, name, description, created_at, version }: RobotRow): Robot {
  return { id, ownerId: owner_id, name, description, createdAt: created_at, version };
}
