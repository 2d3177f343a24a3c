import { type Actor, SERVER } from '../../changes/audit-entry.ts';
import { countTaken, type Growth, type Quotas } from '../../changes/quotas.store.ts';
import type { Expirer } from '../../changes/revision.ts';
import type { Work, Write } from '../../changes/write.ts';
import { isUniqueViolation, only, sql, type TransactionQuery } from '../../db/db.ts';
import { endApprovals } from '../sessions/ended-sessions.store.ts';
import { fromLimits, HAS_ORIGIN, SCOPES_OF_TOKEN, TOKEN_COLUMNS, type TokenRow, toTokenDetails } from './token.rows.ts';
import type { TokenDraft, TokenIssuerStore } from './token-issuer.ts';
import type { TokenDetails } from './token-request.ts';

// Waits for a robot that is being deleted at this moment, so that no token outlives it.
const ROBOT = sql('tokens.robot', 'select id from robot where id = $1 and owner_id = $2 for key share');
const INSERT = sql(
  'tokens.insert',
  `insert into token (account_id, robot_id, name, hash, last_eight, scopes, expires_at, can_rotate, limits, limited_scopes,
                      delegated, session_id, parent_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning ${TOKEN_COLUMNS}`,
);
const LOCK = sql(
  'tokens.lock',
  `select ${TOKEN_COLUMNS}, now() as now from token
    where id = $1 and account_id = $2 and coalesce(robot_id, 0) = coalesce($3, 0) for update`,
);
// The successor can have the name only once the old one is marked, so its ID is taken first.
const SUPERSEDE = sql(
  'tokens.supersede',
  `update token set superseded_by = nextval(pg_get_serial_sequence('token', 'id')),
                    expires_at = least(expires_at, now() + $2::bigint * interval '1 millisecond')
    where id = $1 returning superseded_by as id, expires_at`,
);
const INSERT_SUCCESSOR = sql(
  'tokens.insertSuccessor',
  `insert into token (id, account_id, robot_id, name, hash, last_eight, scopes, expires_at, can_rotate, limits,
                      limited_scopes, supersedes)
   select $2, account_id, robot_id, name, $3, $4, scopes, $5, can_rotate, limits, limited_scopes, id
     from token where id = $1 returning ${TOKEN_COLUMNS}`,
);
const DELETE_SUPERSEDED = sql(
  'tokens.deleteSuperseded',
  `delete from token where id in (select id from token where superseded_by is not null and expires_at <= now()
                                   order by expires_at limit $1)
   returning id, account_id, robot_id, name, ${SCOPES_OF_TOKEN()}, superseded_by, expires_at`,
);
const USER_TAKEN = countTaken('tokens.takenOfUser', 'token where account_id = $1 and coalesce(robot_id, 0) = 0');
const ROBOT_TAKEN = countTaken('tokens.takenOfRobot', 'token where robot_id = $1 and trust_rule_id is null');
const DELETE_EXPIRED = sql(
  'tokens.deleteExpired',
  `delete from token where account_id = $1 and coalesce(robot_id, 0) = coalesce($2, 0) and expires_at < now()
      and id is distinct from $3 and trust_rule_id is null
   returning id, account_id, robot_id, name, ${SCOPES_OF_TOKEN()}`,
);
const DELETE = sql(
  'tokens.delete',
  `delete from token where id = $1 returning account_id, robot_id, name, ${SCOPES_OF_TOKEN()}`,
);

// An agent gets a token for an hour, time and again under the same name.
const DELETE_ENDED = sql(
  'tokens.deleteEnded',
  `delete from token where account_id = $1 and robot_id is null and delegated
      and (expires_at <= now() or not (${HAS_ORIGIN('token')}))
   returning id, account_id, robot_id, name, ${SCOPES_OF_TOKEN()}, least(expires_at, now()) as expires_at`,
);

interface Deleted {
  account_id: bigint;
  robot_id: bigint | null;
  name: string;
  scopes: string[];
}

interface Superseded extends Deleted {
  id: bigint;
  superseded_by: bigint;
  expires_at: Date;
}

/** `kept` is a token that stays although it may have expired. */
type Growing = Pick<TokenDraft, 'accountId' | 'robotId' | 'actor'> & { readonly kept?: bigint };
type Touch = Parameters<Work<void>>[1];
type Log = Parameters<Work<void>>[2];

