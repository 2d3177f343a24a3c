import { http, itRejects, row } from '../../support/checks/rejections.ts';

const NO_TOKEN = 'token is required';
const WRONG = 'invalid username, password or token';
const get = (headers: Record<string, string>) => http('GET', '/api/v1/user', headers);
const authorization = (value: string) => get({ Authorization: value });
const basic = (pair: string | Buffer) => authorization(`Basic ${Buffer.from(pair).toString('base64')}`);

itRejects('Invalid credentials', 'platform', [
  row('A request without credentials is rejected', get({}), 401, NO_TOKEN),
  row('An empty Authorization header is rejected', authorization(''), 401, NO_TOKEN),
  row('A blank Authorization header is rejected', authorization('   '), 401, NO_TOKEN),
  row('The scheme token without a value is rejected', authorization('token'), 401, NO_TOKEN),
  row('The scheme token with a blank value is rejected', authorization('token '), 401, NO_TOKEN),
  row('A token without a scheme is rejected', authorization('atr_000000000000000000000000000000000'), 401, NO_TOKEN),
  row('An unknown authentication scheme is rejected', authorization('Digest username="ann"'), 401, NO_TOKEN),
  row('An Authorization header of three words is rejected', authorization('token a b'), 401, NO_TOKEN),
  row('A malformed token after two spaces is rejected', authorization('token  nonsense'), 401, WRONG),
  row('A malformed token is rejected', authorization('token nonsense'), 401, WRONG),
  row('A token with a wrong checksum is rejected', authorization(`token atr_${'0'.repeat(33)}`), 401, WRONG),
  row('A token of 10 KB is rejected', authorization(`token atr_${'a'.repeat(10_000)}`), 401, WRONG),
  row('A token with bytes above 127 is rejected', authorization('token \xe9\xff\x80'), 401, WRONG),
  row('A JWT is rejected', authorization('Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'), 401, WRONG),
  row('SQL in place of a token is rejected', authorization("token ';drop--"), 401, WRONG),
  row('Basic without credentials is rejected', authorization('Basic'), 401, NO_TOKEN),
  row('Basic with invalid base64 is rejected', authorization('Basic !!!!'), 401, NO_TOKEN),
  row('Basic without a colon is rejected', basic('ann'), 401, NO_TOKEN),
  row('Basic with only a colon is rejected', basic(':'), 401, WRONG),
  row('Basic with an empty name is rejected', basic(':secret'), 401, WRONG),
  row('Basic with an empty password is rejected', basic('ann:'), 401, WRONG),
  row('Basic with a wrong password is rejected', basic('ann:wrong'), 401, WRONG),
  row('Basic with an unknown name is rejected', basic('nobody:wrong'), 401, WRONG),
  row('Basic with the name of an organization is rejected', basic('acme:wrong'), 401, WRONG),
  row('Basic with a NUL in the name is rejected', basic('an\0n:wrong'), 401, WRONG),
  row('Basic with a NUL in the password is rejected', basic('ann:wr\0ng'), 401, WRONG),
  row('Basic with invalid UTF-8 is rejected', basic(Buffer.from('\xff\xfe:x', 'latin1')), 401, WRONG),
  row('Basic with an unknown Unicode name is rejected', basic('ańń🦊:wrong'), 401, WRONG),
  row('Basic with a name of 10 KB is rejected', basic(`${'a'.repeat(10_000)}:wrong`), 401, WRONG),
  row('Basic with a password of 10 KB is rejected', basic(`ann:${'a'.repeat(10_000)}`), 401, WRONG),
  row('Basic with a wrong token is rejected', basic(`ann:atr_${'0'.repeat(33)}`), 401, WRONG),
  row('An empty Cookie header is rejected', get({ Cookie: '' }), 401, NO_TOKEN),
  row('A Cookie header of only punctuation is rejected', get({ Cookie: '=;;=;,,' }), 401, NO_TOKEN),
  row('A request with only a foreign cookie is rejected', get({ Cookie: 'i_like_gitea=abc' }), 401, NO_TOKEN),
  row('A session cookie without a value is rejected', get({ Cookie: 'atrium_session' }), 401, NO_TOKEN),
  row('A session cookie with an empty value is rejected', get({ Cookie: 'atrium_session=' }), 401, WRONG),
  row('A forged session cookie is rejected', get({ Cookie: 'a=b; atrium_session=abc; _csrf=abc' }), 401, WRONG),
  row('A forged session cookie in quotes is rejected', get({ Cookie: 'atrium_session="abc"' }), 401, WRONG),
  row('A session cookie of 10 KB is rejected', get({ Cookie: `atrium_session=${'a'.repeat(10_000)}` }), 401, WRONG),
  row('A __proto__ cookie is rejected', get({ Cookie: '__proto__=x; constructor=y' }), 401, NO_TOKEN),
  row('An invalid request ID does not bypass authentication', get({ 'X-Request-Id': '<script>' }), 401, NO_TOKEN),
  row(
    'A request ID of 10 KB does not bypass authentication',
    get({ 'X-Request-Id': 'a'.repeat(10_000) }),
    401,
    NO_TOKEN,
  ),
  row(
    'An invalid forwarded address does not bypass authentication',
    get({ 'X-Forwarded-For': "'; drop table" }),
    401,
    NO_TOKEN,
  ),
  row(
    'A method override header does not bypass authentication',
    get({ 'X-HTTP-Method-Override': 'DELETE' }),
    401,
    NO_TOKEN,
  ),
]);
