import { type Db, sql } from '../db/db.ts';
import type { RevocationStore } from './revocation.ts';

interface Row {
  id: bigint;
  account_id: bigint;
  public_key: string;
  granted: bigint[];
  granted_by: bigint[];
}

const COLUMNS = 'id, account_id, public_key, granted, granted_by';
const BY_SOME = sql(
  'busWatch.bySome',
  `select ${COLUMNS} from bus_user where granted_by && $1::bigint[] and id > $2 order by id limit $3`,
);
const BY_ANYBODY = sql(
  'busWatch.byAnybody',
  `select ${COLUMNS} from bus_user where granted_by <> '{}' and id > $1 order by id limit $2`,
);
const REMOVE = sql('busWatch.remove', 'delete from bus_user where public_key = $1');

export function createRevocationStore(db: Db): RevocationStore {
  return {
    async holders(grantedBy, afterId, most) {
      const rows = await (grantedBy === 'anybody'
        ? db.query<Row>(BY_ANYBODY, [afterId, most])
        : db.query<Row>(BY_SOME, [grantedBy, afterId, most]));
      return rows.map((row) => ({
        id: row.id,
        personId: row.account_id,
        publicKey: row.public_key,
        rights: row.granted,
        grantedBy: row.granted_by,
      }));
    },

    async remove(publicKey) {
      await db.query(REMOVE, [publicKey]);
    },
  };
}
