import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const INVALID = [
  ...[
    '',
    ' ',
    '.',
    '..',
    '-',
    '_',
    '.well-known',
    '-ann',
    '_ann',
    '.ann',
    'ann-',
    'ann_',
    'ann.',
    'a--b',
    'a__b',
    'a..b',
  ],
  ...[
    'a-.b',
    'a_-b',
    'a b',
    ' ann',
    'ann ',
    'ann\n',
    'ann\t',
    'a/b',
    'a\\b',
    'a@b',
    'a+b',
    'a,b',
    'a:b',
    'a?b',
    'a#b',
    'a%b',
  ],
  ...[
    'ä',
    'ann\u200b',
    '\u212aate',
    'k\u0131t',
    '\u0430nn',
    'ann\u0301',
    '🦊',
    '４２',
    'a'.repeat(41),
    'a'.repeat(5000),
  ],
  // A malformed name is reported before a reserved one.
  ...['.keys', 'api-', '-admin', 'x..keys'],
];
const RESERVED = [
  ...['admin', 'ADMIN', 'Api', 'assets', 'attachments', 'avatar', 'avatars', 'captcha', 'commits', 'debug', 'error'],
  ...['explore', 'favicon.ico', 'ghost', 'gitea-actions', 'issues', 'login', 'manifest.json', 'metrics', 'milestones'],
  ...[
    'new',
    'notifications',
    'openapi3.v1.json',
    'org',
    'pulls',
    'raw',
    'repo',
    'repo-avatars',
    'robots.txt',
    'search',
  ],
  ...['serviceworker.js', 'sitemap.xml', 'ssh_info', 'swagger.v1.json', 'user', 'v2', 'marketplace', 'authz', 'invite'],
  ...['x.keys', 'x.gpg', 'x.rss', 'x.atom', 'x.png', 'X.PNG', 'a.b.Keys'],
];
const VALID = [
  ...['x', '7', '0xff', 'a-b', 'a_b', 'a.b', 'a-b_c.d', 'Ab', 'a'.repeat(40), 'keys', 'x.key', 'apis', 'new1', 'annn'],
];
const TAKEN = ['ann', 'ANN', 'aNn', 'root', 'acme', 'Acme', 'fan01'];

describe('User and organization names', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const ask = async (path: string) => {
    const answer = await atrium.as('eve')('POST', `/user/validate/${path}`);
    assert.deepEqual([answer.status, Object.keys(answer.body)], [200, ['Status']]);
    return answer.body.Status;
  };
  const verdicts = { INVALID, RESERVED, VALID, USER_EXISTS: TAKEN };
  for (const [verdict, list] of Object.entries(verdicts)) {
    it(`Validation reports ${list.length} sample names as ${verdict} for both users and organizations`, async () => {
      for (const name of list) {
        const text = encodeURIComponent(name);
        assert.equal(await ask(`username?user_name=${text}`), verdict, JSON.stringify(name));
        assert.equal(await ask(`orgname?user_name=${text}`), verdict, JSON.stringify(name));
      }
    });
  }

  it('A missing or empty value is reported as INVALID by every validation endpoint', async () => {
    for (const path of ['username', 'orgname', 'orgname?org=acme', 'email', 'email?email=', 'username?name=x']) {
      assert.equal(await ask(path), 'INVALID', path);
    }
  });

  it('A value with a NUL character is reported as INVALID by every validation endpoint', async () => {
    for (const path of ['username?user_name=a%00b', 'orgname?user_name=a%00b', 'email?email=a%00b@example.com']) {
      assert.equal(await ask(path), 'INVALID', path);
    }
    assert.equal(await ask('orgname?user_name=fresh&org=a%00b'), 'VALID');
  });

  it('A value given twice is reported as INVALID by every validation endpoint', async () => {
    const twice = ['username?user_name=a&user_name=b', 'orgname?user_name=x&user_name=x', 'email?email=a@b&email='];
    for (const path of [...twice, 'orgname?user_name=acme&org=acme&org=globex']) {
      assert.equal(await ask(path), 'INVALID', path);
    }
    assert.equal(await ask('username?user_name=fresh&other=1&other=2'), 'VALID');
  });

  const renames: readonly [org: string, name: string, verdict: string][] = [
    ['acme', 'acme', 'VALID'],
    ['acme', 'ACME', 'VALID'],
    ['ACME', 'acme', 'VALID'],
    ['acme', 'globex', 'USER_EXISTS'],
    ['acme', 'ann', 'USER_EXISTS'],
    ['ann', 'ann', 'USER_EXISTS'],
    ['acme', 'acme2', 'VALID'],
    ['acme', 'admin', 'RESERVED'],
    ['acme', '-', 'INVALID'],
    ['', 'acme', 'USER_EXISTS'],
    ['nothing', 'acme', 'USER_EXISTS'],
    ['nothing', 'nothing', 'VALID'],
  ];
  for (const [org, name, verdict] of renames) {
    it(`Renaming the organization "${org}" to "${name}" is reported as ${verdict}`, async () => {
      assert.equal(await ask(`orgname?org=${org}&user_name=${name}`), verdict);
    });
  }

  it('A user can be created under every name reported as VALID and under no other', async () => {
    for (const name of VALID) {
      await atrium.instance.features.users.create({ name, email: `v${VALID.indexOf(name)}@x.org` });
      assert.equal(await ask(`username?user_name=${name}`), 'USER_EXISTS');
    }
    for (const name of [...INVALID, ...RESERVED, ...TAKEN]) {
      const made = atrium.instance.features.users.create({ name, email: 'never@x.org' });
      await assert.rejects(made, { kind: 'malformed' }, JSON.stringify(name));
    }
  });

  it('A token with only the scope read:user can validate names', async () => {
    const accountId = atrium.world.users.eve?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: 'reader', scopes: ['read:user'] });
    const headers = { Authorization: `token ${text}` };
    const answer = await atrium.as()('POST', '/user/validate/username?user_name=x9', undefined, headers);
    assert.equal(answer.body.Status, 'VALID');
  });
});
