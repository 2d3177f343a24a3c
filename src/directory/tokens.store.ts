import { isUniqueViolation, sql } from '../db/db.ts';
import type { Write } from './clock.ts';
import type { TokenStore } from './tokens.ts';

const INSERT = sql(
  'tokens.insert',
  `insert into token (account_id, robot_id, name, hash, last_eight, scopes, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning id`,
);
const DELETE = sql('tokens.delete', 'delete from token where id = $1 returning account_id');

export function createTokenStore(write: Write): TokenStore {
  return {
    async create(draft) {
      const { accountId, robotId, name, hash, lastEight, scopes, expiresAt } = draft;
      try {
        return await write(async (query, touch) => {
          const values = [accountId, robotId, name, hash, lastEight, scopes, expiresAt];
          const [row] = await query<{ id: bigint }>(INSERT, values);
          const id = row?.id ?? 0n;
          touch({ kind: 'token', id, organizationId: accountId });
          return id;
        });
      } catch (error) {
        if (isUniqueViolation(error, 'token_name')) return 'name taken';
        throw error;
      }
    },

    async remove(id) {
      return await write(async (query, touch) => {
        const [row] = await query<{ account_id: bigint }>(DELETE, [id]);
        if (!row) return false;
        touch({ kind: 'account', id: row.account_id });
        touch({ kind: 'token', id, organizationId: row.account_id });
        return true;
      });
    },
  };
}
