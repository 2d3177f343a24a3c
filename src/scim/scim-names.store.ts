import { type Db, only, sql } from '../db/db.ts';
import type { ScimNameStore } from './scim-names.ts';

const BIND = sql(
  'scimNames.bind',
  `insert into scim_name as n (name_key, organization_id) values ($1, $2) on conflict (name_key) do update
      set organization_id = case when $3::boolean then excluded.organization_id else n.organization_id end
   returning organization_id as id`,
);

export function createScimNameStore(db: Db): ScimNameStore {
  return {
    async bind(name, organizationId, isConfirmed) {
      return only(await db.query<{ id: bigint }>(BIND, [name, organizationId, isConfirmed])).id;
    },
  };
}
