import { type Query, sql } from '../../db/db.ts';
import type { SealedColumn } from '../../vault/rotation.ts';
import type { OlderDelivery, SealedOptionsStore } from './sealed-options.ts';

const GET = sql(
  'sealedOptions.get',
  `select o.sealed, i.options as clear from installer i
     left join installer_options o on o.installer_id = i.id and o.delivery_id is null where i.id = $1`,
);
const OLDER_INSTALLERS = sql(
  'sealedOptions.olderInstallers',
  'select id, options as clear from installer where options is not null limit $1',
);
const SEAL_INSTALLER = sql(
  'sealedOptions.sealInstaller',
  `with older as (update installer set options = null where id = $1 and options = $2 returning id)
   insert into installer_options (installer_id, sealed) select id, $3 from older where $3::bytea is not null
   on conflict do nothing`,
);
// Older versions wrote the options into the notification, and kept notifications that could not be understood with
// their full text.
const OLDER_DELIVERIES = sql(
  'sealedOptions.olderDeliveries',
  `select id, notification, subject <> '' as is_read from delivery
    where id > $1 and notification <> '' and (subject = '' or position('"options":{' in notification) > 0)
    order by id limit $2`,
);
const SEAL_DELIVERY = sql(
  'sealedOptions.sealDelivery',
  `with older as (update delivery set notification = $3 where id = $1 and notification = $2 returning id, state)
   insert into installer_options (installer_id, delivery_id, sealed)
   select $4, id, $5 from older where state <> 'done' and $5::bytea is not null on conflict do nothing`,
);

/** Where the sealed options are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const INSTALLER_OPTIONS: SealedColumn = {
  table: 'installer_options',
  column: 'sealed',
  ownerId: 'owner_id',
  identity: `'installer options ' || t.installer_id`,
};

export function createSealedOptionsStore(query: Query): SealedOptionsStore {
  return {
    get: async (installerId) => (await query<{ sealed: Buffer | null; clear: string | null }>(GET, [installerId]))[0],
    olderInstallers: (max) => query<{ id: string; clear: string }>(OLDER_INSTALLERS, [max]),
    async sealInstaller(id, clear, sealed) {
      await query(SEAL_INSTALLER, [id, clear, sealed]);
    },
    async olderDeliveries(after, max) {
      const rows = await query<Omit<OlderDelivery, 'isRead'> & { is_read: boolean }>(OLDER_DELIVERIES, [after, max]);
      return rows.map(({ id, notification, is_read: isRead }) => ({ id, notification, isRead }));
    },
    async sealDelivery({ id, notification }, sealed, options) {
      await query(SEAL_DELIVERY, [id, notification, sealed, options?.installerId ?? null, options?.sealed ?? null]);
    },
  };
}
