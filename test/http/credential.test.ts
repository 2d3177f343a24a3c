import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { type Credential, isBasic, readCredential } from '../../src/http/admission/credential.ts';
import { mintToken } from '../../src/identity/tokens/token-text.ts';

const TOKEN = mintToken();
const OTHER = mintToken();
const NONE: Credential = { kind: 'none' };
const token = (text: string): Credential => ({ kind: 'token', text });
const basicToken = (text: string): Credential => ({ kind: 'token', text, basic: true });
const password = (login: string, text: string): Credential => ({ kind: 'password', login, password: text });
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

type RequestParts = { headers?: Record<string, string>; query?: Record<string, unknown> };
const read = ({ headers = {}, query = {} }: RequestParts, queryAllowed = false) =>
  readCredential({ headers, query } as unknown as FastifyRequest, queryAllowed);
const authorization = (value: string) => read({ headers: { authorization: value } });

describe('Authorization header', () => {
  const table: readonly [string, Credential][] = [
    [`token ${TOKEN}`, token(TOKEN)],
    [`Token ${TOKEN}`, token(TOKEN)],
    [`TOKEN ${TOKEN}`, token(TOKEN)],
    [`Bearer ${TOKEN}`, token(TOKEN)],
    [`bearer ${TOKEN}`, token(TOKEN)],
    [`bEaReR   ${TOKEN}`, token(TOKEN)],
    [` token ${TOKEN} `, token(TOKEN)],
    [basic('ann:secret'), password('ann', 'secret')],
    [basic('ann:secret').replace('Basic', 'BASIC'), password('ann', 'secret')],
    [basic('ann@example.com:a:b:c'), password('ann@example.com', 'a:b:c')],
    [basic('ann:pässwörd 🦊'), password('ann', 'pässwörd 🦊')],
    [basic(`ann:${TOKEN}`), basicToken(TOKEN)],
    [basic(`${TOKEN}:`), basicToken(TOKEN)],
    [basic(`${TOKEN}:x-oauth-basic`), basicToken(TOKEN)],
    [basic('ann:atr_is my secret'), password('ann', 'atr_is my secret')],
    [basic(`ann:${TOKEN}x`), password('ann', `${TOKEN}x`)],
    [basic('ann:x-oauth-basic'), password('ann', 'x-oauth-basic')],
    [basic('ann:'), basicToken('ann')],
    [basic('ann'), NONE],
    ['', NONE],
    ['token', NONE],
    ['token a b', NONE],
    [`token\t${TOKEN}`, NONE],
    [`Digest ${TOKEN}`, NONE],
    [TOKEN, NONE],
  ];
  for (const [header, wanted] of table) {
    it(`Authorization header ${JSON.stringify(header.replaceAll(TOKEN, 'T'))} is read as ${wanted.kind === 'none' ? 'no credential' : `a ${wanted.kind}`}`, () =>
      assert.deepEqual(authorization(header), wanted));
  }

  it('An Authorization header with 16 KB of blanks is read in under 100 ms', () => {
    const start = performance.now();
    assert.deepEqual(authorization(`token${' '.repeat(16_000)}a b`), NONE);
    assert.ok(performance.now() - start < 100);
  });
});

describe('Query tokens', () => {
  const headers = { authorization: `token ${OTHER}` };

  it('A query token takes precedence over the header where the route allows it', () => {
    assert.deepEqual(read({ headers, query: { token: TOKEN } }, true), token(TOKEN));
    assert.deepEqual(read({ headers, query: { access_token: TOKEN } }, true), token(TOKEN));
    assert.deepEqual(read({ query: { token: TOKEN, access_token: OTHER } }, true), token(TOKEN));
  });

  it('A query token is ignored where the route does not allow it', () => {
    assert.deepEqual(read({ headers, query: { token: TOKEN } }), token(OTHER));
    assert.deepEqual(read({ query: { token: TOKEN, access_token: TOKEN } }), NONE);
  });

  it('An empty query token is ignored and a repeated one is invalid', () => {
    assert.deepEqual(read({ headers, query: { token: '' } }, true), token(OTHER));
    assert.deepEqual(read({ query: { token: '', access_token: TOKEN } }, true), token(TOKEN));
    assert.deepEqual(read({ headers, query: { token: [TOKEN, TOKEN] } }, true), token(''));
  });
});

describe('Session cookie', () => {
  const session = (text: string, csrf?: string): Credential => ({ kind: 'session', text, csrf });
  const table: readonly [Record<string, string>, Credential][] = [
    [{ cookie: 'atrium_session=abc' }, session('abc')],
    [{ cookie: 'a=1; atrium_session=abc; _csrf=x', 'x-csrf-token': 'x' }, session('abc', 'x')],
    [{ cookie: ' atrium_session = a=b ' }, session('a=b')],
    [{ cookie: 'atrium_session=first; atrium_session=second' }, session('first')],
    [{ cookie: 'xatrium_session=abc' }, NONE],
    [{ cookie: 'Atrium_Session=abc' }, NONE],
    [{ cookie: '' }, NONE],
    [{ cookie: 'atrium_session=abc', authorization: `token ${TOKEN}` }, token(TOKEN)],
    [{ cookie: 'atrium_session=abc', authorization: 'nonsense' }, NONE],
  ];
  for (const [headers, wanted] of table) {
    it(`Request headers ${JSON.stringify(headers).replaceAll(TOKEN, 'T')} are read as ${wanted.kind === 'none' ? 'no credential' : `a ${wanted.kind}`}`, () =>
      assert.deepEqual(read({ headers }), wanted));
  }
});

describe('Basic authentication', () => {
  it('A password, and a token in its place, are Basic authentication; tokens of other headers and cookies are not', () => {
    for (const header of [basic('ann:secret'), basic(`ann:${TOKEN}`), basic(`${TOKEN}:`)]) {
      assert.equal(isBasic(authorization(header)), true);
    }
    const cookie = 'atrium_session=abc';
    for (const other of [authorization(`token ${TOKEN}`), read({ headers: { cookie } }), NONE]) {
      assert.equal(isBasic(other), false);
    }
  });
});
