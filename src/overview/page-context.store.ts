import { type Db, sql } from '../db/db.ts';
import type { PageContextStore } from './page-context.ts';

/** A page shows a few of them, and where the others are. */
const MAX_TOKENS = 20;

const TOKENS = sql(
  'pageContext.tokens',
  `select id, name, expires_at from token where account_id = $1 and robot_id is null and expires_at < $2
    order by expires_at, id limit ${MAX_TOKENS}`,
);
const EMAILS = sql(
  'pageContext.emails',
  'select address from email where account_id = $1 and not verified order by id',
);

interface TokenRow {
  id: bigint;
  name: string;
  expires_at: Date;
}

export function createPageContextStore(db: Db): PageContextStore {
  return {
    async notices(personId, soon) {
      const [tokens, emails] = await Promise.all([
        db.query<TokenRow>(TOKENS, [personId, soon]),
        db.query<{ address: string }>(EMAILS, [personId]),
      ]);
      return {
        tokens: tokens.map(({ id, name, expires_at }) => ({ id, name, expiresAt: expires_at })),
        unverifiedEmails: emails.map(({ address }) => address),
      };
    },
  };
}
