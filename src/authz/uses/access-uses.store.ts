import { type Db, sql } from '../../db/db.ts';
import type { AccessUseStore } from './access-uses.ts';

// No rights depend on it, so no revision is taken. Rows are written in the order of their keys, as every replica does it,
// and only of organizations that are still there. Uses of users' own objects are of no organization.
const WRITE = sql(
  'accessUses.write',
  `insert into access_use (organization_id, principal_id, object_type, object_id, relation, last_day)
   select u.organization_id, u.principal_id, u.object_type, u.object_id, u.relation, max(u.day)
     from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::date[])
            as u (organization_id, principal_id, object_type, object_id, relation, day)
     join (select id from account where kind = 'organization' and id = any($1::bigint[]) order by id for key share) a
       on a.id = u.organization_id
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
   on conflict (organization_id, principal_id, object_type, object_id, relation)
   do update set last_day = excluded.last_day where access_use.last_day < excluded.last_day`,
);
const PRUNE = sql('accessUses.prune', 'delete from access_use where last_day < $1::date');

/** In one statement. */
const MAX_ROWS = 1000;

export function createAccessUseStore(db: Db): AccessUseStore {
  return {
    async write(uses) {
      for (let first = 0; first < uses.length; first += MAX_ROWS) {
        const some = uses.slice(first, first + MAX_ROWS);
        await db.query(WRITE, [
          some.map((use) => use.organizationId),
          some.map((use) => use.principalId),
          some.map((use) => use.type),
          some.map((use) => use.objectId),
          some.map((use) => use.relation),
          some.map((use) => use.day),
        ]);
      }
    },

    async prune(before) {
      await db.query(PRUNE, [before]);
    },
  };
}