export function createTokenIssuerStore(write: Write, quotas: Quotas): TokenIssuerStore {
  return {
    async create(draft, once) {
      const { accountId, robotId, name, hash, lastEight, scopes, expiresAt, canRotate, limits, actor } = draft;
      try {
        return await write(async (query, touch, record, keep) => {
          if (robotId !== null && (await query(ROBOT, [robotId, accountId])).length === 0) return 'robot gone';
          if (draft.origin) await removeEnded(accountId, query, touch, record);
          if (!draft.isBeyondLimit) await makeRoom(draft, query, touch, record);
          const common = [expiresAt, canRotate];
          const held = limits ? [[], ...common, fromLimits(limits), scopes] : [scopes, ...common, null, null];
          const origin = [draft.origin !== undefined, draft.origin?.sessionId ?? null, draft.origin?.tokenId ?? null];
          const values = [accountId, robotId, name, hash, lastEight, ...held, ...origin];
          const created = toTokenDetails(only(await query<TokenRow>(INSERT, values)));
          const { id } = created;
          touch({ kind: 'token', id, organizationId: accountId });
          const about = { organizationId: accountId, objectType: 'token', objectId: id };
          const after = { name, robotId, scopes, expiresAt, ...traits(created) };
          if (actor) record({ ...about, actor, action: 'token.create', after });
          keep(created);
          return created;
        }, once);
      } catch (error) {
        if (isUniqueViolation(error, 'token_name')) return 'name taken';
        throw error;
      }
    },

    async remove(id, actor) {
      return await write(async (query, touch, record) => {
        const [row] = await query<Deleted>(DELETE, [id]);
        if (!row) return false;
        forget({ ...row, id }, actor, touch, record);
        if (row.robot_id === null) await endApprovals(query, row.account_id);
        return true;
      });
    },

    async rotate(draft, once) {
      const { id, accountId, robotId, actor, isOwn } = draft;
      return await write(async (query, touch, record, keep) => {
        // As in the deletion of a robot, the robot is locked before its tokens.
        if (robotId !== null && (await query(ROBOT, [robotId, accountId])).length === 0) return undefined;
        const [row] = await query<TokenRow & { now: Date }>(LOCK, [id, accountId, robotId]);
        if (!row) return undefined;
        const expiresAt = draft.decide(toTokenDetails(row), row.now);
        await makeRoom({ ...draft, kept: id }, query, touch, record);
        const old = only(await query<Pick<TokenRow, 'id' | 'expires_at'>>(SUPERSEDE, [id, draft.overlapMs]));
        const values = [id, old.id, draft.hash, draft.lastEight, expiresAt];
        const created = toTokenDetails(only(await query<TokenRow>(INSERT_SUCCESSOR, values)));
        touch({ kind: 'account', id: accountId });
        for (const one of [id, old.id]) touch({ kind: 'token', id: one, organizationId: accountId });
        const about = { organizationId: accountId, objectType: 'token', actor };
        const { name, scopes } = created;
        const after = { name, robotId, scopes, expiresAt, ...traits(created), supersedes: id };
        record({ ...about, objectId: old.id, action: 'token.create', after });
        record({
          ...about,
          objectId: id,
          action: 'token.rotate',
          before: { name, robotId, expiresAt: row.expires_at },
          after: { name, robotId, expiresAt: old.expires_at, supersededBy: old.id, byItself: isOwn },
        });
        keep(created);
        return created;
      }, once);
    },
  };

  /** Expired tokens are kept for the list, but not if they are in the way. */
  async function makeRoom(draft: Growing, query: TransactionQuery, touch: Touch, record: Log): Promise<void> {
    const { accountId, robotId, actor, kept = null } = draft;
    const growth: Growth =
      robotId === null
        ? { limit: 'tokensPerUser', ownerId: accountId, count: USER_TAKEN }
        : { limit: 'tokensPerRobot', ownerId: robotId, count: ROBOT_TAKEN };
    if ((await quotas.taken(query, growth)) < quotas.limits[growth.limit]) return;
    const expired = await query<Deleted & { id: bigint }>(DELETE_EXPIRED, [accountId, robotId, kept]);
    for (const row of expired) forget(row, actor, touch, record);
    await quotas.require(query, growth);
  }
}

function forget(row: Deleted & { id: bigint }, actor: Actor | undefined, touch: Touch, record: Log): void {
  const { id, account_id: organizationId, robot_id: robotId, name, scopes } = row;
  touch({ kind: 'account', id: organizationId });
  touch({ kind: 'token', id, organizationId });
  const about = { organizationId, objectType: 'token', objectId: id };
  if (actor) record({ ...about, actor, action: 'token.delete', before: { name, robotId, scopes } });
}

/** The unusual properties of a token, for the audit log. */
function traits({ canRotate, isDelegated, limits }: Pick<TokenDetails, 'canRotate' | 'isDelegated' | 'limits'>) {
  return { ...(canRotate && { canRotate }), ...(isDelegated && { delegated: true }), ...(limits && { limits }) };
}

async function removeEnded(accountId: bigint, query: TransactionQuery, touch: Touch, record: Log): Promise<void> {
  const ended = await query<Deleted & Pick<Superseded, 'id' | 'expires_at'>>(DELETE_ENDED, [accountId]);
  for (const { id, name, scopes, expires_at: expiresAt } of ended) {
    touch({ kind: 'account', id: accountId });
    touch({ kind: 'token', id, organizationId: accountId });
    const before = { name, robotId: null, scopes, delegated: true, expiresAt };
    record({
      actor: SERVER,
      organizationId: accountId,
      objectType: 'token',
      objectId: id,
      action: 'token.expire',
      before,
    });
  }
}

/** Ends tokens that were rotated, once their overlap is over, with the same effects as revoking them. */
export const expireSuperseded: Expirer = async (query, touch, record, max) => {
  const gone = await query<Superseded>(DELETE_SUPERSEDED, [max]);
  for (const { id, account_id: organizationId, robot_id: robotId, name, scopes, superseded_by, expires_at } of gone) {
    touch({ kind: 'account', id: organizationId });
    touch({ kind: 'token', id, organizationId });
    const before = { name, robotId, scopes, supersededBy: superseded_by, expiresAt: expires_at };
    record({ actor: SERVER, organizationId, objectType: 'token', objectId: id, action: 'token.expire', before });
  }
  return gone.length;
};
