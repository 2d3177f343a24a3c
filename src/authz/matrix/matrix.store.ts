import { type Db, sql } from '../../db/db.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import type { ExplainStore } from '../explain/question.ts';
import type { MatrixStore } from './matrix.ts';

const PEOPLE = sql(
  'matrix.people',
  `select id, name, name_key as key from account where kind = 'user' and name_key = any($1::text[])`,
);

export function createMatrixStore(
  db: Db,
  { names, inactive, robotNamed }: Pick<ExplainStore, 'names' | 'inactive' | 'robotNamed'>,
): MatrixStore {
  return {
    names,
    inactive,
    robotNamed,
    async peopleNamed(logins) {
      return await db.query<{ id: bigint; name: string; key: string }>(PEOPLE, [[...new Set(logins.map(nameKey))]]);
    },
  };
}
