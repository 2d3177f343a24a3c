import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { type KubePlace, kubeToken, openKubePlace, resource, review, sar } from '../../support/services/kubernetes.ts';

const MANY = 60;

describe('What an API server may ask, and how often (K13)', () => {
  let atrium: TestServer;
  let place: KubePlace;
  let text: string;
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '40' } });
    place = await openKubePlace(atrium);
    text = await kubeToken(place.call, place.prod.id);
  });
  after(() => atrium.close());

  const access = () =>
    place.api(
      'POST',
      `/clusters/${place.prod.id}/access-review`,
      sar({ user: place.owner.name, ...resource('list', 'pods@shop') }),
    );
  const token = () => place.api('POST', `/clusters/${place.prod.id}/token-review`, review({ token: text }));

  it('Reviews do not count for the rate limit, and are not audited', async () => {
    const before = (await auditOf(atrium.instance.db, place.org.id)).length;
    const answers = await Promise.all(Array.from({ length: MANY }, (_, at) => (at % 2 === 0 ? access() : token())));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal((await auditOf(atrium.instance.db, place.org.id)).length, before);
    // The same robot is limited elsewhere.
    const others = await Promise.all(
      Array.from({ length: MANY }, () => place.api('GET', `/clusters/${place.prod.id}/bindings`)),
    );
    assert.ok(others.some(({ status }) => status === 429));
  });

  it('Reviews are answered while the database takes no writes', async () => {
    const { db } = atrium.instance;
    await db.query(statement('set default_transaction_read_only = on'));
    try {
      assert.ok((await place.call('PATCH', `/orgs/${place.org.name}`, { description: 'new' })).status >= 500);
      const [allowed, known] = [await access(), await token()];
      assert.deepEqual([allowed.status, allowed.body.status], [200, { allowed: true }], allowed.text);
      assert.deepEqual([known.status, known.body.status.authenticated], [200, true], known.text);
    } finally {
      await db.query(statement('set default_transaction_read_only = off'));
    }
  });
});
