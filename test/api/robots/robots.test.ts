import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, assertRejected, makeHolder } from '../../support/world/authz.ts';

const bearer = (text: string) => ({ Authorization: `token ${text}` });

for (const driver of COUNTED_DRIVERS) {
  describe(`Robot accounts on ${driver}`, () => {
    let atrium: TestServer;
    let path: string;
    let etag: string;
    let beat: (text: string) => Promise<number>;
    before(async () => {
      atrium = await openTestServer({ driver });
      const url = `/clusters/${atrium.world.clusters.prod?.id}/heartbeat`;
      beat = async (text) => (await atrium.as()('POST', url, {}, bearer(text))).status;
    });
    after(() => atrium.close());

    it(`Robot accounts can be created, read, listed and edited on ${driver}`, async () => {
      const made = await atrium.as('bob')('POST', '/orgs/acme/robots', { name: 'agent', description: 'Beats.' });
      assert.equal(made.status, 201, made.text);
      const { id, created_at, ...rest } = made.body;
      assert.deepEqual(rest, { owner_id: Number(atrium.world.orgs.acme?.id), name: 'agent', description: 'Beats.' });
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      path = `/robots/${id}`;
      etag = made.headers.get('etag') ?? assert.fail();
      assert.deepEqual((await atrium.as('cat')('GET', path)).body, made.body);
      const list = await atrium.as('cat')('GET', '/orgs/acme/robots');
      assert.deepEqual(
        list.body.map(({ name }: { name: string }) => name),
        ['ci', 'agent'],
      );
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/robots?name=ci')).body.length, 1);
      const edited = await atrium.as('bob')('PATCH', path, { description: '' }, { 'If-Match': etag });
      assert.deepEqual(edited.body, { ...made.body, description: '' });
      assert.equal((await atrium.as('bob')('PATCH', path, { name: 'x' }, { 'If-Match': etag })).status, 412);
      assert.deepEqual(await allowedTo(atrium, 'cat', 'robot_ac', id), ['can_view']);
    });

    it(`A robot token on ${driver} is shown once and has the minimal scope unless others are requested`, async () => {
      const made = await atrium.as('bob')('POST', `${path}/tokens`, { name: 'first' });
      assert.equal(made.status, 201, made.text);
      const { sha1, ...shown } = made.body;
      assert.deepEqual(Object.keys(made.body), [
        'id',
        'name',
        'sha1',
        'token_last_eight',
        'scopes',
        'created_at',
        'last_used_at',
        'expires_at',
        'expires_soon',
        'can_rotate',
        'delegated',
        'beyond_policy',
      ]);
      assert.deepEqual(
        [shown.scopes, shown.expires_at, shown.token_last_eight],
        [['write:organization'], null, sha1.slice(-8)],
      );
      assert.equal(await beat(sha1), 204);
      const list = await atrium.as('cat')('GET', `${path}/tokens`);
      assert.equal(list.headers.get('x-total-count'), '1');
      const [listed] = list.body;
      assert.deepEqual({ ...listed, last_used_at: '' }, { ...shown, sha1: '', last_used_at: '' });
      assert.ok(Date.parse(listed.last_used_at) > Date.now() - 60_000, 'the beat counts as a use');
      const wide = { name: 'wide', scopes: ['read:user', 'all'], expires_at: '2099-01-01T00:00:00Z' };
      const asked = await atrium.as('bob')('POST', `${path}/tokens`, wide);
      assert.deepEqual([asked.body.scopes, asked.body.expires_at], [['all'], wide.expires_at]);
      assert.equal(await beat(asked.body.sha1), 204);
      const unsaid = await atrium.as('bob')('POST', `${path}/tokens`, { name: 'unsaid', scopes: null });
      assert.deepEqual(unsaid.body.scopes, shown.scopes, unsaid.text);
    });

    it(`Token names are unique per robot account on ${driver}`, async () => {
      const taken = await atrium.as('bob')('POST', `${path}/tokens`, { name: 'first' });
      assert.deepEqual([taken.status, taken.body.message], [422, 'access token name has been used already']);
      const other = await atrium.as('bob')('POST', `/robots/${atrium.world.robots.ci}/tokens`, { name: 'first' });
      assert.equal(other.status, 201, other.text);
    });

    it(`A robot token revoked by ID or name stops working immediately on ${driver}`, async () => {
      for (const by of ['id', 'name'] as const) {
        const { body } = await atrium.as('bob')('POST', `${path}/tokens`, { name: `short ${by}` });
        assert.equal(await beat(body.sha1), 204);
        assert.equal((await atrium.as('bob')('DELETE', `${path}/tokens/${body[by]}`)).status, 204);
        assert.equal(await beat(body.sha1), 401);
        assert.equal((await atrium.as('bob')('DELETE', `${path}/tokens/${body[by]}`)).status, 404);
      }
      // The tokens of another robot or of a user are not deleted.
      const [foreign] = (await atrium.as('bob')('GET', `/robots/${atrium.world.robots.ci}/tokens`)).body;
      assert.equal((await atrium.as('bob')('DELETE', `${path}/tokens/${foreign.id}`)).status, 404);
    });

    it(`An expired robot token is rejected on ${driver}`, async () => {
      const ownerId = atrium.world.orgs.acme?.id ?? 0n;
      const robotId = BigInt(path.split('/').at(-1) ?? '');
      const token = { accountId: ownerId, robotId, scopes: ['all'] };
      const soon = await atrium.instance.identity.tokens.issue({
        ...token,
        name: 'soon',
        expiresAt: new Date(Date.now() + 60_000),
      });
      assert.equal(await beat(soon.text), 204);
      const over = await atrium.instance.identity.tokens.issue({
        ...token,
        name: 'over',
        expiresAt: new Date(Date.now() - 1),
      });
      assert.equal(await beat(over.text), 401);
    });

    it(`Deleting a robot account on ${driver} revokes its tokens and removes all permissions on both`, async () => {
      const id = Number(path.split('/').at(-1));
      const { body } = await atrium.as('bob')('POST', `${path}/tokens`, { name: 'last' });
      assert.equal(await beat(body.sha1), 204);
      assert.deepEqual(await allowedTo(atrium, 'cat', 'token', body.id), ['can_view']);
      assert.equal((await atrium.as('bob')('DELETE', path, undefined, { 'If-Match': etag })).status, 412);
      assert.equal(await beat(body.sha1), 204);
      assert.equal((await atrium.as('bob')('DELETE', path)).status, 204);
      assert.equal(await beat(body.sha1), 401);
      assert.deepEqual(await allowedTo(atrium, 'ann', 'robot_ac', id), []);
      assert.deepEqual(await allowedTo(atrium, 'ann', 'token', body.id), []);
      for (const send of [
        ['GET', path],
        ['GET', `${path}/tokens`],
        ['POST', `${path}/tokens`, { name: 'x' }],
      ] as const) {
        await assertRejected(atrium, { who: 'bob', send, status: 404, message: 'robot_ac does not exist' });
      }
      const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      assert.deepEqual(brokenLinks(entries), []);
      const said = JSON.stringify(entries.map(({ before, after }) => [before, after]));
      assert.ok(!said.includes('atr_') && !atrium.logged().includes(body.sha1), 'no token in the record or the log');
      const actions = new Set(entries.map(({ action }) => action));
      for (const action of ['robot.create', 'robot.update', 'robot.delete', 'token.create', 'token.delete'])
        assert.ok(actions.has(action), action);
    });

    it(`A token created while its robot account is deleted does not work on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.raceRounds; round++) {
        const { body } = await atrium.as('bob')('POST', '/orgs/acme/robots', { name: `brief-${round}` });
        const url = `/robots/${body.id}`;
        const [made, gone] = await Promise.all([
          atrium.as('bob')('POST', `${url}/tokens`, { name: 'x' }),
          atrium.as('ann')('DELETE', url),
        ]);
        assert.equal(gone.status, 204, gone.text);
        assert.ok(made.status === 201 || made.status === 404, made.text);
        if (made.status === 201) assert.equal(await beat(made.body.sha1), 401);
      }
    });

    it(`Invalid or unauthorized robot account requests are rejected on ${driver}`, async () => {
      const ci = `/robots/${atrium.world.robots.ci}`;
      const past = '2020-01-01T00:00:00Z';
      const table: readonly [
        who: string,
        send: readonly [string, string, unknown?],
        status: number,
        message: RegExp,
      ][] = [
        ['ann', ['POST', '/orgs/acme/robots', { name: '' }], 422, /^name must have 1 to 100/],
        ['ann', ['POST', '/orgs/acme/robots', { name: 'no blanks' }], 422, /^name must have 1 to 100/],
        ['ann', ['POST', '/orgs/acme/robots', { name: 'ci' }], 422, /^name is taken/],
        ['ann', ['POST', '/orgs/acme/robots', {}], 422, /^name is required/],
        ['ann', ['POST', '/orgs/acme/robots', { name: 'x', description: 'x'.repeat(1001) }], 422, /at most 1000/],
        ['ann', ['PATCH', ci, { name: 'a/b' }], 422, /^name must have/],
        ['ann', ['POST', `${ci}/tokens`, { name: ' ' }], 422, /^name must have 1 to 255/],
        ['ann', ['POST', `${ci}/tokens`, { name: 'x', scopes: [] }], 422, /must have a scope/],
        [
          'ann',
          ['POST', `${ci}/tokens`, { name: 'x', scopes: ['fly'] }],
          400,
          /^invalid access token scope provided: fly/,
        ],
        ['ann', ['POST', `${ci}/tokens`, { name: 'x', expires_at: past }], 422, /^expires_at must be in the future/],
        ['cat', ['POST', '/orgs/acme/robots', { name: 'x' }], 403, /^missing relation create_robots:org$/],
        ['cat', ['PATCH', ci, {}], 403, /^missing relation edit:robot_ac$/],
        ['cat', ['DELETE', ci], 403, /^missing relation delete:robot_ac$/],
        ['cat', ['POST', `${ci}/tokens`, { name: 'x' }], 403, /^missing relation edit:robot_ac$/],
        ['cat', ['DELETE', `${ci}/tokens/ci`], 403, /^missing relation delete_tokens:org$/],
        ['eve', ['GET', ci], 404, /^robot_ac does not exist$/],
        ['eve', ['GET', `${ci}/tokens`], 404, /^robot_ac does not exist$/],
        ['eve', ['POST', `${ci}/tokens`, { name: 'x' }], 404, /^robot_ac does not exist$/],
        ['eve', ['DELETE', `${ci}/tokens/ci`], 404, /^robot_ac does not exist$/],
        ['eve', ['POST', '/orgs/acme/robots', { name: 'x' }], 404, /^organization does not exist$/],
      ];
      for (const [who, send, status, message] of table) await assertRejected(atrium, { who, send, status, message });
    });

    it(`Permission to edit a robot account does not include creating its tokens on ${driver}`, async () => {
      const ci = `/robots/${atrium.world.robots.ci}`;
      const available = (await atrium.as('ann')('GET', '/authz/roles/available_permissions?org=acme')).body.permissions;
      const pair = (action: RegExp) => {
        const found = available.find((one: { action: string }) => action.test(one.action)) ?? assert.fail(`${action}`);
        return { namespace: found.namespace, action: found.action };
      };
      const editor = await makeHolder(atrium, [pair(/^edit robot/)]);
      const refused = await atrium.as(editor.name)('POST', `${ci}/tokens`, { name: 'x' });
      assert.deepEqual([refused.status, refused.body.message], [403, 'missing relation create_tokens:org']);
      assert.equal((await atrium.as(editor.name)('GET', `${ci}/tokens`)).status, 403);
      const maker = await makeHolder(atrium, [pair(/^edit robot/), pair(/^create .*token/)]);
      const made = await atrium.as(maker.name)('POST', `${ci}/tokens`, { name: 'made' });
      assert.equal(made.status, 201, made.text);
      assert.equal((await atrium.as(maker.name)('DELETE', `${ci}/tokens/made`)).status, 403);
      // A token cannot create one that may do more than itself.
      const narrow = await atrium.instance.identity.tokens.issue({
        accountId: maker.id,
        name: 'n',
        scopes: ['write:organization'],
      });
      const wide = await atrium.as()('POST', `${ci}/tokens`, { name: 'w', scopes: ['all'] }, bearer(narrow.text));
      assert.equal(wide.status, 403);
      const same = await atrium.as()('POST', `${ci}/tokens`, { name: 'w' }, bearer(narrow.text));
      assert.equal(same.status, 201, same.text);
    });
  });
}
