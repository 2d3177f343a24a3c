import { PLATFORM, type Write } from '../changes/write.ts';
import { type Db, sql } from '../db/db.ts';
import type { BusStore } from './bus.ts';

const UIDS = sql('bus.uids', 'select id, uid from cluster where id = any($1::bigint[])');

export function createBusStore(db: Db, write: Write): BusStore {
  return {
    async uids(clusterIds) {
      if (clusterIds.length === 0) return new Map();
      const rows = await db.query<{ id: bigint; uid: string }>(UIDS, [clusterIds]);
      return new Map(rows.map(({ id, uid }) => [id, uid]));
    },

    async recordIssue(actor, personId, user) {
      await write(async (_query, _touch, record) =>
        record({
          actor,
          organizationId: PLATFORM,
          action: 'bus_user.issue',
          objectType: 'user',
          objectId: personId,
          after: { user },
        }),
      );
    },
  };
}
