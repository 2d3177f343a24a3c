import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseCreds } from '@nats-io/jwt';
import { fromSeed } from '@nats-io/nkeys';
import { readConfig } from '../../../src/base/config/config.ts';
import { createLog } from '../../../src/base/log.ts';
import { openInstance } from '../../../src/instance.ts';
import { openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { claimsOf, fileOf } from '../../support/services/bus.ts';
import { lacks } from '../../support/services/requirements.ts';
import { createCluster, makePerson, removeMember, setActive } from '../../support/world/people.ts';

/** No bus is running here: credentials are issued without one. */
describe('Bus credentials', () => {
  let atrium: TestServer;
  const env = { BUS_URL: 'nats://127.0.0.1:1', BUS_WS_URL: 'ws://127.0.0.1:2' };
  const uid = (name: string) => atrium.world.clusters[name]?.uid ?? '';
  const id = (name: string) => atrium.world.users[name]?.id ?? 0n;
  const own = async (name: string) => await atrium.as(name)('GET', '/user/bus/credentials');

  before(async () => {
    atrium = await openTestServer({ env });
  });
  after(() => atrium.close());

  it('Bus credentials are a NATS .creds file with the bus endpoints, TCP first', async () => {
    const { status, body } = await own('ann');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['busEndpoints', 'credentials']);
    assert.deepEqual(body.busEndpoints, ['nats://127.0.0.1:1', 'ws://127.0.0.1:2']);
    const { jwt, key, uc } = await parseCreds(Buffer.from(fileOf(body)));
    assert.match(jwt, /^eyJ/);
    assert.equal(fromSeed(Buffer.from(key)).getPublicKey(), uc.sub);
    assert.equal(uc.name, 'ann');
  });

  it('Bus credentials expire after one hour and are reissued for the same NATS user', async () => {
    const now = Math.floor(Date.now() / 1000);
    const [first, second] = [claimsOf(fileOf((await own('bob')).body)), claimsOf(fileOf((await own('bob')).body))];
    assert.equal(first.user, second.user);
    const { iat = 0, exp = 0 } = second;
    assert.ok(iat >= now && iat <= Date.now() / 1000);
    assert.equal(exp - iat, 3600);
  });

  it('Concurrent requests by one person return bus credentials for the same NATS user', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => own('cat')));
    assert.equal(new Set(answers.map(({ body }) => claimsOf(fileOf(body)).user)).size, 1);
  });

  it("Bus permissions cover the user's own subjects and the clusters that authorization allows", async () => {
    const allowed = async (name: string) => {
      const { publish, subscribe } = claimsOf(fileOf((await own(name)).body));
      return { pub: publish.sort(), sub: subscribe.sort() };
    };
    const clusters = (root: string, names: string[]) => names.map((name) => `${root}.${uid(name)}.>`);
    const self = (name: string) => [`user.${id(name)}.>`];
    const inbox = (name: string) => [`_INBOX.${id(name)}.>`];
    const all = ['prod', 'staging', 'laptop'];
    const acme = ['prod', 'staging'];
    assert.deepEqual(await allowed('ann'), {
      pub: [...self('ann'), ...clusters('cluster', all), ...clusters('history', all)].sort(),
      sub: [...self('ann'), ...inbox('ann'), ...clusters('cluster', all)].sort(),
    });
    assert.deepEqual(await allowed('dan'), {
      pub: [...self('dan'), ...clusters('cluster', acme)].sort(),
      sub: [...self('dan'), ...inbox('dan'), ...clusters('cluster', acme)].sort(),
    });
    assert.deepEqual(await allowed('eve'), {
      pub: [...self('eve'), ...clusters('cluster', ['globex']), ...clusters('history', ['globex'])].sort(),
      sub: [...self('eve'), ...inbox('eve'), ...clusters('cluster', ['globex'])].sort(),
    });
    assert.deepEqual(await allowed('root'), { pub: self('root'), sub: [...inbox('root'), ...self('root')].sort() });
  });

  it('Newly issued bus credentials reflect a change of rights immediately', async () => {
    const before = claimsOf(fileOf((await own('cat')).body));
    assert.ok(JSON.stringify(before).includes(uid('prod')));
    await removeMember(atrium.instance, atrium.world.orgs.acme?.teams.Viewers ?? 0n, id('cat'));
    const gone = claimsOf(fileOf((await own('cat')).body));
    assert.ok(!JSON.stringify(gone).includes(uid('prod')));
  });

  it('Bus keys survive a full vault key rotation with the old keys removed', {
    skip: lacks('postgresql'),
  }, async () => {
    const before = claimsOf(fileOf((await own('ann')).body));
    const configuration = await atrium.instance.features.bus.serverConfig();
    const later = () => new Date(Date.now() + 7_200_000);
    assert.deepEqual((await atrium.instance.rotateKeys({ now: later() })).damaged, []);
    assert.deepEqual((await atrium.instance.rotateKeys({ now: later() })).damaged, []);
    const after = claimsOf(fileOf((await own('ann')).body));
    assert.equal(after.user, before.user);
    assert.equal(after.iss, before.iss);
    // Another process reads the keys again.
    const { DATABASE_URL = '' } = atrium.instance.config;
    const config = readConfig({ ...env, DATABASE_URL, ATRIUM_KEY: TEST_KEY });
    const other = await openInstance(config, { log: createLog('error'), say: () => undefined });
    assert.equal(await other.features.bus.serverConfig(), configuration);
    await other.close();
  });

  it('Clusters whose UID could act as a wildcard are left out of bus permissions', async () => {
    for (const wild of ['*', '>', 'a.>', 'x y', '']) {
      await createCluster(atrium.instance, { ownerId: id('bob'), name: `wild${wild.length}${wild}`, uid: wild });
    }
    const { publish, subscribe } = claimsOf(fileOf((await own('bob')).body));
    for (const subject of [...publish, ...subscribe]) {
      assert.match(subject, /^(user\.\d+|_INBOX\.\d+|(cluster|history)\.[\da-f-]{36})\.>$/);
    }
  });
});

