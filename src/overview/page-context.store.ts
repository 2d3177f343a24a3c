import { type Db, sql } from '../db/db.ts';
import type { PageContextStore } from './page-context.ts';

/** A page shows a few of them, and where the others are. */
const MAX_TOKENS = 20;
const MAX_MEMBERSHIPS = 20;

const TOKENS = sql(
  'pageContext.tokens',
  `select id, name, expires_at from token where account_id = $1 and robot_id is null and not delegated and expires_at < $2
    order by expires_at, id limit ${MAX_TOKENS}`,
);
const MEMBERSHIPS = sql(
  'pageContext.memberships',
  `select t.id, t.name, o.name as organization, m.expires_at
     from team_member m join team t on t.id = m.team_id join account o on o.id = t.organization_id
    where m.account_id = $1 and m.expires_at < $2 order by m.expires_at, t.id limit ${MAX_MEMBERSHIPS}`,
);
const EMAILS = sql(
  'pageContext.emails',
  'select address from email where account_id = $1 and not verified order by id',
);

interface MembershipRow {
  id: bigint;
  name: string;
  organization: string;
  expires_at: Date;
}

interface TokenRow {
  id: bigint;
  name: string;
  expires_at: Date;
}

export function createPageContextStore(db: Db): PageContextStore {
  return {
    async notices(personId, soon) {
      const [tokens, emails, memberships] = await Promise.all([
        db.query<TokenRow>(TOKENS, [personId, soon]),
        db.query<{ address: string }>(EMAILS, [personId]),
        db.query<MembershipRow>(MEMBERSHIPS, [personId, soon]),
      ]);
      return {
        tokens: tokens.map(({ id, name, expires_at }) => ({ id, name, expiresAt: expires_at })),
        unverifiedEmails: emails.map(({ address }) => address),
        memberships: memberships.map(({ id, name, organization, expires_at }) => ({
          ...{ team: { id, name }, organization, expiresAt: expires_at },
        })),
      };
    },
  };
}
