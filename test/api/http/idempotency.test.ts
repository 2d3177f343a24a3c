import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MAX_KEPT } from '../../../src/idempotency/idempotency.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { sendRaw } from '../../support/server/raw.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { createRobot, makeOrganization, makePerson, setActive } from '../../support/world/people.ts';

const KEY = 'Idempotency-Key';
const ORDER = {
  spec: {
    items: [
      { chart: { name: 'c', sourceRef: { name: 's' }, version: '1', releaseName: 'r', namespace: 'n', values: {} } },
    ],
  },
};
const DAY_MS = 86_400_000;
let keys = 0;
const newKey = () => `key-${++keys}`;
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';
const basic = (name: string, text: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${text}`).toString('base64')}`,
});

for (const driver of API_DRIVERS) {
  describe(`Idempotency keys on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const count = async (table: string, where = 'true') => {
      const found = await atrium.instance.db.query<{ total: number }>(
        statement(`select count(*)::integer as total from ${table} where ${where}`),
      );
      return found[0]?.total;
    };
    const tokenOf = (name: string) => atrium.world.users[name]?.token ?? '';
    const post = (name: string, path: string, body: unknown, key: string, headers: Record<string, string> = {}) =>
      atrium.as(name)('POST', path, body, { [KEY]: key, ...headers });
    const makeToken = (name: string, body: object, key: string, owner = name, text = tokenOf(name)) =>
      atrium.as()('POST', `/users/${owner}/tokens`, body, { ...basic(name, text), [KEY]: key });

    it(`Every route that creates something answers a repeated request as the first time on ${driver}`, async () => {
      const robot = await createRobot(atrium.instance, atrium.world.orgs.acme?.id ?? 0n, 'repeater');
      const uid = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
      const bodies: Record<string, [string, unknown]> = {
        '/admin/providers': ['root', { name: 'twice', issuer: 'https://login.example.com', client_id: 'atrium' }],
        '/admin/users': ['root', { username: 'twice', email: 'twice@example.com', password: 'long enough' }],
        '/admin/users/:username/password_link': ['root', undefined],
        '/admin/users/:username/orgs': ['root', { username: 'twice-org' }],
        '/authz/assignments': ['ann', { role: { name: 'cluster-operator' }, to: { type: 'user', name: 'cat' } }],
        '/authz/requests': [
          'dan',
          { relation: 'can_edit', object: { type: 'cluster', name: 'prod' }, for: 'PT1H', reason: 'twice' },
        ],
        '/authz/guardrails': ['ann', { name: 'twice', never: { users: ['eve'], relation: 'can_delete' } }],
        '/authz/reviews': ['ann', { question: { kind: 'team', team: { name: 'operators' } } }],
        '/authz/roles': [
          'ann',
          { name: 'twice', permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] },
        ],
        '/orgs': ['ann', { username: 'twice-own' }],
        '/orgs/:org/clusters': ['ann', { name: 'twice', uid: uid(1) }],
        '/orgs/:org/contracts': ['ann', { name: 'twice' }],
        '/orgs/:org/invitations': [
          'ann',
          { email: 'twice@example.net', team_ids: [Number(atrium.world.orgs.acme?.teams.Viewers)] },
        ],
        '/orgs/:org/robots': ['ann', { name: 'twice' }],
        '/orgs/:org/teams': ['ann', { name: 'twice' }],
        '/orgs/:org/webhooks': ['ann', { url: 'https://hooks.example.com/in', active: false }],
        '/admin/webhooks': ['root', { url: 'https://hooks.example.com/in', active: false }],
        '/robots/:id/tokens': ['ann', { name: 'twice' }],
        '/robots/:id/trust_rules': [
          'ann',
          { name: 'twice', issuer: 'https://issuer.example', claims: { sub: 'twice' } },
        ],
        '/user/clusters': ['ann', { name: 'twice-own', uid: uid(2) }],
        '/user/credentials': ['ann', { name: 'twice', type: 'Aws', n: 1 }],
        '/user/deploy/orders': ['ann', ORDER],
        '/user/emails': ['ann', { emails: ['twice@work.example'] }],
        '/users/:username/tokens': ['ann', { name: 'twice' }],
        '/users/:username/tokens/:token/rotate': ['ann', {}],
        '/robots/:id/tokens/:token/rotate': ['ann', {}],
        '/user/token/rotate': ['selfish', {}],
      };
      const own = {
        accountId: atrium.world.users.cat?.id ?? 0n,
        name: 'selfish',
        scopes: ['read:user'],
        canRotate: true,
      };
      atrium.world.users.selfish = {
        id: own.accountId,
        token: (await atrium.instance.identity.tokens.issue(own)).text,
      };
      // What has no entry in the documentation has a test of its own: see test/api/authzen/access-requests.test.ts.
      const documented = atrium.instance.routes.filter(({ creates, schema }) => creates && !schema.hide);
      const creating = documented.map(({ path }) => path.slice('/api/v1'.length));
      assert.deepEqual(creating.sort(), Object.keys(bodies).sort());
      for (const [route, [name, body]] of Object.entries(bodies)) {
        const filled = route
          .replace(':username', 'ann')
          .replace(':org', 'acme')
          .replace(':id', String(robot))
          .replace(':token', 'twice');
        const path = route.startsWith('/authz/') ? `${filled}?org=acme` : filled;
        const key = newKey();
        const headers = route.startsWith('/users/:username/tokens') ? basic(name, tokenOf(name)) : {};
        const first = await post(name, path, body, key, headers);
        assert.ok(first.status < 300, `${route}: ${first.text}`);
        assert.ok(!isReplay(first));
        const second = await post(name, path, body, key, headers);
        assert.ok(isReplay(second), `${route}: ${second.text}`);
        for (const same of ['etag', 'content-type']) assert.equal(second.headers.get(same), first.headers.get(same));
        assert.deepEqual([second.status, second.text], [first.status, first.text], route);
      }
    });

    it(`The response with a key is the same as without one on ${driver}`, async () => {
      const plain = await atrium.as('ann')('POST', '/user/deploy/orders', ORDER);
      const keyed = await post('ann', '/user/deploy/orders', ORDER, newKey());
      const names = (answer: Answer) => [...answer.headers.keys()].filter((name) => name !== 'x-request-id').sort();
      assert.deepEqual([keyed.status, names(keyed)], [plain.status, names(plain)]);
      assert.equal(keyed.headers.get('content-type'), plain.headers.get('content-type'));
      const spec = ORDER.spec;
      assert.deepEqual([keyed.body.spec, plain.body.spec], [spec, spec]);
      const shape = ({ body }: Answer) => ({ ...body, metadata: Object.keys(body.metadata) });
      assert.deepEqual(shape(keyed), shape(plain));
    });

    it(`Two hundred requests at once with one key have one effect on ${driver}`, async () => {
      const key = newKey();
      const { id, name } = await makePerson(atrium);
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => post(name, '/user/deploy/orders', ORDER, key)),
      );
      assert.equal(await count('deploy_order', `owner_id = ${id}`), 1);
      const done = answers.filter(({ status }) => status === 200);
      assert.equal(new Set(done.map(({ text }) => text)).size, 1);
      assert.equal(done.filter((answer) => !isReplay(answer)).length, 1);
      for (const { status, body, headers } of answers.filter((answer) => !done.includes(answer))) {
        assert.deepEqual([status, body.reason, headers.get('retry-after')], [409, 'request_in_progress', '1']);
      }
    });

    it(`A key that was used for another request is rejected on ${driver}`, async () => {
      const key = newKey();
      const path = '/orgs/acme/teams';
      assert.equal((await post('ann', path, { name: 'once' }, key)).status, 201);
      const others: [string, string, unknown][] = [
        ['another body', path, { name: 'other' }],
        ['other bytes', path, '{ "name": "once" }'],
        ['another query', `${path}?x=1`, { name: 'once' }],
        ['another spelling', '/orgs/ACME/teams', { name: 'once' }],
      ];
      for (const [what, where, body] of others) {
        const answer = await post('ann', where, body, key);
        assert.deepEqual([answer.status, answer.body.reason], [422, 'idempotency_key_reused'], what);
        assert.equal(answer.body.errors[0].field, KEY);
        assert.equal(answer.headers.get('etag'), null);
      }
      assert.equal(await count('team', `name in ('once', 'other')`), 1);
      assert.ok(isReplay(await post('ann', path, { name: 'once' }, key)));
    });

    it(`A key belongs to one caller and one route on ${driver}`, async () => {
      const key = newKey();
      const [one, other] = [await makePerson(atrium), await makePerson(atrium)];
      const first = await post(one.name, '/user/deploy/orders', ORDER, key);
      const second = await post(other.name, '/user/deploy/orders', ORDER, key);
      const third = await post(one.name, '/orgs', { username: `${one.name}-org` }, key);
      assert.deepEqual([first, second, third].map(isReplay), [false, false, false]);
      assert.notEqual(first.body.metadata.uid, second.body.metadata.uid);
      assert.equal(third.status, 201);
    });

    it(`A key under sudo belongs to the user and the administrator together on ${driver}`, async () => {
      const key = newKey();
      const { name } = await makePerson(atrium);
      const sudo = { Sudo: name };
      const own = await post(name, '/user/deploy/orders', ORDER, key);
      const asked = await post('root', '/user/deploy/orders', ORDER, key, sudo);
      const byRoot = await post('root', '/user/deploy/orders', ORDER, key);
      assert.deepEqual([own, asked, byRoot].map(isReplay), [false, false, false]);
      assert.ok(isReplay(await post('root', '/user/deploy/orders', ORDER, key, sudo)));
      assert.equal((await post('root', '/user/deploy/orders', ORDER, key, sudo)).text, asked.text);
    });

    it(`The text of a new token is returned again, and is not in the database on ${driver}`, async () => {
      const key = newKey();
      const made = await makeToken('bob', { name: 'sealed' }, key);
      const again = await makeToken('bob', { name: 'sealed' }, key);
      assert.deepEqual([again.status, isReplay(again), again.body.sha1], [201, true, made.body.sha1]);
      assert.equal(await count('token', `name = 'sealed'`), 1);
      const rows = await atrium.instance.db.query<{ text: string }>(
        statement(`select encode(sealed || hash || fingerprint, 'escape') as text from idempotency_key`),
      );
      for (const { text } of rows) assert.ok(!text.includes(made.body.sha1) && !text.includes(key));
      assert.ok(!atrium.logged().includes(made.body.sha1));
    });

    it(`The stored responses can still be opened after all keys were rotated on ${driver}`, async () => {
      const key = newKey();
      const made = await makeToken('bob', { name: 'rotated' }, key);
      const { values, damaged } = await atrium.instance.rotateKeys();
      assert.ok(values > 0);
      assert.deepEqual(damaged, []);
      assert.equal((await makeToken('bob', { name: 'rotated' }, key)).body.sha1, made.body.sha1);
    });

    it(`A repeated request needs the same rights as the first on ${driver}`, async () => {
      const admin = await makePerson(atrium, { isAdmin: true });
      const narrow = await makeToken(admin.name, { name: 'narrow', scopes: ['write:user'] }, newKey());
      const key = newKey();
      const wanted = { name: 'of cat' };
      assert.equal((await makeToken(admin.name, wanted, key, 'cat')).status, 201);
      const narrower = await makeToken(admin.name, wanted, key, 'cat', narrow.body.sha1);
      assert.deepEqual([narrower.status, narrower.body.sha1], [403, undefined]);
      await atrium.as('root')('PATCH', `/admin/users/${admin.name}`, { admin: false });
      const demoted = await makeToken(admin.name, wanted, key, 'cat');
      assert.deepEqual([demoted.status, demoted.body.sha1], [403, undefined]);
      await setActive(atrium.instance, admin.id, false);
      assert.equal((await makeToken(admin.name, wanted, key, 'cat')).status, 403);
      const nobody = await atrium.as()('POST', '/users/cat/tokens', wanted, { [KEY]: key });
      assert.equal(nobody.status, 401);
    });

    it(`A token with fewer scopes does not get what one with more created on ${driver}`, async () => {
      const { name } = await makePerson(atrium);
      const narrow = await makeToken(name, { name: 'narrow', scopes: ['write:user'] }, newKey());
      const [all, key] = [{ name: 'everything', scopes: ['all'] }, newKey()];
      assert.equal((await makeToken(name, all, key)).status, 201);
      const refused = await makeToken(name, all, key, name, narrow.body.sha1);
      assert.deepEqual([refused.status, refused.body.sha1], [403, undefined]);
      const orderKey = newKey();
      await post(name, '/user/deploy/orders', ORDER, orderKey);
      const other = await atrium.as()('POST', '/user/deploy/orders', ORDER, {
        Authorization: `token ${narrow.body.sha1}`,
        [KEY]: orderKey,
      });
      assert.deepEqual([other.status, other.body.reason], [422, 'idempotency_key_reused']);
    });

    it(`A rejected request leaves its key free on ${driver}`, async () => {
      const key = newKey();
      const taken = await makeOrganization(atrium, 'ann');
      const wish = { username: taken.name };
      assert.equal((await post('ann', '/orgs', wish, key)).body.reason, 'name_taken');
      assert.equal((await post('ann', '/orgs', wish, key)).body.reason, 'name_taken');
      await atrium.as('ann')('DELETE', `/orgs/${taken.name}`);
      await atrium.as('root')('DELETE', `/admin/reserved-names/${taken.name}`);
      const made = await post('ann', '/orgs', wish, key);
      assert.deepEqual([made.status, isReplay(made)], [201, false]);
      assert.ok(isReplay(await post('ann', '/orgs', wish, key)));
    });

    it(`An organization that was created again under its name is another one on ${driver}`, async () => {
      const key = newKey();
      const { name } = await makeOrganization(atrium, 'ann');
      assert.equal((await post('ann', `/orgs/${name}/teams`, { name: 'first' }, key)).status, 201);
      await atrium.as('ann')('DELETE', `/orgs/${name}`);
      await atrium.as('root')('DELETE', `/admin/reserved-names/${name}`);
      await atrium.as('ann')('POST', '/orgs', { username: name });
      const again = await post('ann', `/orgs/${name}/teams`, { name: 'first' }, key);
      assert.deepEqual([again.status, again.body.reason], [422, 'idempotency_key_reused']);
    });

    it(`A key is kept for 24 hours and then removed on ${driver}`, async (t) => {
      const key = newKey();
      const { id, name } = await makePerson(atrium);
      const now = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now });
      const order = () => post(name, '/user/deploy/orders', ORDER, key);
      const first = await order();
      t.mock.timers.setTime(now + DAY_MS - 1);
      assert.equal((await order()).text, first.text);
      t.mock.timers.setTime(now + DAY_MS);
      const second = await order();
      assert.deepEqual([isReplay(second), second.text === first.text], [false, false]);
      assert.ok(isReplay(await order()));
      assert.equal(await count('idempotency_key', `account_id = ${id}`), 1);
      await atrium.instance.idempotency.sweep(new Date(now + DAY_MS));
      assert.equal(await count('idempotency_key', `account_id = ${id}`), 1);
      await atrium.instance.idempotency.sweep(new Date(now + 2 * DAY_MS));
      assert.equal(await count('idempotency_key', `account_id = ${id}`), 0);
    });

    it(`A caller who has too many keys can send requests without one on ${driver}`, async () => {
      const { id, name } = await makePerson(atrium);
      const key = newKey();
      await post(name, '/user/deploy/orders', ORDER, key);
      const fill = `insert into idempotency_key (account_id, hash, fingerprint, sealed, created_at)
        select ${id}, decode(md5(n::text || '${name}'), 'hex'), '', '', now() from generate_series(2, ${MAX_KEPT}) n`;
      await atrium.instance.db.query(statement(fill));
      const refused = await post(name, '/user/deploy/orders', ORDER, newKey());
      assert.deepEqual([refused.status, refused.body.reason], [422, 'limit_reached']);
      assert.ok(isReplay(await post(name, '/user/deploy/orders', ORDER, key)));
      assert.equal((await atrium.as(name)('POST', '/user/deploy/orders', ORDER)).status, 200);
      assert.equal(await count('deploy_order', `owner_id = ${id}`), 2);
      await atrium.as('root')('DELETE', `/admin/users/${name}`);
      assert.equal(await count('idempotency_key', `account_id = ${id}`), 0);
    });

    it(`A key that is not 1 to 255 visible ASCII characters is rejected on ${driver}`, async () => {
      const body = JSON.stringify(ORDER);
      const orders = await count('deploy_order');
      const head = (lines: string) =>
        `POST /api/v1/user/deploy/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: token ${tokenOf('ann')}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${lines}\r\n\r\n${body}`;
      const bad = {
        empty: `${KEY}:`,
        blank: `${KEY}:   `,
        'too long': `${KEY}: ${'x'.repeat(256)}`,
        'with a space': `${KEY}: a b`,
        'with a tab': `${KEY}: a\tb`,
        'not ASCII': `${KEY}: caf\xe9`,
        'sent twice': `${KEY}: a\r\n${KEY}: b`,
        'the same twice': `${KEY}: a\r\n${KEY.toLowerCase()}: a`,
      };
      for (const [what, lines] of Object.entries(bad)) {
        const { status, text } = await sendRaw(atrium.url, [head(lines)]);
        assert.deepEqual([status, JSON.parse(text).reason], [400, 'invalid_request'], what);
      }
      assert.equal(await count('deploy_order'), orders);
      for (const key of ['!', '~'.repeat(255), '"8e03978e-40d5-43dd-bc93-6894a57f9324"']) {
        assert.equal((await sendRaw(atrium.url, [head(`${KEY}: ${key}`)])).status, 200);
      }
    });

    it(`A route that creates nothing ignores the key on ${driver}`, async () => {
      const key = newKey();
      const check = (user_name: string) =>
        atrium.as('ann')('POST', `/user/validate/username?user_name=${user_name}`, undefined, { [KEY]: key });
      assert.deepEqual([(await check('one')).status, (await check('two')).status], [200, 200]);
      assert.ok(!isReplay(await check('one')));
    });
  });
}
