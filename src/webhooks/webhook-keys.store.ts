import { type Db, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { StoredWebhookKey, WebhookKeyStore } from './webhook-keys.ts';

const LOAD = sql(
  'webhookKeys.load',
  'select kid, public_key, sealed, created_at, retires_at from webhook_key order by created_at desc, id desc',
);
// Two processes may find no key at the same moment: one of them waits, and then finds the key of the other.
const LOCK = sql('webhookKeys.lock', 'lock table webhook_key in share row exclusive mode');
const ADD = sql(
  'webhookKeys.add',
  `insert into webhook_key (kid, public_key, sealed) select $1, $2, $3 where not exists (select 1 from webhook_key)`,
);
const RETIRE = sql(
  'webhookKeys.retire',
  'update webhook_key set retires_at = $1 where retires_at is null or retires_at > $1',
);
const REPLACE = sql('webhookKeys.replace', 'insert into webhook_key (kid, public_key, sealed) values ($1, $2, $3)');
const SWEEP = sql('webhookKeys.sweep', 'delete from webhook_key where retires_at < now()');

/** Where the sealed keys are stored, for key rotation. The identity is that of `webhookKeyIdentity`. */
export const WEBHOOK_KEYS: SealedColumn = {
  table: 'webhook_key',
  column: 'sealed',
  ownerId: 'owner_id',
  identity: `'webhook key ' || t.kid`,
};

interface Row {
  kid: string;
  public_key: string;
  sealed: Buffer;
  created_at: Date;
  retires_at: Date | null;
}

export function createWebhookKeyStore(db: Db): WebhookKeyStore {
  return {
    async load() {
      const rows = await db.query<Row>(LOAD);
      return rows.map(
        (row): StoredWebhookKey => ({
          kid: row.kid,
          publicKey: row.public_key,
          sealed: row.sealed,
          createdAt: row.created_at,
          retiresAt: row.retires_at,
        }),
      );
    },

    async addFirst({ kid, publicKey, sealed }) {
      await db.transaction(async (query) => {
        await query(LOCK);
        await query(ADD, [kid, publicKey, sealed]);
      });
    },

    async replace({ kid, publicKey, sealed }, until) {
      await db.transaction(async (query) => {
        await query(LOCK);
        await query(SWEEP);
        await query(RETIRE, [until]);
        await query(REPLACE, [kid, publicKey, sealed]);
      });
    },
  };
}
