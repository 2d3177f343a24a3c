import { http, refuseAll, row } from '../../support/refusals.ts';

const NOT_HTTP = 'request is not valid HTTP';
const ONE_HOST = 'request must have exactly one Host header';
const NO_TOKEN = 'token is required';
const SIGN_IN = 'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const LISTENER = 'POST /marketplace/api/v1/version HTTP/1.1\r\nHost: a\r\n';
const SMUGGLED = 'GET /api/v1/version HTTP/1.1\r\nHost: a\r\n\r\n';
const lines = (...text: string[]) => [`${text.join('\r\n')}\r\n\r\n`];

refuseAll('what is not quite HTTP', 'platform', [
  row('noise', ['\x16\x03\x01\x02\x00\x01\x00 not http\r\n\r\n'], 400, NOT_HTTP),
  row('a made-up method', http('FROBNICATE', '/api/v1/user'), 400, NOT_HTTP),
  row('a method in small letters', http('get', '/api/v1/user'), 400, NOT_HTTP),
  row('the preface of HTTP/2', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], 400, NOT_HTTP),
  row('a version that does not exist', lines('GET /api/v1/user HTTP/9.9', 'Host: a'), 400, NOT_HTTP),
  row('a space in the target', lines('GET /api/v1/us er HTTP/1.1', 'Host: a'), 400, NOT_HTTP),
  row('a raw NUL in the target', lines('GET /api/v1/us\0er HTTP/1.1', 'Host: a'), 400, NOT_HTTP),
  row('CONNECT', lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com'), 400, 'this server is no proxy'),
  row('HTTP/1.0 without a Host', lines('GET /api/v1/user HTTP/1.0'), 401, NO_TOKEN),
  row('HTTP/1.1 without a Host', lines('GET /api/v1/user HTTP/1.1'), 400, ONE_HOST),
  row('two Hosts', lines('GET /api/v1/version HTTP/1.1', 'Host: a', 'HOST: b'), 400, ONE_HOST),
  row('a header without a colon', lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'nonsense'), 400, NOT_HTTP),
  row('a space before the colon', lines('GET /api/v1/user HTTP/1.1', 'Host : a'), 400, NOT_HTTP),
  row('a folded header', lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'X-A: b', ' folded'), 400, NOT_HTTP),
  row('a NUL in a header', lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'X-A: b\0c'), 400, NOT_HTTP),
  row('a bare line feed', ['GET /api/v1/user HTTP/1.1\nHost: a\n\n'], 400, NOT_HTTP),
  row(
    'a bare carriage return in a header',
    lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'X-A: b\rX-B: c'),
    400,
    NOT_HTTP,
  ),
  row('one header of 20 KB', http('GET', '/api/v1/user', { 'X-A': 'a'.repeat(20_000) }), 431, 'headers are too large'),
  row(
    '3,000 headers',
    lines('GET /api/v1/user HTTP/1.1', 'Host: a', ...Array(3_000).fill('A: b')),
    431,
    'headers are too large',
  ),
  row(
    'both lengths',
    [`${SIGN_IN}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    400,
    NOT_HTTP,
  ),
  row('two different lengths', [`${SIGN_IN}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`], 400, NOT_HTTP),
  row('a negative length', [`${SIGN_IN}Content-Length: -1\r\n\r\n{}`], 400, NOT_HTTP),
  row('a length in words', [`${SIGN_IN}Content-Length: two\r\n\r\n{}`], 400, NOT_HTTP),
  row('a length with a sign', [`${SIGN_IN}Content-Length: +2\r\n\r\n{}`], 400, NOT_HTTP),
  row('a length beyond all numbers', [`${SIGN_IN}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`], 400, NOT_HTTP),
  row('an unknown transfer coding', [`${SIGN_IN}Transfer-Encoding: cow\r\n\r\n${SMUGGLED}`], 400, NOT_HTTP),
  row('chunked, but not last', [`${SIGN_IN}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`], 400, NOT_HTTP),
  row(
    'a chunk size that is no number',
    [`${SIGN_IN}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'a chunk longer than it says',
    [`${SIGN_IN}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'a chunk size beyond all numbers',
    [`${SIGN_IN}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(20)}\r\n`],
    400,
    NOT_HTTP,
  ),
  row('an expectation that nobody knows', http('GET', '/api/v1/user', { Expect: 'miracles' }), 401, NO_TOKEN),
  row(
    'an upgrade that nobody offers',
    http('GET', '/api/v1/user', { Connection: 'Upgrade', Upgrade: 'h2c' }),
    401,
    NO_TOKEN,
  ),
  row('a Host that is none', lines('GET /api/v1/user HTTP/1.1', 'Host: http://evil/@"<script>'), 401, NO_TOKEN),
]);

refuseAll('what is not quite HTTP, on a marketplace deployment', 'listener', [
  row('noise', ['\x16\x03\x01 not http\r\n\r\n'], 400, NOT_HTTP),
  row('a made-up method', http('FROBNICATE', '/marketplace/api/v1/version'), 400, NOT_HTTP),
  row('without a Host', lines('GET /marketplace/api/v1/version HTTP/1.1'), 400, ONE_HOST),
  row('both lengths', [`${LISTENER}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`], 400, NOT_HTTP),
  row('CONNECT', lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com'), 400, 'this server is no proxy'),
  row(
    'large headers',
    http('GET', '/marketplace/api/v1/version', { A: 'a'.repeat(20_000) }),
    431,
    'headers are too large',
  ),
]);
