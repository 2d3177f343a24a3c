import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createClusterListStore } from '../../src/clusters/cluster-list.store.ts';
import type { ClusterListStore, ClusterOrder, ClusterSearch } from '../../src/clusters/cluster-list.ts';
import { sql } from '../../src/db/db.ts';
import { IS_LONG } from '../counts.ts';
import { describeLong } from '../support/checks/long.ts';
import { DRIVERS } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

/** More than are read at once, and equal in most columns, so that the order among equals matters. */
const FILL = sql(
  'test.manyClusters',
  `insert into cluster (owner_id, name, uid, provider, node_count, heartbeat_at)
   select $1, 'many' || (n * 7919) % 1050, gen_random_uuid(), 'GKE', n % 3,
          case when n % 2 = 0 then timestamptz '2026-01-01' end from generate_series(1, 1050) n`,
);
const ORDERS: readonly ClusterOrder[] = ['id', 'name', 'heartbeat', 'nodes', 'created'];
const PAGE = 200;

for (const driver of DRIVERS) {
  describeLong(`Whole lists of clusters on ${driver}`, () => {
    let atrium: TestServer;
    let store: ClusterListStore;
    let owner: bigint;
    before(async () => {
      atrium = await openTestServer({ driver });
      store = createClusterListStore(atrium.instance.db);
      owner = atrium.world.users.bob?.id ?? 0n;
      await atrium.instance.db.query(FILL, [owner]);
    });
    after(() => atrium.close());

    it(`A list that is long is sent in pieces, and arrives whole on ${driver}`, async () => {
      const words = '😀'.repeat(300);
      await atrium.instance.db.query(
        sql('test.longNames', 'update cluster set display_name = $2 where owner_id = $1'),
        [owner, words],
      );
      const { status, text, body, headers } = await atrium.as('bob')('GET', '/user/clusters');
      assert.equal(status, 200);
      assert.equal(headers.get('transfer-encoding'), 'chunked');
      assert.equal(headers.get('x-total-count'), String(body.length));
      assert.ok(body.length >= 1050);
      assert.ok(!text.includes('\ufffd') && text.split(words).length - 1 === body.length, 'a name was cut');
    });

    it(`A list that is read at once has the clusters of all its pages, in their order, on ${driver}`, async () => {
      for (const orderBy of IS_LONG ? ORDERS : ORDERS.slice(0, 3)) {
        for (const isDescending of [false, true]) {
          const search: ClusterSearch = { text: 'many', provider: 'gke', now: new Date(), orderBy, isDescending };
          const whole = await store.ofOwner(owner, search);
          assert.equal(whole.total, 1050);
          const pages = [];
          for (let offset = 0; offset < whole.total; offset += PAGE) {
            pages.push(...(await store.ofOwner(owner, search, { offset, limit: PAGE })).items);
          }
          assert.deepEqual(whole.items, pages);
          const ids = whole.items.map(({ id }) => id);
          assert.deepEqual((await store.withIds(ids, search)).items, pages);
        }
      }
    });
  });
}
