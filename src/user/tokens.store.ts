import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../directory/names.ts';
import type { AccessTokenStore } from './tokens.ts';

interface TokenRow {
  id: bigint;
  name: string;
  last_eight: string;
  scopes: string[];
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
}

const PERSON = sql('accessTokens.person', `select id from account where kind = 'user' and name_key = $1`);
const LIST = sql(
  'accessTokens.list',
  `select id, name, last_eight, scopes, created_at, last_used_at, expires_at from token
    where account_id = $1 and robot_id is null order by id`,
);

export function createAccessTokenStore(db: Db): AccessTokenStore {
  return {
    async personNamed(name) {
      const [row] = await db.query<{ id: bigint }>(PERSON, [nameKey(name)]);
      return row?.id;
    },

    async list(accountId) {
      const rows = await db.query<TokenRow>(LIST, [accountId]);
      return rows.map(({ id, name, last_eight, scopes, created_at, last_used_at, expires_at }) => ({
        id,
        name,
        lastEight: last_eight,
        scopes,
        createdAt: created_at,
        lastUsedAt: last_used_at,
        expiresAt: expires_at,
      }));
    },
  };
}
