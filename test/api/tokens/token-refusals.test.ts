import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { TestServer } from '../../support/server/server.ts';
import { sharedServer } from '../../support/server/shared-server.ts';

describe('Access token validation', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await sharedServer();
  });

  const table: readonly [what: string, body: unknown, status: number, message: string | RegExp, field?: string][] = [
    ['without a name', {}, 422, 'name is required', 'name'],
    ['with an empty name', { name: ' ' }, 422, 'name must have 1 to 255 characters', 'name'],
    ['with a name of 256 characters', { name: 'é'.repeat(256) }, 422, 'name must have 1 to 255 characters', 'name'],
    ['with a numeric name', { name: 7 }, 422, /^name must be/, 'name'],
    ['with a taken name', { name: 'demo' }, 422, 'access token name has been used already', 'name'],
    ['with an empty list of scopes', { name: 'x', scopes: [] }, 422, 'access token must have a scope', 'scopes'],
    [
      'with an unknown scope',
      { name: 'x', scopes: ['all', 'read:repo'] },
      400,
      'invalid access token scope provided: read:repo',
    ],
    ['with a scope in upper case', { name: 'x', scopes: ['READ:user'] }, 400, /READ:user$/],
    ['with scopes that are not a list', { name: 'x', scopes: 'all' }, 422, /^scopes must be/, 'scopes'],
    [
      'that has already expired',
      { name: 'x', expires_at: '2020-01-01T00:00:00Z' },
      422,
      'expires_at must be in the future',
      'expires_at',
    ],
    ['with an expiry that is not a date', { name: 'x', expires_at: 'soon' }, 422, /expires_at/, 'expires_at'],
    ['with an empty expiry', { name: 'x', expires_at: '' }, 422, /expires_at/, 'expires_at'],
    [
      'with an expiry on a nonexistent day',
      { name: 'x', expires_at: '2099-02-30T00:00:00Z' },
      422,
      /expires_at/,
      'expires_at',
    ],
    [
      'with an expiry after the year 9999',
      { name: 'x', expires_at: '9999-12-31T23:59:59-12:00' },
      422,
      /years 1970 and 9999/,
      'expires_at',
    ],
    ['with a malformed JSON body', '{', 422, 'body is not valid JSON'],
  ];
  for (const [what, body, status, message, field] of table) {
    it(`Creating an access token ${what} is rejected with ${status}`, async () => {
      const pair = Buffer.from(`ann:${atrium.world.users.ann?.token}`).toString('base64');
      const answer = await atrium.as()('POST', '/users/ann/tokens', body, { Authorization: `Basic ${pair}` });
      assert.equal(answer.status, status, answer.text);
      if (typeof message === 'string') assert.equal(answer.body.message, message);
      else assert.match(answer.body.message, message);
      if (field !== undefined) assert.equal(answer.body.errors[0].field, field);
    });
  }

  it('Creating an access token without valid Basic authentication is rejected with 401', async () => {
    const { token } = atrium.world.users.ann ?? {};
    const needed = 'this call needs Basic authentication';
    const shown: [Record<string, string>, string][] = [
      [{}, 'token is required'],
      [{ Authorization: `token ${token}` }, needed],
      [{ Authorization: `Bearer ${token}` }, needed],
      [
        { Authorization: `Basic ${Buffer.from('ann:wrong').toString('base64')}` },
        'invalid username, password or token',
      ],
    ];
    for (const [headers, message] of shown) {
      const answer = await atrium.as()('POST', '/users/ann/tokens', { name: 'x' }, headers);
      assert.deepEqual([answer.status, answer.body.message], [401, message]);
    }
  });
});
