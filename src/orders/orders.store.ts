import { readJson, writeJson } from '../base/json.ts';
import { type Db, sql } from '../db/db.ts';
import type { OrderStore } from './orders.ts';

interface OrderRow {
  uid: string;
  name: string;
  spec: string;
  created_at: Date;
}

const INSERT = sql(
  'orders.insert',
  'insert into deploy_order (uid, owner_id, name, spec) values ($1::uuid, $2, $3, $4::json) returning created_at',
);
// Selected as text, because our own parser keeps numbers exact.
const GET = sql(
  'orders.get',
  'select uid::text, name, spec::text as spec, created_at from deploy_order where owner_id = $1 and uid = $2::uuid',
);

export function createOrderStore(db: Db): OrderStore {
  return {
    async create(ownerId, { uid, name, spec }) {
      const [row] = await db.query<{ created_at: Date }>(INSERT, [uid, ownerId, name, writeJson(spec)]);
      return row?.created_at ?? new Date();
    },

    async get(ownerId, uid) {
      const [row] = await db.query<OrderRow>(GET, [ownerId, uid]);
      return (
        row && {
          uid: row.uid,
          name: row.name,
          spec: readJson(Buffer.from(row.spec)) as object,
          createdAt: row.created_at,
        }
      );
    },
  };
}
