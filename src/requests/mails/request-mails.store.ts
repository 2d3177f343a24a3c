import { type Db, sql } from '../../db/db.ts';
import type { RequestMailStore } from './request-mails.ts';

const CAN_RECEIVE = `a.kind = 'user' and a.active and not a.prohibit_login`;
// By the clock of the database, so that several servers send one email.
const CLAIM = sql(
  'requestMails.claim',
  `with claimed as (
     insert into access_request_mail as m (organization_id, to_id, by_type, by_id, object_type, object_id, sent_at)
     select $1, a.id, $3, $4, $5, $6, now() from account a where a.id = any($2::bigint[])
     on conflict (organization_id, to_id, by_type, by_id, object_type, object_id)
       do update set sent_at = now() where m.sent_at <= now() - interval '10 minutes'
     returning to_id)
   select e.address from claimed c join account a on a.id = c.to_id and ${CAN_RECEIVE}
     join email e on e.account_id = a.id and e.is_primary and e.verified order by e.address`,
);
const ADDRESSES = sql(
  'requestMails.addresses',
  `select e.address from account a join email e on e.account_id = a.id and e.is_primary and e.verified
    where a.id = any($1::bigint[]) and ${CAN_RECEIVE} order by e.address`,
);
const OWNERS = sql(
  'requestMails.owners',
  `select distinct m.account_id as id from team t join team_member m on m.team_id = t.id
    where t.organization_id = $1 and t.permission = 'owner' order by m.account_id`,
);

export function createRequestMailStore(db: Db): RequestMailStore {
  return {
    async claim({ organizationId, by, object }, userIds) {
      const values = [organizationId, userIds, by.type, by.id, object.type, object.id];
      return (await db.query<{ address: string }>(CLAIM, values)).map(({ address }) => address);
    },
    addresses: async (userIds) =>
      (await db.query<{ address: string }>(ADDRESSES, [userIds])).map(({ address }) => address),
    owners: async (organizationId) => (await db.query<{ id: bigint }>(OWNERS, [organizationId])).map(({ id }) => id),
  };
}
