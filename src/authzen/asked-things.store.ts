import { OWNED_TYPES } from '../changes/object-kinds.ts';
import { type Db, sql } from '../db/db.ts';
import type { AskedThingStore } from './asked-things.ts';

const ACCOUNT = `id, name, active and not prohibit_login as "isUsable"`;
const PERSON = sql('authzen.person', `select ${ACCOUNT} from account where kind = 'user' and id = $1`);
const LOGIN = sql('authzen.login', `select ${ACCOUNT} from account where kind = 'user' and name_key = $1`);
const USABLE = sql(
  'authzen.usable',
  `select id from account where kind = 'user' and id = any ($1::bigint[]) and active and not prohibit_login`,
);
const NAMED = new Map(
  OWNED_TYPES.map(
    ({ type, table, ownerColumn }) =>
      [
        type as string,
        sql(
          `authzen.${table}`,
          `select id, name from ${table} where ${ownerColumn} = $1 and lower(name) = lower($2) order by id`,
        ),
      ] as const,
  ),
);

type PersonRow = { id: bigint; name: string; isUsable: boolean };

export function createAskedThingStore(db: Db): AskedThingStore {
  return {
    async person(by) {
      const [statement, value] = 'id' in by ? [PERSON, by.id] : [LOGIN, by.key];
      const [row] = await db.query<PersonRow>(statement, [value]);
      return row;
    },

    async usable(ids) {
      if (ids.length === 0) return new Set();
      return new Set((await db.query<{ id: bigint }>(USABLE, [ids])).map(({ id }) => id));
    },

    async objectNamed(type, ownerId, name) {
      const statement = NAMED.get(type);
      const rows = statement ? await db.query<{ id: bigint; name: string }>(statement, [ownerId, name]) : [];
      const exact = rows.filter((row) => row.name === name);
      const [found, second] = exact.length > 0 ? exact : rows;
      return second === undefined ? found?.id : undefined;
    },
  };
}
