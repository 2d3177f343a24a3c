import type { Actor } from '../changes/audit-entry.ts';
import { type Growth, type Room, roomFor } from '../changes/room.store.ts';
import type { Work, Write } from '../changes/write.ts';
import { isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { TOKEN_COLUMNS, type TokenRow, toTokenDetails } from './token.rows.ts';
import type { TokenDraft, TokenIssuerStore } from './token-issuer.ts';

// Waits for a robot that is being deleted at this moment, so that no token outlives it.
const ROBOT = sql('tokens.robot', 'select id from robot where id = $1 and owner_id = $2 for key share');
const INSERT = sql(
  'tokens.insert',
  `insert into token (account_id, robot_id, name, hash, last_eight, scopes, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${TOKEN_COLUMNS}`,
);
const USER_ROOM = roomFor('tokens.roomOfUser', 'token where account_id = $1 and coalesce(robot_id, 0) = 0');
const ROBOT_ROOM = roomFor('tokens.roomOfRobot', 'token where robot_id = $1');
const DELETE_EXPIRED = sql(
  'tokens.deleteExpired',
  `delete from token where account_id = $1 and coalesce(robot_id, 0) = coalesce($2, 0) and expires_at < now()
   returning id, account_id, robot_id, name, scopes`,
);
const DELETE = sql('tokens.delete', 'delete from token where id = $1 returning account_id, robot_id, name, scopes');

interface Deleted {
  account_id: bigint;
  robot_id: bigint | null;
  name: string;
  scopes: string[];
}

type Touch = Parameters<Work<void>>[1];
type Log = Parameters<Work<void>>[2];

export function createTokenIssuerStore(write: Write, room: Room): TokenIssuerStore {
  return {
    async create(draft, once) {
      const { accountId, robotId, name, hash, lastEight, scopes, expiresAt, actor } = draft;
      try {
        return await write(async (query, touch, record, keep) => {
          if (robotId !== null && (await query(ROBOT, [robotId, accountId])).length === 0) return 'robot gone';
          await makeRoom(draft, query, touch, record);
          const values = [accountId, robotId, name, hash, lastEight, scopes, expiresAt];
          const created = toTokenDetails(only(await query<TokenRow>(INSERT, values)));
          const { id } = created;
          touch({ kind: 'token', id, organizationId: accountId });
          const about = { organizationId: accountId, objectType: 'token', objectId: id };
          if (actor) record({ ...about, actor, action: 'token.create', after: { name, robotId, scopes, expiresAt } });
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
        return true;
      });
    },
  };

  /** Expired tokens are kept for the list, but not if they are in the way. */
  async function makeRoom(draft: TokenDraft, query: Query, touch: Touch, record: Log): Promise<void> {
    const { accountId, robotId, actor } = draft;
    const growth: Growth =
      robotId === null
        ? { limit: 'tokensPerUser', ownerId: accountId, count: USER_ROOM }
        : { limit: 'tokensPerRobot', ownerId: robotId, count: ROBOT_ROOM };
    if ((await room.taken(query, growth)) < room.limits[growth.limit]) return;
    const expired = await query<Deleted & { id: bigint }>(DELETE_EXPIRED, [accountId, robotId]);
    for (const row of expired) forget(row, actor, touch, record);
    await room.require(query, growth);
  }
}

function forget(row: Deleted & { id: bigint }, actor: Actor | undefined, touch: Touch, record: Log): void {
  const { id, account_id: organizationId, robot_id: robotId, name, scopes } = row;
  touch({ kind: 'account', id: organizationId });
  touch({ kind: 'token', id, organizationId });
  const about = { organizationId, objectType: 'token', objectId: id };
  if (actor) record({ ...about, actor, action: 'token.delete', before: { name, robotId, scopes } });
}
