import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

const NEVER = '1970-01-01T00:00:00Z';
const BROADER = 'cannot create an access token with a broader scope than the authenticating token';
const OUTLIVES = 'cannot create an access token that outlives the authenticating token';
const FOREIGN = 'only the owner of the tokens and site administrators can call this route';

for (const driver of API_DRIVERS) {
  describe(`Access tokens on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
    const asPassword = (name: string) => basic(`${name}:${atrium.world.users[name]?.password}`);
    /** A token instead of the password, because checking a password is slow by design. */
    const asToken = (name: string) => basic(`${name}:${atrium.world.users[name]?.token}`);
    const make = (name: string, body: unknown, headers = asToken(name), owner = name) =>
      atrium.as()('POST', `/users/${owner}/tokens`, body, headers);
    const list = async (name: string, query = '') =>
      (await atrium.as(name)('GET', `/users/${name}/tokens${query}`)).body;
    const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });

    it(`The text of an access token is returned only by the request that creates it on ${driver}`, async () => {
      const made = await make('ann', { name: 'laptop', scopes: ['read:user'] }, asPassword('ann'));
      assert.equal(made.status, 201);
      const { id, sha1, created_at, ...rest } = made.body;
      assert.ok(Number.isSafeInteger(id));
      assert.match(sha1, /^atr_[0-9A-Za-z]{33}$/);
      assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
      const plain = { name: 'laptop', token_last_eight: sha1.slice(-8), scopes: ['read:user'], expires_at: null };
      const unusual = { expires_soon: false, can_rotate: false, delegated: false, beyond_policy: [] };
      assert.deepEqual(rest, { ...plain, ...unusual, last_used_at: NEVER });
      const listed = (await list('ann')).find((token: { id: number }) => token.id === id);
      assert.deepEqual(listed, { ...made.body, sha1: '' });
      assert.doesNotMatch(atrium.logged(), new RegExp(sha1));
    });

    it(`The last use of an access token is reported without a write per request on ${driver}`, async () => {
      const { body } = await make('bob', { name: 'used' });
      for (let time = 0; time < 5; time++) await atrium.as()('GET', '/user', undefined, bearer(body.sha1));
      const stored = statement(`select last_used_at from token where id = ${body.id}`);
      assert.deepEqual(await atrium.instance.db.query(stored), [{ last_used_at: null }]);
      const used = (await list('bob')).find((token: { id: number }) => token.id === body.id);
      assert.ok(Date.parse(used.last_used_at) >= Date.parse(body.created_at));
    });

    it(`Only one of several concurrent creations of the same access token succeeds on ${driver}`, async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => make('bob', { name: 'race' })));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422]);
    });

    it(`A token creates only tokens that expire no later than itself on ${driver}`, async () => {
      const accountId = atrium.world.users.ann?.id ?? 0n;
      const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000);
      const parent = await atrium.instance.identity.tokens.issue({
        ...{ accountId, name: `parent ${driver}`, scopes: ['all'], expiresAt },
      });
      const at = (ms: number) => new Date(expiresAt.getTime() + ms).toISOString();
      const headers = basic(`ann:${parent.text}`);
      const bodies = [{}, { expires_at: null }, { expires_at: at(0) }, { expires_at: at(-60_000) }];
      const ends: string[] = [];
      for (const [round, body] of bodies.entries()) {
        const made = await make('ann', { name: `child ${round}`, ...body }, headers);
        assert.equal(made.status, 201, made.text);
        ends.push(made.body.expires_at);
      }
      const whole = (ms: number) => at(ms).replace('.000Z', 'Z');
      assert.deepEqual(ends, [whole(0), whole(0), whole(0), whole(-60_000)]);
      for (const body of [{ expires_at: at(1000) }, { expires_at: '9999-01-01T00:00:00Z' }]) {
        const refused = await make('ann', { name: 'late', ...body }, headers);
        assert.deepEqual([refused.status, refused.body.message], [403, OUTLIVES]);
      }
      // Neither through its own child, nor through a robot, nor in a session that it opens.
      const [child] = (await make('ann', { name: 'grandparent' }, headers)).body.sha1.split(' ');
      const grandchild = await make('ann', { name: 'grandchild' }, basic(`ann:${child}`));
      assert.equal(grandchild.body.expires_at, whole(0));
      const robot = `/robots/${atrium.world.robots.ci}/tokens`;
      const session = await atrium.as()('POST', '/user/signin', { token: parent.text });
      const cookies = session.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]);
      const inSession = { Cookie: cookies.join('; '), 'X-Csrf-Token': session.headers.get('x-csrf-token') ?? '' };
      for (const [way, sent] of Object.entries({ token: bearer(parent.text), session: inSession })) {
        const made = await atrium.as()('POST', robot, { name: `${way} ${driver}` }, sent);
        assert.deepEqual([made.status, made.body.expires_at], [201, whole(0)], way);
        const late = await atrium.as()('POST', robot, { name: 'late', expires_at: at(1000) }, sent);
        assert.deepEqual([late.status, late.body.message], [403, OUTLIVES], way);
      }
    });

    it(`An access token has the requested expiry in UTC, or none, on ${driver}`, async () => {
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const made = await make('bob', { name: 'brief', expires_at });
      assert.equal(made.body.expires_at, `${expires_at.slice(0, 19)}Z`);
      const zoned = await make('bob', { name: 'zoned', expires_at: '2099-01-01T01:00:00+01:00' });
      assert.equal(zoned.body.expires_at, '2099-01-01T00:00:00Z');
      assert.equal((await make('bob', { name: 'endless', expires_at: null })).body.expires_at, null);
    });

    it(`Token scopes are sorted, without redundant ones, and default to all on ${driver}`, async () => {
      const table: [string[] | null | undefined, string[]][] = [
        [undefined, ['all']],
        // A Go client sends null for a list that it was not given.
        [null, ['all']],
        [['all', 'read:user'], ['all']],
        [
          ['write:authz', 'read:user', 'read:authz', 'read:user'],
          ['read:user', 'write:authz'],
        ],
      ];
      for (const [scopes, stored] of table) {
        const made = await make('cat', { name: crypto.randomUUID(), ...(scopes !== undefined && { scopes }) });
        assert.deepEqual(made.body.scopes, stored);
      }
    });

    it(`An access token cannot create a token with broader scopes than its own on ${driver}`, async () => {
      const { body } = await make('dan', { name: 'mother', scopes: ['write:user', 'read:authz'] });
      const shown = [basic(`dan:${body.sha1}`), basic(`${body.sha1}:`), basic(`${body.sha1}:x-oauth-basic`)];
      for (const headers of shown) {
        const child = await make('dan', { name: crypto.randomUUID(), scopes: ['read:user', 'read:authz'] }, headers);
        assert.equal(child.status, 201);
        for (const scopes of [undefined, ['all'], ['write:authz'], ['read:admin', 'read:user']]) {
          const answer = await make('dan', { name: 'broad', ...(scopes && { scopes }) }, headers);
          assert.deepEqual([answer.status, answer.body.message], [403, BROADER]);
        }
      }
    });

    it(`An access token can be deleted by id or by name and stops working immediately on ${driver}`, async () => {
      for (const by of ['id', 'name'] as const) {
        const { body } = await make('eve', { name: `by ${by}/é` });
        assert.equal((await atrium.as()('GET', '/user', undefined, bearer(body.sha1))).status, 200);
        const path = `/users/eve/tokens/${encodeURIComponent(body[by])}`;
        assert.equal((await atrium.as('eve')('DELETE', path)).status, 204);
        const refused = await atrium.as()('GET', '/user', undefined, bearer(body.sha1));
        assert.deepEqual([refused.status, refused.body.message], [401, 'invalid username, password or token']);
        const again = await atrium.as('eve')('DELETE', path);
        assert.deepEqual([again.status, again.body.message], [404, 'access token does not exist']);
      }
    });

    it(`Access tokens are listed in pages on ${driver}`, async () => {
      for (let number = 1; number <= 3; number++) await make('eve', { name: `page ${number}` });
      const { body, headers } = await atrium.as('eve')('GET', '/users/eve/tokens?page=2&limit=2');
      assert.deepEqual(
        body.map(({ name }: { name: string }) => name),
        ['page 2', 'page 3'],
      );
      assert.equal(headers.get('x-total-count'), '4');
      assert.match(headers.get('link') ?? '', /page=1.*rel="first",.*rel="prev"$/);
    });

    it(`Only the owner and the site administrator can manage a user's access tokens on ${driver}`, async () => {
      const made = await make('root', { name: 'by root' }, asToken('root'), 'ANN');
      assert.equal(made.status, 201);
      assert.equal((await atrium.as()('GET', '/user', undefined, bearer(made.body.sha1))).body.login, 'ann');
      assert.equal((await atrium.as('root')('GET', '/users/ann/tokens')).status, 200);
      assert.equal((await atrium.as('root')('DELETE', `/users/Ann/tokens/${made.body.id}`)).status, 204);
      for (const [method, path] of [
        ['GET', '/users/ann/tokens'],
        ['DELETE', '/users/ann/tokens/demo'],
        ['GET', '/users/nobody/tokens'],
        ['GET', '/users/acme/tokens'],
      ] as const) {
        const answer = await atrium.as('eve')(method, path);
        assert.deepEqual([answer.status, answer.body.message], [403, FOREIGN], path);
      }
      assert.equal((await make('eve', { name: 'x' }, asToken('eve'), 'ann')).status, 403);
      for (const name of ['nobody', 'acme', '%E2%84%AAat']) {
        assert.equal((await atrium.as('root')('GET', `/users/${name}/tokens`)).status, 404, name);
      }
    });

    it(`The audit log records who created and deleted an access token, without its text, on ${driver}`, async () => {
      const cat = atrium.world.users.cat?.id ?? 0n;
      const texts: string[] = [];
      for (const [by, name] of [
        ['root', 'for cat'],
        ['cat', 'for herself'],
      ] as const) {
        const made = await make(by, { name, scopes: ['read:user'] }, asToken(by), 'cat');
        texts.push(made.body.sha1);
        assert.equal((await atrium.as(by)('DELETE', `/users/cat/tokens/${made.body.id}`)).status, 204);
        const rows = (await auditOf(atrium.instance.db, cat)).filter(
          ({ object_id }) => object_id === BigInt(made.body.id),
        );
        assert.deepEqual(
          rows.map(({ actor_name, action, object_type }) => [actor_name, action, object_type]),
          [
            [by, 'token.create', 'token'],
            [by, 'token.delete', 'token'],
          ],
        );
        assert.deepEqual(JSON.parse(rows[0]?.after ?? ''), {
          name,
          robotId: null,
          scopes: ['read:user'],
          expiresAt: null,
        });
        assert.deepEqual(JSON.parse(rows[1]?.before ?? ''), { name, robotId: null, scopes: ['read:user'] });
      }
      const written = (await auditOf(atrium.instance.db, cat)).map(({ before, after }) => `${before} ${after}`).join();
      for (const text of texts) assert.ok(!written.includes(text) && !written.includes(text.slice(-8)));
    });
  });
}
