import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { checkChain } from '../../../client/audit-chain.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected } from '../../support/world/authz.ts';
import { makePerson } from '../../support/world/people.ts';

describe('The export of one’s own data', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  async function exported(token: string) {
    const response = await fetch(`${atrium.url}/api/v1/user/export`, { headers: { Authorization: `token ${token}` } });
    const body = Buffer.from(await response.arrayBuffer());
    return { response, body };
  }

  it('The archive has the lists that the API shows, what the caller holds, and the logs that they may read', async () => {
    const token = atrium.world.users.ann?.token ?? '';
    const { response, body } = await exported(token);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/gzip');
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename="atrium-ann.tar.gz"');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const files = filesIn(gunzipSync(body));
    for (const name of [
      ...['README.txt', 'profile.json', 'emails.json', 'orgs.json', 'teams.json', 'requests.json'],
      ...['sessions.json', 'factors.json', 'linked_accounts.json', 'credentials.json', 'clusters.json', 'tokens.json'],
      ...[
        'deploy-orders.json',
        'following.json',
        'followers.json',
        'access/acme.json',
        'audit.ndjson',
        'audit/acme.ndjson',
      ],
    ]) {
      assert.ok(files.has(name), `${name} of ${[...files.keys()].join(' ')}`);
    }
    const read = (name: string) => JSON.parse(files.get(name) ?? '');
    assert.equal(read('profile.json').login, 'ann');
    for (const [name, path] of [
      ['emails', '/user/emails'],
      ['orgs', '/user/orgs?limit=50'],
    ]) {
      assert.deepEqual(read(`${name}.json`), (await atrium.as('ann')('GET', path ?? '')).body, name);
    }
    assert.ok(!gunzipSync(body).includes(token), 'no text of a token');
    const own = (files.get('audit.ndjson') ?? '').trimEnd().split('\n').filter(Boolean);
    assert.equal((await checkChain(own)).firstBroken, undefined);
    const lines = (files.get('audit/acme.ndjson') ?? '').trimEnd().split('\n').filter(Boolean);
    assert.ok(lines.length > 0);
    for (const line of lines) assert.equal(JSON.parse(line).actor.name, 'ann');
  });

  it('Logs that the caller may not read are left out, and a list of several pages is whole', async () => {
    const person = await makePerson(atrium);
    const own = { Authorization: `token ${person.token}` };
    for (let count = 0; count < 60; count++) {
      const added = await atrium.call(
        'POST',
        '/api/v1/user/emails',
        { emails: [`p${count}@${person.name}.example`] },
        own,
      );
      if (added.status !== 201) break;
    }
    const cat = filesIn(gunzipSync((await exported(atrium.world.users.cat?.token ?? '')).body));
    assert.ok(cat.has('access/acme.json') || cat.has('orgs.json'));
    assert.ok(![...cat.keys()].some((name) => name.startsWith('audit/')), [...cat.keys()].join(' '));
    const files = filesIn(gunzipSync((await exported(person.token)).body));
    const { body } = await atrium.call('GET', '/api/v1/user/emails', undefined, own);
    assert.deepEqual(JSON.parse(files.get('emails.json') ?? ''), body);
  });

  it('A second export within a minute is rejected, that of another person is not', async () => {
    const [one, other] = [await makePerson(atrium), await makePerson(atrium)];
    const both = await Promise.all([exported(one.token), exported(one.token)]);
    assert.deepEqual(both.map(({ response }) => response.status).sort(), [200, 429]);
    const late = both.find(({ response }) => response.status === 429)?.response;
    assert.ok(Number(late?.headers.get('retry-after')) > 0);
    assert.equal((await exported(other.token)).response.status, 200);
  });

  it('A client that leaves in the middle of an export does no harm, whenever it leaves', async () => {
    for (const moment of ['before the response', 'with the headers', 'with the first bytes', 'a moment later']) {
      const { token } = await makePerson(atrium);
      await leave(token, moment);
    }
    assert.equal((await exported((await makePerson(atrium)).token)).response.status, 200);
    assert.doesNotMatch(atrium.logged(), /"level":"(error|fatal)"/);
  });

  function leave(token: string, moment: string): Promise<void> {
    return new Promise((resolve) => {
      const headers = { Authorization: `token ${token}` };
      const sent = request(`${atrium.url}/api/v1/user/export`, { headers }, (response) => {
        response.once('close', resolve);
        response.once('error', () => undefined);
        if (moment === 'with the headers') response.destroy();
        response.once('data', () => {
          if (moment === 'with the first bytes') response.destroy();
          else setTimeout(() => response.destroy(), 20);
        });
      });
      sent.once('error', () => resolve());
      sent.end();
      if (moment === 'before the response') setTimeout(() => sent.destroy(), 10);
    });
  }

  for (const [who, path, status, message] of [
    [undefined, '/user/export', 401, 'token is required'],
    ['root', '/user/export?sudo=ann', 403, /^people export their data themselves/],
  ] as const) {
    it(`GET ${path} by ${who ?? 'an anonymous caller'} is rejected with ${status}`, () =>
      assertRejected(atrium, { ...(who && { who }), send: ['GET', path], status, message }));
  }
});

/** The files of a tar archive, read here from the format alone. */
function filesIn(tar: Buffer): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (let place = 0; place + 512 <= tar.length; ) {
    const text = (from: number, length: number) =>
      tar.toString('utf8', place + from, place + from + length).replace(/\0.*$/s, '');
    const name = text(0, 100);
    if (name === '') break;
    const size = Number.parseInt(text(124, 12), 8);
    files.set(name, tar.toString('utf8', place + 512, place + 512 + size));
    place += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
