import { type Db, sql } from '../db/db.ts';
import type { ExpiringToken, ExpiryNoticeStore } from './expiry-notices.ts';

interface ClaimedRow {
  id: bigint;
  name: string;
  last_eight: string;
  expires_at: Date;
  robot: string | null;
  organization: string | null;
  addresses: string[] | null;
}

// By the clock of the database. No rights depend on it, so no revision is taken. Rows that another replica is claiming at
// this moment are left to it.
const CLAIM = sql(
  'expiryNotices.claim',
  `with due as (
     select k.id, d.days from token k
       cross join lateral (select min(t.days) as days from unnest($1::integer[]) as t (days)
                            where k.expires_at <= now() + t.days * interval '1 day'
                              and k.created_at <= k.expires_at - t.days * interval '1 day') d
      where k.expires_at > now() and k.expires_at <= now() + $2::integer * interval '1 day' and k.superseded_by is null
        and k.trust_rule_id is null
        and d.days is not null and (k.noticed_days is null or k.noticed_days > d.days)
      order by k.id limit $3 for update of k skip locked),
   claimed as (
     update token set noticed_days = due.days from due where token.id = due.id
     returning token.id, token.account_id, token.robot_id, token.name, token.last_eight, token.expires_at)
   select c.id, c.name, c.last_eight, c.expires_at, r.name as robot, o.name as organization, e.addresses
     from claimed c left join robot r on r.id = c.robot_id left join account o on o.id = r.owner_id
     cross join lateral (
       select array_agg(distinct v.address) as addresses
         from account a join email v on v.account_id = a.id and v.is_primary and v.verified
        where a.kind = 'user' and a.active and not a.prohibit_login
          and (a.id = c.account_id or (c.robot_id is not null and exists (
                 select 1 from team t join team_member m on m.team_id = t.id
                  where t.organization_id = c.account_id and t.permission = 'owner' and m.account_id = a.id)))) e
    order by c.expires_at, c.id`,
);

export function createExpiryNoticeStore(db: Db): ExpiryNoticeStore {
  return {
    async claim(days, max) {
      const rows = await db.query<ClaimedRow>(CLAIM, [[...days], Math.max(...days), max]);
      return rows.map(toExpiring);
    },
  };
}

function toExpiring({ id, name, last_eight, expires_at, robot, organization, addresses }: ClaimedRow): ExpiringToken {
  const owner = robot === null || organization === null ? undefined : { name: robot, organization };
  return { id, name, lastEight: last_eight, expiresAt: expires_at, robot: owner, addresses: addresses ?? [] };
}
