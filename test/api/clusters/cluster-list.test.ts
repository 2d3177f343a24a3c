import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LOST_MS, PHASES, SILENT_MS, statusOf } from '../../../src/clusters/cluster.ts';
import { MAX_COUNTED } from '../../../src/db/search-text.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import {
  assertRejected,
  clusterPermission,
  makeHolder,
  orgPermission,
  type Rejected,
} from '../../support/world/authz.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

const INSERT = statement(
  `insert into cluster (owner_id, name, uid, display_name, provider, node_count, phase, heartbeat_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

interface Row {
  readonly name: string;
  readonly uid?: string;
  readonly displayName?: string;
  readonly provider?: string;
  readonly nodes?: number;
  readonly phase?: string;
  readonly heartbeat?: Date | string | null;
  readonly created?: string;
}

interface Listed {
  readonly name: string;
  readonly status: { readonly response: { readonly phase: string } };
}

for (const driver of API_DRIVERS) {
  describe(`Lists of clusters on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    async function insert(ownerId: bigint, rows: readonly Row[]): Promise<void> {
      for (const {
        name,
        uid = crypto.randomUUID(),
        displayName = name,
        provider = 'Generic',
        nodes = 0,
        ...row
      } of rows) {
        const { phase = 'Registered', heartbeat = null, created = '2026-01-01T00:00:00Z' } = row;
        await atrium.instance.db.query(INSERT, [
          ownerId,
          name,
          uid,
          displayName,
          provider,
          nodes,
          phase,
          heartbeat,
          created,
        ]);
      }
    }
    const names = (body: readonly Listed[]) => body.map(({ name }) => name);

    it(`Clusters can be searched, filtered, sorted and paged in both lists on ${driver}`, async () => {
      const { name: who, id } = await makePerson(atrium);
      const org = await makeOrganization(atrium, who);
      const uid = '0f1e2d3c-4b5a-4697-8877-665544332211';
      const rows: readonly Row[] = [
        { name: 'b-east', displayName: 'Östlich', provider: 'GKE', nodes: 3, created: '2026-01-03T00:00:00Z', uid },
        {
          name: 'B-west',
          provider: 'gke',
          nodes: 12,
          heartbeat: '2026-02-02T00:00:00Z',
          created: '2026-01-01T00:00:00Z',
        },
        { name: 'a_1', provider: 'EKS', nodes: 3, heartbeat: '2026-02-01T00:00:00Z', created: '2026-01-02T00:00:00Z' },
      ];
      await insert(org.id, rows);
      await insert(
        id,
        rows.map((row) => ({ ...row, uid: crypto.randomUUID() })),
      );
      await atrium.instance.db.query(statement(`update cluster set uid = uid || '_' || owner_id where owner_id = $1`), [
        id,
      ]);
      const table: readonly [query: string, found: readonly string[]][] = [
        ['', ['b-east', 'B-west', 'a_1']],
        ['?order=desc', ['a_1', 'B-west', 'b-east']],
        ['?sort=name', ['B-west', 'a_1', 'b-east']],
        ['?sort=name&order=desc', ['b-east', 'a_1', 'B-west']],
        // A cluster that has never reported was silent the longest.
        ['?sort=heartbeat', ['b-east', 'a_1', 'B-west']],
        ['?sort=heartbeat&order=desc', ['B-west', 'a_1', 'b-east']],
        ['?sort=nodes', ['b-east', 'a_1', 'B-west']],
        ['?sort=nodes&order=desc', ['B-west', 'a_1', 'b-east']],
        ['?sort=created&order=asc', ['B-west', 'a_1', 'b-east']],
        ['?q=B-', ['b-east', 'B-west']],
        ['?q=%20%C3%B6stl%20', ['b-east']],
        ['?q=_', ['a_1']],
        ['?q=%25', []],
        ['?provider=Gke', ['b-east', 'B-west']],
        ['?provider=G', []],
        ['?name=b-west', []],
        ['?name=B-west', ['B-west']],
        ['?q=west&provider=gke&phase=Registered&sort=nodes', ['B-west']],
        ['?q=west&phase=Active', []],
        ['?page=2&limit=2', ['a_1']],
        ['?sort=name&order=desc&limit=1', ['b-east']],
        ['?limit=200', ['b-east', 'B-west', 'a_1']],
      ];
      for (const [query, found] of table) {
        for (const path of [`/orgs/${org.name}/clusters`, '/user/clusters']) {
          const { status, body, text } = await atrium.as(who)('GET', `${path}${query}`);
          assert.equal(status, 200, text);
          assert.deepEqual(names(body), found, `${path}${query}`);
        }
      }
      const byUid = await atrium.as(who)('GET', `/orgs/${org.name}/clusters?q=${uid.slice(0, 8).toUpperCase()}`);
      assert.deepEqual(names(byUid.body), ['b-east']);
      // By chance, most UIDs contain a short text. The word of a cluster on the message bus can be longer than its UID.
      const own = (await atrium.as(who)('GET', '/user/clusters?name=b-east')).body[0];
      const found = async (text: string) => names((await atrium.as(who)('GET', `/user/clusters?q=${text}`)).body);
      assert.deepEqual(await found(own.uid), ['b-east']);
      for (const text of [own.uid.slice(0, 7), own.uid.slice(1), `${own.uid}_${id}`, `_${id}`]) {
        assert.deepEqual(await found(text), [], text);
      }
    });

    it(`The totals and links of lists of clusters are those of the filtered list on ${driver}`, async () => {
      const { name: who } = await makePerson(atrium);
      const org = await makeOrganization(atrium, who);
      await insert(
        org.id,
        Array.from({ length: 205 }, (_, n) => ({ name: `c${n}`, provider: n < 60 ? 'AKS' : 'EKS' })),
      );
      const pageOf = async (path: string) => {
        const { body, headers } = await atrium.as(who)('GET', path);
        return [body.length, headers.get('x-total-count'), headers.get('link')?.match(/rel="\w+"/g)?.length ?? 0];
      };
      const path = `/orgs/${org.name}/clusters`;
      assert.deepEqual(await pageOf(path), [30, '205', 2]);
      assert.deepEqual(await pageOf(`${path}?limit=500`), [200, '205', 2]);
      assert.deepEqual(await pageOf(`${path}?limit=200&page=2`), [5, '205', 2]);
      assert.deepEqual(await pageOf(`${path}?provider=aks&limit=50`), [50, '60', 2]);
      assert.deepEqual(await pageOf(`${path}?provider=aks&limit=50&page=9`), [0, '60', 2]);
      assert.deepEqual(await pageOf(`${path}?provider=aks&limit=200`), [60, '60', 0]);
      // Without page and limit, the clusters of the caller are not paged.
      assert.deepEqual(await pageOf('/user/clusters'), [0, '0', 0]);
      await insert(
        atrium.world.users[who]?.id ?? 0n,
        Array.from({ length: 60 }, (_, n) => ({ name: `own${n}` })),
      );
      assert.deepEqual(await pageOf('/user/clusters?sort=name'), [60, '60', 0]);
      assert.deepEqual(await pageOf('/user/clusters?page=2'), [30, '60', 2]);
    });

    it(`The phase that SQL derives is the phase that is shown, in every state and at every boundary on ${driver}`, async (t) => {
      const now = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now });
      const { name: who, id } = await makePerson(atrium);
      const org = await makeOrganization(atrium, who);
      const silences = [-60_000, 0, 1, ...[SILENT_MS, LOST_MS].flatMap((ms) => [ms - 1, ms, ms + 1]), 10 * LOST_MS];
      const moments: (string | null)[] = [null, ...silences.map((ms) => new Date(now - ms).toISOString())];
      // Finer than a millisecond, as another program could write it.
      moments.push(...[SILENT_MS, LOST_MS].map((ms) => new Date(now - ms).toISOString().replace('Z', '999Z')));
      const rows = [...PHASES, 'Odd'].flatMap((phase) =>
        moments.map((heartbeat, place) => ({ name: `${phase}-${place}`, phase, heartbeat })),
      );
      await insert(org.id, rows);
      await insert(id, rows);
      const expected = new Map(
        rows.map(({ name, phase, heartbeat }) => {
          const heartbeatAt = heartbeat === null ? null : new Date(heartbeat);
          return [name, statusOf({ phase, reason: '', message: '', heartbeatAt }, new Date(now)).phase];
        }),
      );
      const { body: overview } = await atrium.as(who)('GET', `/orgs/${org.name}/overview`);
      for (const phase of PHASES) {
        const inPhase = [...expected].filter(([, shown]) => shown === phase).map(([name]) => name);
        assert.equal(overview.clusters.by_phase[phase], inPhase.length, phase);
        for (const path of [`/orgs/${org.name}/clusters`, '/user/clusters']) {
          const { body } = await atrium.as(who)('GET', `${path}?phase=${phase}&limit=200`);
          assert.deepEqual(names(body), inPhase, `${path} ${phase}`);
          assert.ok(body.every((one: Listed) => one.status.response.phase === phase));
        }
      }
      assert.equal(overview.clusters.all, rows.length);
      // Every phase that can be derived occurs, so nothing was compared with nothing.
      assert.deepEqual(new Set(expected.values()), new Set([...PHASES, 'Odd']));
    });
  });
}