describe('Bus credentials for site administrators', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const WHOLE = ['busEndpoints', 'account', 'user', 'jwt', 'seed', 'credentials'];

  it('Bus credentials list no WebSocket endpoint when none is configured', async () => {
    const { body } = await atrium.as('ann')('GET', '/user/bus/credentials');
    assert.deepEqual(body.busEndpoints, ['nats://127.0.0.1:4222']);
  });

  it('admin_credentials belong to the administrative account, with a NATS user of their own', async () => {
    const { status, body } = await atrium.as('root')('GET', '/user/bus/admin_credentials');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), WHOLE);
    const read = await parseCreds(Buffer.from(fileOf(body)));
    assert.equal(read.jwt, body.jwt);
    assert.equal(read.key, body.seed);
    assert.equal(read.uc.iss, body.account);
    assert.equal(read.uc.sub, body.user);
    const other = (await atrium.as('root')('GET', '/user/bus/user_credentials')).body;
    assert.notEqual(other.account, body.account);
    assert.notEqual(other.user, body.user);
  });

  it('user_credentials are issued for the named user, in any letter case, and for the caller by default', async () => {
    const ask = async (query: string) => await atrium.as('root')('GET', `/user/bus/user_credentials${query}`);
    const ann = await ask('?user=ANN');
    assert.equal(ann.status, 200);
    assert.deepEqual(Object.keys(ann.body), WHOLE);
    assert.equal(claimsOf(fileOf(ann.body)).name, 'ann');
    const own = (await atrium.as('ann')('GET', '/user/bus/credentials')).body;
    assert.equal(claimsOf(fileOf(own)).user, ann.body.user);
    for (const query of ['', '?user=', '?user=root']) {
      const { status, body } = await ask(query);
      assert.equal(status, 200);
      assert.equal(claimsOf(fileOf(body)).name, 'root');
    }
  });

  it('The audit log records who obtained whose bus credentials, without secrets', async () => {
    const { body } = await atrium.as('root')('GET', '/user/bus/user_credentials?user=dan');
    const log = await atrium.as('root')('GET', '/admin/audit?action=bus_user.issue&limit=1');
    const [entry] = log.body.items;
    assert.deepEqual([entry.actor.name, entry.after], ['root', { user: body.user }]);
  });

  const REFUSED: readonly (readonly [who: string | undefined, path: string, status: number, message: RegExp])[] = [
    [undefined, 'credentials', 401, /token is required/],
    [undefined, 'admin_credentials', 401, /token is required/],
    ['mia', 'credentials', 403, /not activated/],
    ['zed', 'credentials', 403, /prohibited/],
    ['ann', 'admin_credentials', 403, /site admin/],
    ['ann', 'user_credentials', 403, /site admin/],
    ['ann', 'user_credentials?user=ann', 403, /site admin/],
    ['ann', 'cluster-resource-history?cluster=x', 403, /site admin/],
    ['ann', 'cluster-resource-history', 403, /site admin/],
    ['root', 'user_credentials?user=nobody', 404, /user does not exist/],
    ['root', 'user_credentials?user=acme', 404, /user does not exist/],
    ['root', 'user_credentials?user=ann@example.com', 404, /user does not exist/],
    ['root', `user_credentials?user=${'x'.repeat(5000)}`, 404, /user does not exist/],
    ['root', 'user_credentials?user=%00', 400, /NUL/],
    ['root', 'user_credentials?user=%F0%9F%98%80', 404, /user does not exist/],
    ['root', 'user_credentials?user=ann&user=bob', 400, /user/],
    ['root', 'user_credentials?user=mia', 403, /not activated/],
    ['root', 'user_credentials?user=zed', 403, /prohibited/],
    ['root', 'cluster-resource-history', 400, /cluster is required/],
    ['root', 'cluster-resource-history?cluster=', 400, /cluster/],
    ['root', 'cluster-resource-history?cluster=*', 400, /UID/],
    ['root', 'cluster-resource-history?cluster=a.%3E', 400, /UID/],
    ['root', 'cluster-resource-history?cluster=a&cluster=b', 400, /cluster/],
    ['root', 'cluster-resource-history?cluster=a&since=yesterday', 400, /since/],
    ['root', 'cluster-resource-history?cluster=a&since=2026-13-45T00:00:00Z', 400, /since/],
    ['root', 'cluster-resource-history?cluster=a&cursor=%25%25', 400, /cursor/],
    [
      'root',
      `cluster-resource-history?cluster=a&cursor=${Buffer.from('user.7.a').toString('base64url')}`,
      400,
      /cursor/,
    ],
  ];
  for (const [who, path, status, message] of REFUSED) {
    it(`GET /user/bus/${path.slice(0, 60)} is answered with ${status} for ${who ?? 'an anonymous caller'}`, async () => {
      const answer = await atrium.as(who)('GET', `/user/bus/${path}`);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.message, message);
    });
  }

  const tokenOf = async (name: string, token: { scopes?: string[]; expiresAt?: Date } = {}) => {
    const accountId = atrium.world.users[name]?.id ?? 0n;
    const made = { accountId, name: crypto.randomUUID(), scopes: ['all'], ...token };
    const { id, text } = await atrium.instance.identity.tokens.issue(made);
    return { id, text, headers: { Authorization: `token ${text}` } };
  };
  const ask = (path: string, headers: Record<string, string>) =>
    atrium.as()('GET', `/user/bus/${path}`, undefined, headers);
  const userOf = async (headers: Record<string, string>, path = 'credentials') =>
    claimsOf(fileOf((await ask(path, headers)).body)).user;
  const revoked = async (user: string) => {
    const rows = statement('select public_key from bus_revocation where public_key = $1');
    return (await atrium.instance.db.query(rows, [user])).length === 1;
  };

  it('Bus credentials of every kind need a token with the scope all', async () => {
    const narrow = await tokenOf('root', {
      scopes: ['write:user', 'write:authz', 'write:credential', 'write:organization', 'write:admin'],
    });
    for (const path of ['credentials', 'credentials?sudo=ann', 'admin_credentials', 'user_credentials?user=ann']) {
      const answer = await ask(path, narrow.headers);
      assert.equal(answer.status, 403, path);
      assert.match(answer.body.message, /required=\[all\]/);
      const pair = Buffer.from(`root:${narrow.text}`).toString('base64');
      assert.equal((await ask(path, { Authorization: `Basic ${pair}` })).status, 403, path);
    }
    const password = Buffer.from(`ann:${atrium.world.users.ann?.password}`).toString('base64');
    assert.equal((await ask('credentials', { Authorization: `Basic ${password}` })).status, 200);
    const session = await atrium.instance.identity.sessions.open(atrium.world.users.ann?.id ?? 0n, false, new Date());
    assert.equal((await ask('credentials', { Cookie: `atrium_session=${session.text}` })).status, 200);
  });

  it('Revoking a token revokes the bus credentials that were obtained with it, and no others', async () => {
    const [one, two] = [await tokenOf('bob'), await tokenOf('bob')];
    const user = await userOf(one.headers);
    await atrium.as()('DELETE', `/users/bob/tokens/${two.id}`, undefined, one.headers);
    assert.equal(await revoked(user), false, 'the other token was never used for it');
    await atrium.as('bob')('DELETE', `/users/bob/tokens/${one.id}`);
    assert.equal(await revoked(user), true);
    assert.notEqual(await userOf({ Authorization: `token ${atrium.world.users.bob?.token}` }), user);
  });

  it('Bus credentials obtained by sudo, by name or in a session end with the token behind them', async () => {
    for (const path of ['credentials?sudo=cat', 'user_credentials?user=cat', 'admin_credentials', 'session']) {
      const token = await tokenOf('root');
      const signedIn = await atrium.as()('POST', '/user/signin', { token: token.text });
      const cookie = signedIn.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
      const headers = path === 'session' ? { Cookie: cookie.join('; ') } : token.headers;
      const user = await userOf(headers, path === 'session' ? 'credentials' : path);
      assert.equal(await revoked(user), false);
      await atrium.as('root')('DELETE', `/users/root/tokens/${token.id}`);
      assert.equal(await revoked(user), true, path);
    }
  });

  it('Bus credentials end when the account behind their token is deactivated or deleted', async () => {
    for (const end of ['deactivated', 'deleted']) {
      const admin = await makePerson(atrium, { isAdmin: true });
      const user = await userOf((await tokenOf(admin.name)).headers, 'credentials?sudo=dan');
      if (end === 'deactivated') await setActive(atrium.instance, admin.id, false);
      else assert.equal((await atrium.as('root')('DELETE', `/admin/users/${admin.name}`)).status, 204);
      assert.equal(await revoked(user), true, end);
    }
  });

  it('Bus credentials do not outlive the token that they were obtained with', async () => {
    const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 600_000);
    const { headers } = await tokenOf('eve', { expiresAt });
    assert.equal((claimsOf(fileOf((await ask('credentials', headers)).body)).exp ?? 0) * 1000, expiresAt.getTime());
  });

  it('A token that is revoked while bus credentials are issued with it leaves no valid ones', async () => {
    for (let round = 0; round < 5; round++) {
      const token = await tokenOf('fan03');
      const [answer] = await Promise.all([
        ask('credentials', token.headers),
        atrium.instance.identity.tokens.revoke(token.id),
      ]);
      if (answer.status !== 200) assert.equal(answer.status, 401, answer.text);
      else assert.equal(await revoked(claimsOf(fileOf(answer.body)).user), true);
    }
  });

  it('The newest revocations are kept whatever the clock says', async () => {
    const count = async () =>
      (await atrium.instance.db.query(statement('select public_key from bus_revocation'))).length;
    const before = await count();
    await atrium.instance.db.query(statement(`update bus_revocation set revoked_at = now() - interval '1 year'`));
    const token = await tokenOf('fan04');
    await userOf(token.headers);
    await atrium.instance.identity.tokens.revoke(token.id);
    assert.equal(await count(), before + 1);
  });
});
