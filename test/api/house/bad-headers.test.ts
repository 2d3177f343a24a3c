import { http, refuseAll, row } from '../../support/refusals.ts';

const NO_TOKEN = 'token is required';
const WRONG = 'invalid username, password or token';
const get = (headers: Record<string, string>) => http('GET', '/api/v1/user', headers);
const authorization = (value: string) => get({ Authorization: value });
const basic = (pair: string | Buffer) => authorization(`Basic ${Buffer.from(pair).toString('base64')}`);

refuseAll('a credential that is none', 'platform', [
  row('no header at all', get({}), 401, NO_TOKEN),
  row('an empty header', authorization(''), 401, NO_TOKEN),
  row('blanks', authorization('   '), 401, NO_TOKEN),
  row('the word token alone', authorization('token'), 401, NO_TOKEN),
  row('the word token and a blank', authorization('token '), 401, NO_TOKEN),
  row('a text without a scheme', authorization('atr_000000000000000000000000000000000'), 401, NO_TOKEN),
  row('an unknown scheme', authorization('Digest username="ann"'), 401, NO_TOKEN),
  row('three words', authorization('token a b'), 401, NO_TOKEN),
  row('a token with two blanks before it', authorization('token  nonsense'), 401, WRONG),
  row('a malformed token', authorization('token nonsense'), 401, WRONG),
  row('a token with a wrong checksum', authorization(`token atr_${'0'.repeat(33)}`), 401, WRONG),
  row('a token of 10 KB', authorization(`token atr_${'a'.repeat(10_000)}`), 401, WRONG),
  row('a token with bytes above 127', authorization('token \xe9\xff\x80'), 401, WRONG),
  row('a JWT', authorization('Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'), 401, WRONG),
  row('SQL', authorization("token ';drop--"), 401, WRONG),
  row('Basic and nothing', authorization('Basic'), 401, NO_TOKEN),
  row('Basic that is not base64', authorization('Basic !!!!'), 401, NO_TOKEN),
  row('Basic without a colon', basic('ann'), 401, NO_TOKEN),
  row('Basic with nothing but a colon', basic(':'), 401, WRONG),
  row('Basic with an empty name', basic(':secret'), 401, WRONG),
  row('Basic with an empty password', basic('ann:'), 401, WRONG),
  row('Basic with a wrong password', basic('ann:wrong'), 401, WRONG),
  row('Basic with an unknown name', basic('nobody:wrong'), 401, WRONG),
  row('Basic with an organization', basic('acme:wrong'), 401, WRONG),
  row('Basic with a NUL in the name', basic('an\0n:wrong'), 401, WRONG),
  row('Basic with a NUL in the password', basic('ann:wr\0ng'), 401, WRONG),
  row('Basic with invalid UTF-8', basic(Buffer.from('\xff\xfe:x', 'latin1')), 401, WRONG),
  row('Basic with a name in Unicode', basic('ańń🦊:wrong'), 401, WRONG),
  row('Basic with a name of 10 KB', basic(`${'a'.repeat(10_000)}:wrong`), 401, WRONG),
  row('Basic with a password of 10 KB', basic(`ann:${'a'.repeat(10_000)}`), 401, WRONG),
  row('Basic with a wrong token', basic(`ann:atr_${'0'.repeat(33)}`), 401, WRONG),
  row('an empty cookie', get({ Cookie: '' }), 401, NO_TOKEN),
  row('a cookie of nothing but punctuation', get({ Cookie: '=;;=;,,' }), 401, NO_TOKEN),
  row('a foreign cookie', get({ Cookie: 'i_like_gitea=abc' }), 401, NO_TOKEN),
  row('a session cookie without a value', get({ Cookie: 'atrium_session' }), 401, NO_TOKEN),
  row('a session cookie with an empty value', get({ Cookie: 'atrium_session=' }), 401, WRONG),
  row('a session cookie that is made up', get({ Cookie: 'a=b; atrium_session=abc; _csrf=abc' }), 401, WRONG),
  row('a session cookie in quotes', get({ Cookie: 'atrium_session="abc"' }), 401, WRONG),
  row('a session cookie of 10 KB', get({ Cookie: `atrium_session=${'a'.repeat(10_000)}` }), 401, WRONG),
  row('a __proto__ cookie', get({ Cookie: '__proto__=x; constructor=y' }), 401, NO_TOKEN),
  row('a request id that is none', get({ 'X-Request-Id': '<script>' }), 401, NO_TOKEN),
  row('a request id of 10 KB', get({ 'X-Request-Id': 'a'.repeat(10_000) }), 401, NO_TOKEN),
  row('a forwarded address that is none', get({ 'X-Forwarded-For': "'; drop table" }), 401, NO_TOKEN),
  row('a method in a header', get({ 'X-HTTP-Method-Override': 'DELETE' }), 401, NO_TOKEN),
]);
