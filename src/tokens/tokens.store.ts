import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../identity/account-names/account-names.ts';
import { HAS_ORIGIN, TOKEN_COLUMNS, type TokenRow, toTokenDetails } from '../identity/tokens/token.rows.ts';
import type { TokenStore } from './tokens.ts';

const PERSON = sql('accessTokens.person', `select id from account where kind = 'user' and name_key = $1`);
const LIST = sql(
  'accessTokens.list',
  `select ${TOKEN_COLUMNS} from token where account_id = $1 and robot_id is null
      and (not delegated or (expires_at > now() and ${HAS_ORIGIN('token')})) order by id`,
);
const GET = sql('accessTokens.get', `select ${TOKEN_COLUMNS} from token where id = $1`);

export function createTokenStore(db: Db): TokenStore {
  return {
    async personNamed(name) {
      const [row] = await db.query<{ id: bigint }>(PERSON, [nameKey(name)]);
      return row?.id;
    },

    async get(id) {
      const [row] = await db.query<TokenRow>(GET, [id]);
      return row && toTokenDetails(row);
    },

    list: async (accountId) => (await db.query<TokenRow>(LIST, [accountId])).map(toTokenDetails),
  };
}
