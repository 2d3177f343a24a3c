import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const SOURCE = { apiGroup: 'source.toolkit.fluxcd.io', kind: 'HelmRepository', namespace: 'kubeops', name: 'charts' };
const CHART = { name: 'redis', sourceRef: SOURCE, version: 'v1.2.3', releaseName: 'cache', namespace: 'data' };
const order = (...charts: object[]) => ({
  spec: { items: charts.map((chart) => ({ chart: { ...CHART, ...chart } })) },
});

for (const driver of API_DRIVERS) {
  describe(`Deploy orders on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const create = async (body: object) => (await atrium.as('ann')('POST', '/user/deploy/orders', body)).body;
    const render = (name: string, uid: string, what: string) =>
      atrium.as(name)('GET', `/user/deploy/orders/${uid}/render/${what}`);
    const manifests = async (body: object) => {
      const { metadata } = await create(body);
      const { headers, text } = await render('ann', metadata.uid, 'manifest');
      assert.match(headers.get('content-type') ?? '', /^application\/yaml/);
      return parseAllDocuments(text).map((document) => document.toJS());
    };

    it(`A created deploy order is returned with an id, the first release name and the sent spec on ${driver}`, async () => {
      const sent = { ...order({ bundle: { name: 'b' }, valuesFile: 'values.yaml' }, { releaseName: 'two' }) };
      const answer = await atrium.as('ann')('POST', '/user/deploy/orders', {
        ...sent,
        spec: { ...sent.spec, kubeVersion: 'v1.31', big: 1 },
      });
      assert.equal(answer.status, 200);
      const { metadata, ...rest } = answer.body;
      assert.match(metadata.uid, /^[0-9a-f-]{36}$/);
      assert.match(metadata.creationTimestamp, /Z$/);
      assert.equal(metadata.name, 'cache');
      assert.deepEqual(rest, {
        apiVersion: 'deploy.atrium.dev/v1',
        kind: 'Order',
        spec: { ...sent.spec, kubeVersion: 'v1.31', big: 1 },
        status: {},
      });
    });

    it(`A deploy order renders one HelmRelease per chart, and a HelmRepository for a source URL, on ${driver}`, async () => {
      const url = 'oci://registry.example.com/charts';
      const [first, repository, second, ...others] = await manifests(
        order({}, { releaseName: 'two', sourceRef: { name: 'elsewhere', url }, values: { a: 1 } }),
      );
      assert.deepEqual(others, []);
      assert.equal(first.kind, 'HelmRelease');
      assert.deepEqual(first.metadata, { name: 'cache', namespace: 'data' });
      assert.deepEqual(first.spec.chart.spec, {
        chart: 'redis',
        version: 'v1.2.3',
        sourceRef: { kind: 'HelmRepository', name: 'charts', namespace: 'kubeops' },
      });
      assert.deepEqual([repository.kind, repository.spec.url, repository.spec.type], ['HelmRepository', url, 'oci']);
      assert.deepEqual([second.spec.releaseName, second.spec.values], ['two', { a: 1 }]);
      assert.deepEqual(repository.metadata, {
        name: 'elsewhere',
        namespace: second.spec.chart.spec.sourceRef.namespace,
      });
    });

    it(`Null is accepted for unset optional fields of a deploy order on ${driver}`, async () => {
      const sourceRef = { apiGroup: null, kind: null, namespace: null, name: 'charts', url: null };
      const valuesPatch = [{ op: 'add', path: '/a', from: null, value: null }];
      const [release, ...others] = await manifests(order({ sourceRef, values: null, valuesPatch }));
      assert.deepEqual(others, []);
      const source = { kind: 'HelmRepository', name: 'charts', namespace: 'flux-system' };
      assert.deepEqual(release.spec.chart.spec.sourceRef, source);
      assert.deepEqual(release.spec.values, { a: null });
      const [plain] = await manifests(order({ values: null, valuesPatch: null }));
      assert.deepEqual(plain.spec.values, {});
    });

    it(`Ambiguous strings and large numbers in a deploy order survive rendering to YAML on ${driver}`, async () => {
      const values = {
        ...{
          yes: 'yes',
          no: 'no',
          on: 'on',
          null: 'null',
          empty: '',
          tilde: '~',
          number: '007',
          float: '1e3',
          sexa: '12:30',
        },
        ...{
          lines: 'a\nb\n',
          dashes: '---\nkind: Secret',
          anchor: '&a *a',
          quote: `"'`,
          tab: '\t',
          unicode: '🦊\u2028',
        },
        ...{ '': 'no key', 'a: b': 1, '- x': 2, '<<': { merged: true }, list: [[], {}, null, -0.5, true] },
      };
      const [release] = await manifests(order({ values }));
      assert.deepEqual(release.spec.values, values);
      const text = JSON.stringify(order({ values: { big: 0 } })).replace('"big":0', '"big":9007199254740993');
      const { body } = await atrium.as('ann')('POST', '/user/deploy/orders', text);
      const raw = await render('ann', body.metadata.uid, 'manifest');
      assert.match(raw.text, /big: 9007199254740993$/m);
      assert.match((await render('ann', body.metadata.uid, 'resources')).text, /"big":9007199254740993/);
    });

    it(`A deploy order renders its resources per chart, as JSON or YAML, on ${driver}`, async () => {
      const { metadata } = await create(order({ values: { a: 1 } }, { releaseName: 'two' }));
      const json = await render('ann', metadata.uid, 'resources');
      assert.match(json.headers.get('content-type') ?? '', /^application\/json/);
      const [first, second] = json.body;
      assert.deepEqual(Object.keys(first), ['chart', 'releaseName', 'namespace', 'crds', 'resources']);
      assert.deepEqual([first.chart, first.releaseName, first.namespace, first.crds], ['redis', 'cache', 'data', []]);
      assert.deepEqual(second.resources[0].filename, 'helmrelease-two.yaml');
      assert.deepEqual(first.resources[0].key, 'HelmRelease/data/cache');
      assert.deepEqual(first.resources[0].data.spec.values, { a: 1 });
      for (const query of ['?skipCRDs=true', '?format=json', '?format=']) {
        assert.deepEqual((await render('ann', metadata.uid, `resources${query}`)).body, json.body, query);
      }
      const yaml = await render('ann', metadata.uid, 'resources?format=yaml');
      assert.match(yaml.headers.get('content-type') ?? '', /^application\/yaml/);
      const [shown] = parse(yaml.text);
      assert.deepEqual(parse(shown.resources[0].data), first.resources[0].data);
    });

    it(`A user's deploy orders are listed newest first, page by page and without their values, on ${driver}`, async () => {
      const call = atrium.as('bob');
      assert.deepEqual((await call('GET', '/user/deploy/orders')).body, []);
      const uids: string[] = [];
      for (const releaseName of ['one', 'two', 'three']) {
        const { body } = await call(
          'POST',
          '/user/deploy/orders',
          order({ releaseName, values: { secret: 'hidden' } }),
        );
        uids.unshift(body.metadata.uid);
      }
      const all = await call('GET', '/user/deploy/orders');
      assert.equal(all.headers.get('x-total-count'), '3');
      assert.deepEqual(
        all.body.map((one: { metadata: { uid: string } }) => one.metadata.uid),
        uids,
      );
      assert.deepEqual(Object.keys(all.body[0]), ['apiVersion', 'kind', 'metadata']);
      assert.deepEqual([all.body[0].kind, all.body[0].metadata.name], ['Order', 'three']);
      assert.match(all.body[0].metadata.creationTimestamp, /Z$/);
      assert.doesNotMatch(all.text, /hidden/);
      const second = await call('GET', '/user/deploy/orders?limit=2&page=2');
      assert.deepEqual([second.body.length, second.body[0].metadata.uid], [1, uids[2]]);
      assert.match(second.headers.get('link') ?? '', /page=1>; rel="prev"/);
      assert.deepEqual((await atrium.as('eve')('GET', '/user/deploy/orders')).body, []);
    });

    it(`Only its owner can delete a deploy order, and only once, on ${driver}`, async () => {
      const { metadata } = await create(order({}));
      const path = `/user/deploy/orders/${metadata.uid}`;
      for (const name of ['bob', 'eve', 'root']) {
        const answer = await atrium.as(name)('DELETE', path);
        assert.deepEqual([answer.status, answer.body.reason], [404, 'order_not_found'], name);
      }
      assert.equal((await render('ann', metadata.uid, 'manifest')).status, 200);
      assert.equal((await atrium.call('DELETE', `/api/v1${path}`)).status, 401);
      assert.equal((await atrium.as('ann')('DELETE', `/user/deploy/orders/${metadata.uid.toUpperCase()}`)).status, 204);
      assert.equal((await render('ann', metadata.uid, 'manifest')).status, 404);
      for (const uid of [metadata.uid, 'x', '1', crypto.randomUUID(), '%27;drop']) {
        assert.equal((await atrium.as('ann')('DELETE', `/user/deploy/orders/${uid}`)).status, 404, uid);
      }
      const listed = (await atrium.as('ann')('GET', '/user/deploy/orders?limit=50')).text;
      assert.doesNotMatch(listed, new RegExp(metadata.uid));
    });

    it(`Another user's deploy order, or an unknown one, is answered with 404 on ${driver}`, async () => {
      const { metadata } = await create(order({}));
      for (const what of ['manifest', 'resources']) {
        for (const name of ['bob', 'eve', 'root']) {
          const answer = await render(name, metadata.uid, what);
          assert.deepEqual([answer.status, answer.body.message], [404, 'order not found'], name);
        }
        assert.equal((await render('ann', metadata.uid.toUpperCase(), what)).status, 200);
        for (const uid of ['x', '1', crypto.randomUUID(), `${metadata.uid}x`, '%27;drop']) {
          assert.equal((await render('ann', uid, what)).status, 404, uid);
        }
      }
    });
  });
}
