import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../identity/account-names.ts';
import type { ExplainStore } from './explain.ts';

const NAMES = sql(
  'insight.names',
  `select 'user:' || id as object, name from account where kind = 'user' and id = any($1::bigint[])
   union all select 'organization:' || id, name from account where kind = 'organization' and id = any($2::bigint[])
   union all select 'team:' || id, name from team where id = any($3::bigint[])
   union all select 'role:' || id, name from role where id = any($4::bigint[])
   union all select 'cluster:' || id, name from cluster where id = any($5::bigint[])`,
);
const KINDS = ['user', 'organization', 'team', 'role', 'cluster'];
const PERSON = sql('insight.person', `select id, name from account where kind = 'user' and name_key = $1`);

export function createExplainStore(db: Db): ExplainStore {
  return {
    async names(objects) {
      const ids = KINDS.map((kind) =>
        objects
          .filter((object) => object.startsWith(`${kind}:`))
          .map((object) => BigInt(object.slice(kind.length + 1))),
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
