import { hash } from 'node:crypto';
import type { Actor } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Work, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { fromLimits } from '../identity/tokens/token.rows.ts';
import { TRUST_RULE, type TrustRuleRow, toTrustRule } from './trust-rule.rows.ts';
import { changesTrust, type TrustRule, type TrustRuleDraft } from './trust-rule.ts';
import type { OwnedRobot, TrustRuleStore } from './trust-rules.ts';

const LIST = sql('trustRules.list', `select ${TRUST_RULE} from trust_rule t where t.robot_id = $1 order by t.id`);
const GET = sql('trustRules.get', `select ${TRUST_RULE} from trust_rule t where t.id = $1 and t.robot_id = $2`);
// As in the deletion of a robot, the robot is locked before its rules and tokens.
const LOCK_ROBOT = sql('trustRules.lockRobot', 'select id from robot where id = $1 and owner_id = $2 for key share');
// A token that is being issued by the rule changes it, so it is waited for.
const LOCK = sql('trustRules.lock', 'select id from trust_rule where id = $1 and robot_id = $2 for update');
const TAKEN = countTaken('trustRules.taken', 'trust_rule where robot_id = $1');
const INSERT = sql(
  'trustRules.insert',
  `insert into trust_rule (robot_id, name, issuer, audience, jwks, claims, scopes, limits, lifetime_seconds, single_use)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id`,
);
const UPDATE = sql(
  'trustRules.update',
  `update trust_rule set name = $2, issuer = $3, audience = $4, jwks = $5, claims = $6, scopes = $7, limits = $8,
                         lifetime_seconds = $9, single_use = $10, version = version + 1 where id = $1`,
);
const DELETE = sql('trustRules.delete', 'delete from trust_rule where id = $1');
const END_TOKENS = sql('trustRules.endTokens', 'delete from token where trust_rule_id = $1 returning id');

type Touch = Parameters<Work<void>>[1];

export function createTrustRuleStore(db: Db, write: Write, quotas: Quotas): TrustRuleStore {
  return {
    list: async (robotId) => (await db.query<TrustRuleRow>(LIST, [robotId])).map(toTrustRule),

    async create(robot, draft, actor, once) {
      return await unlessNameTaken(() =>
        write(async (query, touch, record, keep) => {
          if ((await query(LOCK_ROBOT, [robot.robotId, robot.ownerId])).length === 0) return undefined;
          await quotas.require(query, { limit: 'trustRulesPerRobot', ownerId: robot.robotId, count: TAKEN });
          const { id } = only(await query<{ id: bigint }>(INSERT, [robot.robotId, ...columnsOf(draft)]));
          touchRobot(touch, robot);
          record({ ...about(actor, robot, id), action: 'trust_rule.create', after: stateOf(robot, draft) });
          const created = await one(query, robot, id);
          if (created) keep(created);
          return created;
        }, once),
      );
    },

    async update(robot, id, decide, actor) {
      return await unlessNameTaken(() =>
        write(async (query, touch, record) => {
          const current = await lock(query, robot, id);
          if (!current) return undefined;
          const draft = decide(current);
          await query(UPDATE, [id, ...columnsOf(draft)]);
          const ended = changesTrust(current, draft) ? await endTokens(query, touch, robot, id) : 0;
          touchRobot(touch, robot);
          const after = { ...stateOf(robot, draft), ...(ended > 0 && { endedTokens: ended }) };
          record({ ...about(actor, robot, id), action: 'trust_rule.update', before: stateOf(robot, current), after });
          return await one(query, robot, id);
        }),
      );
    },

    async remove(robot, id, decide, actor) {
      return await write(async (query, touch, record) => {
        const current = await lock(query, robot, id);
        if (!current) return false;
        decide(current);
        const ended = await endTokens(query, touch, robot, id);
        query.later(DELETE, [id]);
        touchRobot(touch, robot);
        const before = { ...stateOf(robot, current), ...(ended > 0 && { endedTokens: ended }) };
        record({ ...about(actor, robot, id), action: 'trust_rule.delete', before });
        return true;
      });
    },
  };
}

async function lock(query: Query, robot: OwnedRobot, id: bigint): Promise<TrustRule | undefined> {
  if ((await query(LOCK_ROBOT, [robot.robotId, robot.ownerId])).length === 0) return undefined;
  if ((await query(LOCK, [id, robot.robotId])).length === 0) return undefined;
  return await one(query, robot, id);
}

async function one(query: Query, { robotId }: OwnedRobot, id: bigint): Promise<TrustRule | undefined> {
  const [row] = await query<TrustRuleRow>(GET, [id, robotId]);
  return row && toTrustRule(row);
}

/** Every replica forgets the callers behind them, so they end with the next request. */
async function endTokens(query: Query, touch: Touch, { ownerId }: OwnedRobot, id: bigint): Promise<number> {
  const ended = await query<{ id: bigint }>(END_TOKENS, [id]);
  if (ended.length > 0) touch({ kind: 'account', id: ownerId });
  return ended.length;
}

/** No tuple comes from a rule. Listeners to events hear that the robot has changed. */
function touchRobot(touch: Touch, { robotId, ownerId }: OwnedRobot): void {
  touch({ kind: 'robot', id: robotId, organizationId: ownerId });
}

function columnsOf(draft: TrustRuleDraft): unknown[] {
  const { name, issuer, audience, jwks, claims, scopes, limits, lifetimeSeconds, singleUse } = draft;
  const text = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  const values = [name, issuer, audience, text(jwks), text(claims), scopes];
  return [...values, limits ? fromLimits(limits) : null, lifetimeSeconds, singleUse];
}

/** Keys are long and say nothing to a reader, but it must show that they were replaced. */
function stateOf({ robotId }: OwnedRobot, draft: TrustRuleDraft): object {
  const { name, issuer, audience, jwks, claims, scopes, limits, lifetimeSeconds, singleUse } = draft;
  const common = { name, robotId, issuer, audience, claims, scopes, lifetimeSeconds, singleUse };
  const keys = jwks && { jwks: `sha256:${hash('sha256', JSON.stringify(jwks))}` };
  return { ...common, ...keys, ...(limits && { limits }) };
}

function about(actor: Actor, { ownerId }: OwnedRobot, id: bigint) {
  return { actor, organizationId: ownerId, objectType: 'trust_rule', objectId: id };
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'trust_rule_name')) return 'name taken';
    throw error;
  }
}
