import { limitReached } from '../base/config/limits.ts';
import { readJson, writeJson } from '../base/json.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Write } from '../changes/write.ts';
import { type Db, only, sql } from '../db/db.ts';
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
const LIST = sql(
  'orders.list',
  `select uid::text, name, created_at from deploy_order where owner_id = $1
   order by created_at desc, uid desc limit $2 offset $3`,
);
const COUNT = sql('orders.count', 'select count(*)::int as total from deploy_order where owner_id = $1');
const REMOVE = sql(
  'orders.remove',
  'delete from deploy_order where owner_id = $1 and uid = $2::uuid returning uid::text',
);
const TAKEN = countTaken('orders.taken', 'deploy_order where owner_id = $1');
// As they are on the disk, which is what is to be protected.
const BYTES = sql(
  'orders.bytes',
  'select coalesce(sum(pg_column_size(spec)), 0)::float8 as bytes from deploy_order where owner_id = $1',
);
// Selected as text, because our own parser keeps numbers exact.
const GET = sql(
  'orders.get',
  'select uid::text, name, spec::text as spec, created_at from deploy_order where owner_id = $1 and uid = $2::uuid',
);

export function createOrderStore(db: Db, write: Write, quotas: Quotas): OrderStore {
  return {
    async list(ownerId, { limit, offset }) {
      const rows = await db.query<Omit<OrderRow, 'spec'>>(LIST, [ownerId, limit, offset]);
      const [count] = await db.query<{ total: number }>(COUNT, [ownerId]);
      const items = rows.map(({ uid, name, created_at }) => ({ uid, name, createdAt: created_at }));
      return { items, total: count?.total ?? 0 };
    },

    async create(ownerId, { uid, name, spec }, once) {
      const text = writeJson(spec);
      const max = quotas.limits.orderBytesPerUser;
      return await write(async (query, _touch, _record, keep) => {
        await quotas.require(query, { limit: 'ordersPerUser', ownerId, count: TAKEN });
        const { bytes } = only(await query<{ bytes: number }>(BYTES, [ownerId]));
        if (bytes + Buffer.byteLength(text) > max) throw limitReached('orderBytesPerUser', max, bytes);
        const values = [uid, ownerId, name, text];
        const { created_at: createdAt } = only(await query<{ created_at: Date }>(INSERT, values));
        keep(createdAt);
        return createdAt;
      }, once);
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

    async remove(ownerId, uid) {
      return (await db.query(REMOVE, [ownerId, uid])).length > 0;
    },
  };
}
