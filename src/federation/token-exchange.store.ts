import { AppError } from '../base/errors.ts';
import { outsideTokenText } from '../changes/audit-entry.ts';
import { principalOfRobot } from '../changes/principal.ts';
import type { Write } from '../changes/write.ts';
import { type Db, only, sql } from '../db/db.ts';
import { useOnce } from '../identity/single-use.store.ts';
import { fromLimits } from '../identity/tokens/token.rows.ts';
import type { TokenIssuer } from '../identity/tokens/token-issuer.ts';
import type { Exchange, NamedRobot, TokenExchangeStore } from './token-exchange.ts';
import { TRUST_RULE, type TrustRuleRow, toTrustRule } from './trust-rule.rows.ts';

const ROBOT = sql(
  'tokenExchange.robot',
  `select r.id, r.name, r.owner_id from account o join robot r on r.owner_id = o.id
    where o.name_key = lower($1) and o.kind = 'organization' and r.name = $2 and o.active and not o.prohibit_login`,
);
const RULES = sql('tokenExchange.rules', `select ${TRUST_RULE} from trust_rule t where t.robot_id = $1 order by t.id`);
const IS_SPENT = sql(
  'tokenExchange.isSpent',
  'select exists (select 1 from single_use where hash = any($1::bytea[])) as spent',
);
// As in every change of a robot, it is locked before its rules and tokens, so that no token outlives it.
const LOCK_ROBOT = sql('tokenExchange.lockRobot', 'select id from robot where id = $1 for key share');
// Fails for a rule that was changed since the token was compared with it, and makes a change wait that comes later.
const USE_RULE = sql(
  'tokenExchange.useRule',
  'update trust_rule set last_used_at = now() where id = $1 and version = $2 returning id',
);
const LIVE = sql(
  'tokenExchange.live',
  'select count(*)::integer as live from (select 1 from token where trust_rule_id = $1 and expires_at > now() limit $2) k',
);
const INSERT = sql(
  'tokenExchange.insert',
  `insert into token (account_id, robot_id, name, hash, last_eight, scopes, limits, limited_scopes, trust_rule_id, via, expires_at)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, least($11::timestamptz, now() + $12::integer * interval '1 second')
   returning id, expires_at, floor(extract(epoch from expires_at - now()))::integer as expires_in`,
);
// Without an event: an expired token opens nothing, whether or not it is still there.
const SWEEP = sql(
  'tokenExchange.sweep',
  `delete from token where id in (
     select id from token where trust_rule_id is not null and expires_at < now() - interval '5 minutes'
      order by id limit 1000 for update skip locked)`,
);

/** Issued tokens are in no list that has a limit. Tokens that are not counted must not fill the database. */
const MAX_LIVE = 10_000;

/** Undoes the transaction, so that nothing is spent. */
class NotIssued extends Error {}

export function createTokenExchangeStore(
  db: Db,
  write: Write,
  issuer: Pick<TokenIssuer, 'mint'>,
): TokenExchangeStore & { sweep(): Promise<void> } {
  return {
    async robotNamed(organization, robot): Promise<NamedRobot | undefined> {
      const [row] = await db.query<{ id: bigint; name: string; owner_id: bigint }>(ROBOT, [organization, robot]);
      return row && { id: row.id, name: row.name, organizationId: row.owner_id };
    },
    rulesOf: async (robotId) => (await db.query<TrustRuleRow>(RULES, [robotId])).map(toTrustRule),
    isSpent: async (hashes) => only(await db.query<{ spent: boolean }>(IS_SPENT, [hashes])).spent,
    async issue(exchange) {
      try {
        return await issueOnce(exchange);
      } catch (error) {
        if (error instanceof NotIssued) return undefined;
        throw error;
      }
    },
    async sweep() {
      await db.query(SWEEP);
    },
  };

  async function issueOnce({ robot, rule, outside, scopes, spent, spentUntil, endsBy, requestId }: Exchange) {
    const { text, hash, lastEight } = issuer.mint();
    return await write(async (query, _touch, record) => {
      if ((await query(LOCK_ROBOT, [robot.id])).length === 0) throw new NotIssued();
      if ((await query(USE_RULE, [rule.id, rule.version])).length === 0) throw new NotIssued();
      // In the same order for every request, so that two cannot wait for each other.
      for (const one of [...spent].sort(Buffer.compare)) {
        if (!(await useOnce(query, { hash: one, expiresAt: spentUntil }))) throw new NotIssued();
      }
      const { live } = only(await query<{ live: number }>(LIVE, [rule.id, MAX_LIVE]));
      if (live >= MAX_LIVE) {
        const message = `the trust rule has ${MAX_LIVE} tokens that have not expired, which is the maximum`;
        throw new AppError('limited', message, { retryAfter: 60 });
      }
      const { limits } = rule;
      const held = limits ? [[], fromLimits(limits), scopes] : [scopes, null, null];
      const { robotId, organizationId } = { robotId: robot.id, organizationId: robot.organizationId };
      const values = [organizationId, robotId, rule.name, hash, lastEight, ...held];
      const created = only(
        await query<{ id: bigint; expires_at: Date; expires_in: number }>(INSERT, [
          ...values,
          ...[rule.id, outsideTokenText(outside), endsBy, rule.lifetimeSeconds],
        ]),
      );
      const { id: tokenId, expires_at: expiresAt, expires_in: expiresIn } = created;
      if (expiresIn < 1) throw new NotIssued();
      record({
        actor: { id: principalOfRobot(robotId), name: robot.name, requestId, via: outside },
        organizationId,
        objectType: 'trust_rule',
        objectId: rule.id,
        action: 'trust_rule.use',
        after: { name: rule.name, robotId, tokenId, scopes, expiresAt },
      });
      return { text, scopes, expiresIn };
    });
  }
}