const MANY = statement(
  `insert into cluster (owner_id, name, uid) select $1, 'many' || lpad(n::text, 5, '0'), gen_random_uuid()
     from generate_series(1, $2::integer) n`,
);

describe('Lists of clusters', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Unknown values in the query of a list of clusters are rejected, and filters open nothing', async () => {
    const phases = `phase must be one of ${PHASES.join(', ')}`;
    const sorts = 'sort must be one of name, heartbeat, nodes, created';
    const refused: Rejected[] = ['/orgs/acme/clusters', '/user/clusters'].flatMap((path) => [
      { who: 'ann', send: ['GET', `${path}?phase=active`], status: 400, message: phases },
      { who: 'ann', send: ['GET', `${path}?phase=`], status: 400, message: phases },
      { who: 'ann', send: ['GET', `${path}?sort=uid`], status: 400, message: sorts },
      { who: 'ann', send: ['GET', `${path}?sort=name,id`], status: 400, message: sorts },
      { who: 'ann', send: ['GET', `${path}?order=DESC`], status: 400, message: 'order must be one of asc, desc' },
      { who: 'ann', send: ['GET', `${path}?q=a&q=b`], status: 400, message: 'q must be string' },
      { who: 'ann', send: ['GET', `${path}?phase=Lost&phase=Active`], status: 400, message: /phase must be/ },
    ]);
    refused.push({
      who: 'eve',
      send: ['GET', '/orgs/acme/clusters?q=prod'],
      status: 404,
      message: 'organization does not exist',
    });
    const { name: who } = await makeHolder(atrium, [orgPermission('view members')]);
    refused.push({
      who,
      send: ['GET', '/orgs/acme/clusters?phase=Lost'],
      status: 403,
      message: 'missing relation view_clusters:org',
    });
    for (const one of refused) await assertRejected(atrium, one);
    assert.equal((await atrium.as(who)('GET', '/user/clusters?all=true&q=prod')).text, '[]');
    const { name: viewer } = await makeHolder(atrium, [clusterPermission('view clusters')]);
    const found = await atrium.as(viewer)('GET', '/user/clusters?all=true&q=PROD&limit=1');
    assert.deepEqual([found.body[0].name, found.headers.get('x-total-count')], ['prod', '1']);
    assert.equal((await atrium.as(viewer)('GET', '/user/clusters?all=true&q=globex')).text, '[]');
  });

  it('A site administrator gets pages of very many clusters, and is told so instead of the whole list', async () => {
    await atrium.instance.db.query(MANY, [atrium.world.orgs.acme?.id, MAX_COUNTED]);
    const whole = 'too many clusters for this list: pass page and limit';
    const sorted = 'too many clusters for this list: sort by ID, name or time of creation, or narrow the list';
    const path = '/user/clusters?all=true';
    await assertRejected(atrium, { who: 'root', send: ['GET', path], status: 400, message: whole });
    for (const sort of ['nodes', 'heartbeat']) {
      const send = ['GET', `${path}&page=1&limit=3&sort=${sort}`] as const;
      await assertRejected(atrium, { who: 'root', send, status: 400, message: sorted });
    }
    const page = await atrium.as('root')('GET', `${path}&page=2&limit=3&sort=name`);
    assert.deepEqual([page.status, page.body.length], [200, 3]);
    const narrow = await atrium.as('root')('GET', `${path}&sort=nodes&q=many00001`);
    assert.deepEqual(
      narrow.body.map((one: { name: string }) => one.name),
      ['many00001'],
    );
  });
});
