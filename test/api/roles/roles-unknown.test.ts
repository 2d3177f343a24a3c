import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, makeHolder, makeRole, numbersOf, orgPermission } from '../../support/world/authz.ts';

/** What each endpoint of a role answers to whom if the role does not exist. */
const ANSWERS: readonly [method: string, path: string, Readonly<Record<string, readonly [number, string]>>][] = [
  [
    'GET',
    '',
    {
      ann: [403, 'missing relation view:role'],
      cat: [403, 'missing relation view:role'],
      dan: [403, 'missing relation view:role'],
      root: [404, 'role not found'],
    },
  ],
  [
    'GET',
    '/principals',
    {
      ann: [403, 'missing relation viewer:role'],
      dan: [403, 'missing relation viewer:role'],
      root: [404, 'role not found'],
    },
  ],
  [
    'PUT',
    '',
    {
      ann: [404, 'role not found'],
      root: [404, 'role not found'],
      bob: [403, 'missing relation edit:role'],
      dan: [403, 'missing relation edit:role'],
    },
  ],
  [
    'DELETE',
    '',
    {
      ann: [404, 'role not found'],
      root: [404, 'role not found'],
      bob: [403, 'missing relation delete:role'],
      dan: [403, 'missing relation delete:role'],
    },
  ],
];

describe('Unknown roles', () => {
  let atrium: TestServer;
  let foreign: number;
  before(async () => {
    atrium = await openTestServer();
    foreign = (await makeRole(atrium, { name: 'of globex' }, 'globex', 'eve')).body.id;
  });
  after(() => atrium.close());

  for (const [method, tail, answers] of ANSWERS) {
    for (const [who, [status, message]] of Object.entries(answers)) {
      it(`${method} /authz/roles/{id}${tail} by ${who} is answered with ${status} for unknown and foreign roles alike`, async () => {
        const body = method === 'PUT' ? {} : undefined;
        const answer = (id: number | string) =>
          atrium.as(who)(method, `/authz/roles/${id}${tail}?org=acme`, body, { 'X-Request-Id': 'same' });
        const unknown = await answer(999_999);
        assert.deepEqual([unknown.status, unknown.body.message], [status, message]);
        const elsewhere = await answer(foreign);
        assert.deepEqual([elsewhere.status, elsewhere.text], [unknown.status, unknown.text]);
        assert.equal((await answer('9223372036854775807')).text, unknown.text);
      });
    }
  }

  it('An invalid role ID is rejected with 400', async () => {
    for (const bad of ['0', '-1', 'abc', '1.5', '9223372036854775808', '%20']) {
      for (const [method, tail] of ANSWERS) {
        const send = [method, `/authz/roles/${bad}${tail}?org=acme`, method === 'PUT' ? {} : undefined] as const;
        for (const who of ['ann', 'root']) {
          await assertRejected(atrium, { who, send, status: 400, message: /^invalid role ID/ });
        }
      }
    }
  });

  it('A caller who may only delete roles gets 404 for an unknown role from DELETE and 403 otherwise', async () => {
    const { name } = await makeHolder(atrium, [orgPermission('delete roles')]);
    const path = '/authz/roles/999999?org=acme';
    await assertRejected(atrium, { who: name, send: ['DELETE', path], status: 404, message: 'role not found' });
    await assertRejected(atrium, {
      who: name,
      send: ['PUT', path, {}],
      status: 403,
      message: 'missing relation edit:role',
    });
    await assertRejected(atrium, {
      who: name,
      send: ['GET', path],
      status: 403,
      message: 'missing relation view:role',
    });
  });

  it('A role can be read by its assignees and by callers who may view roles', async () => {
    const id = numbersOf(atrium).role('cluster-operator');
    for (const who of ['dan', 'cat', 'bob', 'ann', 'root']) {
      assert.equal((await atrium.as(who)('GET', `/authz/roles/${id}?org=acme`)).status, 200);
      assert.equal((await atrium.as(who)('GET', `/authz/roles/${id}/principals?org=acme`)).status, 200);
    }
    const { name } = await makeHolder(atrium, []);
    await assertRejected(atrium, {
      who: name,
      send: ['GET', `/authz/roles/${id}?org=acme`],
      status: 403,
      message: 'missing relation view:role',
    });
  });
});
