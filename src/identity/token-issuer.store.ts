import type { Write } from '../changes/write.ts';
import { isUniqueViolation, only, sql } from '../db/db.ts';
import { TOKEN_COLUMNS, type TokenRow, toTokenDetails } from './token.rows.ts';
import type { TokenIssuerStore } from './token-issuer.ts';

// Waits for a robot that is being deleted at this moment, so that no token outlives it.
const ROBOT = sql('tokens.robot', 'select id from robot where id = $1 and owner_id = $2 for key share');
const INSERT = sql(
  'tokens.insert',
  `insert into token (account_id, robot_id, name, hash, last_eight, scopes, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${TOKEN_COLUMNS}`,
);
const DELETE = sql('tokens.delete', 'delete from token where id = $1 returning account_id, robot_id, name, scopes');

interface Deleted {
  account_id: bigint;
  robot_id: bigint | null;
  name: string;
  scopes: string[];
}

export function createTokenIssuerStore(write: Write): TokenIssuerStore {
  return {
    async create(draft, once) {
      const { accountId, robotId, name, hash, lastEight, scopes, expiresAt, actor } = draft;
      try {
        return await write(async (query, touch, record, keep) => {
          if (robotId !== null && (await query(ROBOT, [robotId, accountId])).length === 0) return 'robot gone';
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
        const { account_id: organizationId, robot_id: robotId, name, scopes } = row;
        touch({ kind: 'account', id: organizationId });
        touch({ kind: 'token', id, organizationId });
        const about = { organizationId, objectType: 'token', objectId: id };
        if (actor) record({ ...about, actor, action: 'token.delete', before: { name, robotId, scopes } });
        return true;
      });
    },
  };
}
