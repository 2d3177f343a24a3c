import { OWNED_TYPES } from '../changes/object-kinds.ts';
import { type Db, sql } from '../db/db.ts';
import type { CheckStore } from './checks.ts';
import type { Reference } from './guardrail-input.ts';

const PEOPLE = sql(
  'checks.people',
  `select id, name from account where kind = 'user' and name_key = any ($1::text[]) order by id`,
);
const NAMED = new Map<string, ReturnType<typeof sql>>([
  [
    'organization',
    sql(
      'checks.organization',
      `select id, name from account where kind = 'organization' and id = $1 and name_key = any ($2::text[])`,
    ),
  ],
  ...OWNED_TYPES.map(
    ({ type, table, ownerColumn }) =>
      [
        type,
        sql(
          `checks.${table}`,
          `select id, name from ${table} where ${ownerColumn} = $1 and lower(name) = any ($2::text[]) order by id`,
        ),
      ] as const,
  ),
]);

export function createCheckStore(db: Db): CheckStore {
  return {
    people: async (logins) => (logins.length === 0 ? [] : await db.query<RefRow>(PEOPLE, [logins])),
    async named(organizationId, type, names): Promise<Reference[]> {
      const statement = NAMED.get(type);
      return statement === undefined ? [] : await db.query<RefRow>(statement, [organizationId, names]);
    },
  };
}

type RefRow = { id: bigint; name: string };
