import type { Write } from '../../changes/write.ts';
import { type Db, only, sql } from '../../db/db.ts';
import { MAX_COUNTED } from '../../db/search-text.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import type { ReservedName, ReservedNameStore } from './reserved-names.ts';

interface Row {
  name: string;
  kind: ReservedName['kind'];
  account_id: bigint;
  account_name: string | null;
  reserved_at: Date;
  expires_at: Date;
}

const LIST = sql(
  'reservedNames.list',
  `select r.name, r.kind, r.account_id, a.name as account_name, r.reserved_at, r.expires_at
     from reserved_name r left join account a on a.id = r.account_id
    where r.expires_at > now() order by r.name_key offset $1 limit $2`,
);
const COUNT = sql(
  'reservedNames.count',
  `select count(*)::integer as total from (
     select 1 from reserved_name where expires_at > now() limit ${MAX_COUNTED + 1}) reserved`,
);
const RELEASE = sql(
  'reservedNames.release',
  'delete from reserved_name where name_key = $1 and expires_at > now() returning name, kind, account_id, expires_at',
);

export function createReservedNameStore(db: Db, write: Write): ReservedNameStore {
  return {
    async list({ offset, limit }) {
      const { total } = only(await db.query<{ total: number }>(COUNT));
      const rows = await db.query<Row>(LIST, [offset, limit]);
      return { items: rows.map(toReservedName), total, isBounded: total > MAX_COUNTED };
    },

    // Recorded for the account that loses it. No permission depends on it, so no revision is taken.
    release: (name, actor) =>
      write(async (query, _touch, record) => {
        const [row] = await query<Pick<Row, 'name' | 'kind' | 'account_id' | 'expires_at'>>(RELEASE, [nameKey(name)]);
        if (!row) return false;
        const about = { organizationId: row.account_id, objectType: row.kind, objectId: row.account_id };
        const before = { name: row.name, expiresAt: row.expires_at.toISOString() };
        record({ actor, ...about, action: 'name.release', before });
        return true;
      }),
  };
}

function toReservedName(row: Row): ReservedName {
  return {
    name: row.name,
    kind: row.kind,
    accountId: row.account_id,
    accountName: row.account_name ?? '',
    reservedAt: row.reserved_at,
    expiresAt: row.expires_at,
  };
}
