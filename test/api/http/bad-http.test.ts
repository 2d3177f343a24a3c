import { http, itRejects, row } from '../../support/checks/rejections.ts';

const NOT_HTTP = 'request is not valid HTTP';
const ONE_HOST = 'request must have exactly one Host header';
const NO_TOKEN = 'token is required';
const SIGN_IN = 'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const LISTENER = 'POST /marketplace/api/v1/version HTTP/1.1\r\nHost: a\r\n';
const SMUGGLED = 'GET /api/v1/version HTTP/1.1\r\nHost: a\r\n\r\n';
const lines = (...text: string[]) => [`${text.join('\r\n')}\r\n\r\n`];

itRejects('HTTP parsing errors', 'platform', [
  row('Binary noise is rejected', ['\x16\x03\x01\x02\x00\x01\x00 not http\r\n\r\n'], 400, NOT_HTTP),
  row('An unknown method is rejected', http('FROBNICATE', '/api/v1/user'), 400, NOT_HTTP),
  row('A lowercase method is rejected', http('get', '/api/v1/user'), 400, NOT_HTTP),
  row('The HTTP/2 preface is rejected', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], 400, NOT_HTTP),
  row('A nonexistent HTTP version is rejected', lines('GET /api/v1/user HTTP/9.9', 'Host: a'), 400, NOT_HTTP),
  row('A space in the request target is rejected', lines('GET /api/v1/us er HTTP/1.1', 'Host: a'), 400, NOT_HTTP),
  row('A raw NUL in the request target is rejected', lines('GET /api/v1/us\0er HTTP/1.1', 'Host: a'), 400, NOT_HTTP),
  row(
    'CONNECT is rejected',
    lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com'),
    400,
    'this server is not a proxy',
  ),
  row(
    'HTTP/1.0 without a Host header does not bypass authentication',
    lines('GET /api/v1/user HTTP/1.0'),
    401,
    NO_TOKEN,
  ),
  row('HTTP/1.1 without a Host header is rejected', lines('GET /api/v1/user HTTP/1.1'), 400, ONE_HOST),
  row('A second Host header is rejected', lines('GET /api/v1/version HTTP/1.1', 'Host: a', 'HOST: b'), 400, ONE_HOST),
  row('A header without a colon is rejected', lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'nonsense'), 400, NOT_HTTP),
  row(
    'A space before the colon of a header is rejected',
    lines('GET /api/v1/user HTTP/1.1', 'Host : a'),
    400,
    NOT_HTTP,
  ),
  row('A folded header is rejected', lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'X-A: b', ' folded'), 400, NOT_HTTP),
  row('A NUL in a header is rejected', lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'X-A: b\0c'), 400, NOT_HTTP),
  row('A bare line feed is rejected', ['GET /api/v1/user HTTP/1.1\nHost: a\n\n'], 400, NOT_HTTP),
  row(
    'A bare carriage return in a header is rejected',
    lines('GET /api/v1/user HTTP/1.1', 'Host: a', 'X-A: b\rX-B: c'),
    400,
    NOT_HTTP,
  ),
  row(
    'A single header of 20 KB is rejected',
    http('GET', '/api/v1/user', { 'X-A': 'a'.repeat(20_000) }),
    431,
    'headers are too large',
  ),
  row(
    'A request with 3,000 headers is rejected',
    lines('GET /api/v1/user HTTP/1.1', 'Host: a', ...Array(3_000).fill('A: b')),
    431,
    'headers are too large',
  ),
  row(
    'Content-Length together with Transfer-Encoding is rejected',
    [`${SIGN_IN}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    400,
    NOT_HTTP,
  ),
  row(
    'A second, different Content-Length is rejected',
    [`${SIGN_IN}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    400,
    NOT_HTTP,
  ),
  row('A negative Content-Length is rejected', [`${SIGN_IN}Content-Length: -1\r\n\r\n{}`], 400, NOT_HTTP),
  row('A Content-Length in words is rejected', [`${SIGN_IN}Content-Length: two\r\n\r\n{}`], 400, NOT_HTTP),
  row('A Content-Length with a plus sign is rejected', [`${SIGN_IN}Content-Length: +2\r\n\r\n{}`], 400, NOT_HTTP),
  row(
    'An overflowing Content-Length is rejected',
    [`${SIGN_IN}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`],
    400,
    NOT_HTTP,
  ),
  row('An unknown transfer coding is rejected', [`${SIGN_IN}Transfer-Encoding: cow\r\n\r\n${SMUGGLED}`], 400, NOT_HTTP),
  row(
    'A chunked coding that is not last is rejected',
    [`${SIGN_IN}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'A chunk size that is not a number is rejected',
    [`${SIGN_IN}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'A chunk longer than its size is rejected',
    [`${SIGN_IN}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'An overflowing chunk size is rejected',
    [`${SIGN_IN}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(20)}\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'An unknown Expect header does not bypass authentication',
    http('GET', '/api/v1/user', { Expect: 'miracles' }),
    401,
    NO_TOKEN,
  ),
  row(
    'An unsupported upgrade does not bypass authentication',
    http('GET', '/api/v1/user', { Connection: 'Upgrade', Upgrade: 'h2c' }),
    401,
    NO_TOKEN,
  ),
  row(
    'An invalid Host header does not bypass authentication',
    lines('GET /api/v1/user HTTP/1.1', 'Host: http://evil/@"<script>'),
    401,
    NO_TOKEN,
  ),
]);

itRejects('HTTP parsing errors on a marketplace deployment', 'listener', [
  row('A marketplace deployment rejects binary noise', ['\x16\x03\x01 not http\r\n\r\n'], 400, NOT_HTTP),
  row(
    'A marketplace deployment rejects an unknown method',
    http('FROBNICATE', '/marketplace/api/v1/version'),
    400,
    NOT_HTTP,
  ),
  row(
    'A marketplace deployment rejects HTTP/1.1 without a Host header',
    lines('GET /marketplace/api/v1/version HTTP/1.1'),
    400,
    ONE_HOST,
  ),
  row(
    'A marketplace deployment rejects Content-Length together with Transfer-Encoding',
    [`${LISTENER}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    400,
    NOT_HTTP,
  ),
  row(
    'A marketplace deployment rejects CONNECT',
    lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com'),
    400,
    'this server is not a proxy',
  ),
  row(
    'A marketplace deployment rejects a header of 20 KB',
    http('GET', '/marketplace/api/v1/version', { A: 'a'.repeat(20_000) }),
    431,
    'headers are too large',
  ),
]);
