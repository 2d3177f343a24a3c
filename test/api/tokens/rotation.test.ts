import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { basic, bearer, endOverlap, tokenCalls } from '../../support/world/tokens.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
/** Whether two moments are at most a minute apart. */
const isAbout = (one: string, other: string) => Math.abs(Date.parse(one) - Date.parse(other)) < 60_000;

for (const driver of API_DRIVERS) {
  describe(`Rotation of tokens on ${driver}`, () => {
    let atrium: TestServer;
    let calls: ReturnType<typeof tokenCalls>;
    before(async () => {
      atrium = await openTestServer({ driver, hasOurClock: true });
      calls = tokenCalls(atrium);
    });
    after(() => atrium.close());

    const works = async (text: string) => (await calls.withToken(text)('GET', '/user/token')).status;
    const robotPath = () => `/robots/${atrium.world.robots.ci}/tokens`;

    it(`Both tokens work during the overlap, and the list shows which follows which on ${driver}`, async () => {
      const old = await calls.make('ann', { name: 'deploy', scopes: ['read:user'], expires_at: inDays(30) });
      const made = await calls.rotate('ann', 'deploy', { overlap_hours: 2 });
      assert.equal(made.status, 201, made.text);
      const next = made.body;
      assert.match(next.sha1, /^atr_[0-9A-Za-z]{33}$/);
      assert.notEqual(next.sha1, old.sha1);
      assert.deepEqual([next.name, next.scopes, next.replaces], ['deploy', ['read:user'], old.id]);
      assert.ok(isAbout(next.expires_at, inDays(30)), next.expires_at);
      assert.deepEqual([await works(old.sha1), await works(next.sha1)], [200, 200]);
      const pair = (await calls.list('ann')).filter(({ name }) => name === 'deploy');
      const links = pair.map(({ id, replaces, replaced_by }) => [id, replaces, replaced_by]);
      assert.deepEqual(links, [
        [old.id, undefined, next.id],
        [next.id, old.id, undefined],
      ]);
      assert.ok(isAbout(pair[0].expires_at, inDays(2 / 24)), pair[0].expires_at);
      assert.doesNotMatch(atrium.logged(), new RegExp(next.sha1));
    });

    it(`The old token ends by itself after the overlap, as if revoked, on ${driver}`, async (t) => {
      const old = await calls.make('bob', { name: 'ending', scopes: ['all'] });
      const next = (await calls.rotate('bob', old.id, { overlap_hours: 24 })).body;
      assert.equal(await works(old.sha1), 200);
      await endOverlap(t, atrium, old.id);
      assert.deepEqual([await works(old.sha1), await works(next.sha1)], [401, 200]);
      const left = (await calls.list('bob')).filter(({ name }) => name === 'ending');
      assert.deepEqual(
        left.map(({ id, replaces }) => [id, replaces]),
        [[next.id, old.id]],
      );
      const entries = await auditOf(atrium.instance.db, atrium.world.users.bob?.id ?? 0n);
      const about = entries.filter(({ object_id }) => [old.id, next.id].map(String).includes(String(object_id)));
      assert.deepEqual(
        about.map(({ action, object_id }) => `${action} ${object_id}`),
        [`token.create ${old.id}`, `token.create ${next.id}`, `token.rotate ${old.id}`, `token.expire ${old.id}`],
      );
    });

    it(`Without an overlap, the old token is rejected at once on ${driver}`, async () => {
      const old = await calls.make('bob', { name: 'leaked' });
      const next = (await calls.rotate('bob', 'leaked', { overlap_hours: 0 })).body;
      assert.deepEqual([await works(old.sha1), await works(next.sha1)], [401, 200]);
    });

    it(`A session that the old token opened ends with it on ${driver}`, async (t) => {
      const old = await calls.make('cat', { name: 'browser' });
      const signedIn = await atrium.as()('POST', '/user/signin', { token: old.sha1 });
      assert.equal(signedIn.status, 200, signedIn.text);
      const cookie = signedIn.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      const status = async () => (await atrium.as()('GET', '/user', undefined, { Cookie: cookie })).status;
      await calls.rotate('cat', 'browser', { overlap_hours: 23 });
      assert.equal(await status(), 200);
      await endOverlap(t, atrium, old.id);
      assert.equal(await status(), 401);
    });

    it(`A successor can be rotated again, and each predecessor keeps its own end on ${driver}`, async () => {
      const first = await calls.make('dan', { name: 'chain' });
      const second = (await calls.rotate('dan', 'chain', { overlap_hours: 5 })).body;
      const third = (await calls.rotate('dan', 'chain', { overlap_hours: 1 })).body;
      assert.equal(third.replaces, second.id);
      const all = (await calls.list('dan')).filter(({ name }) => name === 'chain');
      assert.deepEqual(
        all.map(({ id, replaced_by }) => [id, replaced_by]),
        [
          [first.id, second.id],
          [second.id, third.id],
          [third.id, undefined],
        ],
      );
      assert.ok(isAbout(all[0].expires_at, inDays(5 / 24)));
      assert.ok(isAbout(all[1].expires_at, inDays(1 / 24)));
    });

    it(`Revoking the old token ends it at once, and revoking the new one does not bring it back, on ${driver}`, async () => {
      const drop = async (token: string | number) =>
        (await atrium.as('dan')('DELETE', `/users/dan/tokens/${token}`)).status;
      const old = await calls.make('dan', { name: 'revoked' });
      const next = (await calls.rotate('dan', old.id)).body;
      assert.equal(await drop(old.id), 204);
      assert.deepEqual([await works(old.sha1), await works(next.sha1)], [401, 200]);
      const last = (await calls.rotate('dan', 'revoked')).body;
      assert.equal(await drop('revoked'), 204, 'the name is that of the successor');
      assert.deepEqual([await works(next.sha1), await works(last.sha1)], [200, 401]);
      assert.equal((await calls.list('dan')).find(({ id }) => id === next.id).replaced_by, last.id);
    });

    it(`What cannot be rotated is rejected, and says why, on ${driver}`, async () => {
      const old = await calls.make('ann', { name: 'twice' });
      const next = (await calls.rotate('ann', 'twice')).body;
      const gone = await calls.issue('ann', { name: 'gone', scopes: ['all'], expiresAt: new Date(Date.now() - 1000) });
      const soon = await calls.issue('ann', {
        name: 'soon',
        scopes: ['all'],
        expiresAt: new Date(Date.now() + 60_000),
      });
      const narrow = await calls.issue('ann', { name: 'narrow', scopes: ['write:user'] });
      const wide = await calls.make('ann', { name: 'wide', scopes: ['all'] });
      const as = (text: string, token: unknown, body: object = {}) =>
        atrium.as()('POST', `/users/ann/tokens/${token}/rotate`, body, basic(`ann:${text}`));
      const superseded = `access token has been rotated already; rotate its successor, token ${next.id}`;
      for (const [answer, status, reason, message] of [
        [await calls.rotate('ann', old.id), 409, 'token_superseded', superseded],
        [await calls.rotate('ann', String(gone.id)), 409, 'token_expired', /has expired; create a new one/],
        [await calls.rotate('ann', 'nothing'), 404, 'token_not_found', /does not exist/],
        [await calls.rotate('bob', wide.id, {}, 'ann'), 403, 'forbidden', /site admin/],
        [await as(narrow.text, wide.id), 403, 'forbidden', /may do more than the authenticating token/],
        [await as(soon.text, wide.id, { expires_at: inDays(3) }), 403, 'forbidden', /outlives/],
        [await calls.rotate('ann', wide.id, { overlap_hours: 169 }), 422, 'validation_failed', /overlap_hours/],
        [await calls.rotate('ann', wide.id, { overlap_hours: -1 }), 422, 'validation_failed', /overlap_hours/],
        [await calls.rotate('ann', wide.id, { expires_at: inDays(-1) }), 422, 'validation_failed', /in the future/],
      ] as const) {
        assert.deepEqual([answer.status, answer.body.reason], [status, reason], answer.text);
        if (typeof message === 'string') assert.equal(answer.body.message, message);
        else assert.match(answer.body.message, message);
      }
      const bare = await atrium.as('ann')('POST', `/users/ann/tokens/${wide.id}/rotate`, {});
      assert.equal(bare.status, 401, 'as for the creation of a token, a plain token is not enough');
      assert.equal(await works(wide.sha1), 200, 'nothing was changed by what was rejected');
      const capped = (await as(soon.text, wide.id)).body;
      assert.ok(isAbout(capped.expires_at, new Date(Date.now() + 60_000).toISOString()), 'it ends with who rotates it');
    });

    it(`A site administrator rotates tokens of others on ${driver}`, async () => {
      await calls.make('cat', { name: 'helped', scopes: ['read:user'] });
      const made = await calls.rotate('root', 'helped', {}, 'cat');
      assert.equal(made.status, 201, made.text);
      assert.equal((await calls.withToken(made.body.sha1)('GET', '/user')).body.login, 'cat');
    });

    it(`A token rotates itself only if it was created for that, and gets what it had, on ${driver}`, async () => {
      const plain = await calls.make('bob', { name: 'plain', scopes: ['read:user'] });
      const refused = await calls.withToken(plain.sha1)('POST', '/user/token/rotate', {});
      assert.deepEqual([refused.status, refused.body.message], [403, 'this access token may not rotate itself']);
      const own = await calls.make('bob', {
        ...{ name: 'own', scopes: ['read:authz'], can_rotate: true, expires_at: inDays(2) },
        limits: { organizations: ['acme'] },
      });
      const made = await calls.withToken(own.sha1)('POST', '/user/token/rotate', { overlap_hours: 1 });
      assert.equal(made.status, 201, made.text);
      const { scopes, limits, can_rotate, expires_at } = made.body;
      assert.deepEqual(
        { scopes, limits, can_rotate },
        { scopes: ['read:authz'], limits: own.limits, can_rotate: true },
      );
      assert.ok(isAbout(expires_at, inDays(2)), expires_at);
      const again = await calls.withToken(own.sha1)('POST', '/user/token/rotate', {});
      assert.deepEqual(
        [again.status, again.body.reason],
        [409, 'token_superseded'],
        'whoever has the old one gets no second',
      );
      const wider = { overlap_hours: 1, scopes: ['all'], limits: null, expires_at: null };
      const more = await calls.withToken(made.body.sha1)('POST', '/user/token/rotate', wider);
      assert.deepEqual(more.body.scopes, ['read:authz'], 'nothing else can be asked for');
      assert.deepEqual(more.body.limits, own.limits);
      const [entry] = (await auditOf(atrium.instance.db, atrium.world.users.bob?.id ?? 0n)).filter(
        ({ action, object_id }) => action === 'token.rotate' && String(object_id) === String(own.id),
      );
      assert.equal(JSON.parse(entry?.after ?? '{}').byItself, true);
    });

    it(`A token that ends cannot create one that may rotate itself, nor rotate one, on ${driver}`, async () => {
      const expiresAt = new Date(Date.now() + 3_600_000);
      const ending = await calls.issue('ann', { name: 'parent', scopes: ['all'], expiresAt });
      const headers = basic(`ann:${ending.text}`);
      const child = await atrium.as()('POST', '/users/ann/tokens', { name: 'child', can_rotate: true }, headers);
      assert.deepEqual([child.status, /may rotate itself/.test(child.body.message)], [403, true]);
      const own = await calls.make('ann', { name: 'selfish', can_rotate: true });
      const refused = await atrium.as()('POST', `/users/ann/tokens/${own.id}/rotate`, {}, headers);
      assert.deepEqual([refused.status, /could outlive/.test(refused.body.message)], [403, true]);
    });

    it(`Only a token can ask about itself on ${driver}`, async () => {
      const { password } = atrium.world.users.ann ?? {};
      for (const [method, path] of [
        ['GET', '/user/token'],
        ['POST', '/user/token/rotate'],
      ] as const) {
        const body = method === 'POST' ? {} : undefined;
        const answer = await atrium.as()(method, path, body, basic(`ann:${password}`));
        assert.deepEqual([answer.status, /made without one/.test(answer.body.message)], [403, true]);
        const sudo = await atrium.as('root')(method, `${path}?sudo=ann`, body);
        assert.deepEqual([sudo.status, sudo.body.reason], [403, 'sudo_forbidden']);
      }
    });

    it(`Tokens of robots are rotated like those of users, also by themselves, on ${driver}`, async (t) => {
      const owner = atrium.as('ann');
      const old = (await owner('POST', robotPath(), { name: 'agent', can_rotate: true })).body;
      const made = await owner('POST', `${robotPath()}/agent/rotate`, { overlap_hours: 3 });
      assert.equal(made.status, 201, made.text);
      assert.deepEqual(await Promise.all([works(old.sha1), works(made.body.sha1)]), [200, 200]);
      const self = await calls.withToken(made.body.sha1)('POST', '/user/token/rotate', {});
      assert.equal(self.status, 201, self.text);
      for (const [who, status] of [
        ['cat', 403],
        ['eve', 404],
      ] as const) {
        assert.equal((await atrium.as(who)('POST', `${robotPath()}/${self.body.id}/rotate`, {})).status, status, who);
      }
      await endOverlap(t, atrium, old.id);
      assert.deepEqual(await Promise.all([works(old.sha1), works(self.body.sha1)]), [401, 200]);
    });

    it(`A repeated rotation with the same key is answered with the same successor on ${driver}`, async () => {
      const old = await calls.make('ann', { name: 'keyed' });
      const headers = { ...calls.proof('ann'), 'Idempotency-Key': `rotate ${old.id}`.replace(' ', '-') };
      const send = () => atrium.as()('POST', `/users/ann/tokens/${old.id}/rotate`, {}, headers);
      const [first, second] = [await send(), await send()];
      assert.deepEqual([second.status, second.body], [201, first.body]);
    });

    it(`A key of one token does not show another token what replaced the first on ${driver}`, async () => {
      const [one, other] = [
        await calls.make('ann', { name: 'one', can_rotate: true }),
        await calls.make('ann', { name: 'other', can_rotate: true }),
      ];
      const limited = await calls.make('ann', {
        name: 'limited',
        can_rotate: true,
        limits: { organizations: ['acme'] },
      });
      const send = (text: string) =>
        atrium.as()('POST', '/user/token/rotate', {}, { ...bearer(text), 'Idempotency-Key': `own-${driver}` });
      assert.equal((await send(one.sha1)).status, 201);
      for (const { sha1 } of [other, limited]) {
        const answer = await send(sha1);
        assert.deepEqual([answer.body.reason, answer.body.sha1], ['idempotency_key_reused', undefined]);
      }
      const key = { 'Idempotency-Key': `team-${driver}` };
      const free = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'keyed team' }, key);
      const narrow = await atrium.as()(
        'POST',
        '/orgs/acme/teams',
        { name: 'keyed team' },
        { ...bearer(limited.sha1), ...key },
      );
      assert.deepEqual([free.status, narrow.body.reason], [201, 'idempotency_key_reused']);
    });

    it(`Of several concurrent rotations of one token, one succeeds on ${driver}`, async () => {
      const old = await calls.make('ann', { name: 'raced' });
      const answers = await Promise.all(Array.from({ length: 4 }, () => calls.rotate('ann', old.id)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    });

    it(`A request without a credential, or with a wrong one, rotates nothing on ${driver}`, async () => {
      assert.equal((await atrium.as()('POST', '/user/token/rotate', {})).status, 401);
      assert.equal((await atrium.as()('POST', '/user/token/rotate', {}, bearer('atr_x'))).status, 401);
    });
  });
}
