import { type Db, sql } from '../db/db.ts';
import type { DisabledReason } from './webhook.ts';
import type { DisabledWebhook, WebhookNoticeStore } from './webhook-notices.ts';

interface Row {
  url: string;
  disabled_reason: DisabledReason;
  organization: string | null;
  addresses: string[] | null;
}

// A row that another replica is claiming at this moment is left to it.
const CLAIM = sql(
  'webhookNotices.claim',
  `with claimed as (
     update webhook set is_untold = false
      where id = any (array (select id from webhook where is_untold order by id limit 100 for update skip locked))
     returning url, disabled_reason, organization_id)
   select c.url, c.disabled_reason, o.name as organization, e.addresses
     from claimed c left join account o on o.id = c.organization_id
     cross join lateral (
       select array_agg(distinct v.address) as addresses
         from account a join email v on v.account_id = a.id and v.is_primary and v.verified
        where a.kind = 'user' and a.active and not a.prohibit_login
          and case when c.organization_id is null then a.is_admin
                   else exists (select 1 from team t join team_member m on m.team_id = t.id
                                 where t.organization_id = c.organization_id and t.permission = 'owner'
                                   and m.account_id = a.id) end) e
    where c.disabled_reason is not null`,
);

export function createWebhookNoticeStore(db: Db): WebhookNoticeStore {
  return {
    async claim() {
      const rows = await db.query<Row>(CLAIM);
      return rows.map(
        ({ url, disabled_reason: reason, organization, addresses }): DisabledWebhook => ({
          ...{ url, reason, organization, addresses: addresses ?? [] },
        }),
      );
    },
  };
}
