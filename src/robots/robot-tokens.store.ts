import { type Db, sql } from '../db/db.ts';
import { TOKEN_COLUMNS, type TokenRow, toTokenDetails } from '../identity/tokens/token.rows.ts';
import type { RobotTokenStore } from './robot-tokens.ts';

const LIST = sql(
  'robotTokens.list',
  `select ${TOKEN_COLUMNS} from token where robot_id = $1 and trust_rule_id is null order by id`,
);

export function createRobotTokenStore(db: Db): RobotTokenStore {
  return { list: async (robotId) => (await db.query<TokenRow>(LIST, [robotId])).map(toTokenDetails) };
}
