import { NAMED_TYPES } from '../changes/object-kinds.ts';
import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../identity/account-names.ts';
import type { ExplainStore } from './explain.ts';

const NAMES = sql(
  'explain.names',
  NAMED_TYPES.map(({ type, table, accountKind }, index) => {
    const ofKind = accountKind === undefined ? '' : `kind = '${accountKind}' and `;
    return `select '${type}:' || id as object, name from ${table} where ${ofKind}id = any($${index + 1}::bigint[])`;
  }).join(' union all '),
);
const PERSON = sql('explain.person', `select id, name from account where kind = 'user' and name_key = $1`);

export function createExplainStore(db: Db): ExplainStore {
  return {
    async names(objects) {
      const ids = NAMED_TYPES.map(({ type }) =>
        objects
          .filter((object) => object.startsWith(`${type}:`))
          .map((object) => BigInt(object.slice(type.length + 1))),
      );
      const rows = await db.query<{ object: string; name: string }>(NAMES, ids);
      return new Map(rows.map(({ object, name }) => [object, name]));
    },

    async personNamed(login) {
      const [row] = await db.query<{ id: bigint; name: string }>(PERSON, [nameKey(login)]);
      return row;
    },
  };
}
