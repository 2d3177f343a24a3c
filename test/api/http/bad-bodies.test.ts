import { http, itRejects, row } from '../../support/checks/rejections.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const MIB = 1024 * 1024;
const signIn = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
  http('POST', '/api/v1/user/signin', headers, body);
const listener = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
  http('GET', '/marketplace/api/v1/version', headers, body);

const right = '"username":"ann","password":"x"';
const nested = (depth: number) => `{${right},"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const chunked = (size: number) => {
  const head =
    'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  return [head, `${size.toString(16)}\r\n`, Buffer.alloc(size, 0x20), '\r\n0\r\n\r\n'];
};
/** A body that is neither sent nor announced: curl -X POST with a content type and no data. */
const unannounced = (type: string) => [`POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\n\r\n`];

const NOT_JSON = 'body is not valid JSON';
const NOT_UTF8 = 'body is not valid UTF-8';
const NUL = 'body contains a NUL character';
const HALF = 'body contains an unpaired surrogate';
const DEEP = 'body is nested more than 64 levels deep';
const TYPE = 'body must be sent as application/json';

itRejects('Invalid request bodies on /api/v1', 'platform', [
  row('Text that is not JSON is rejected', signIn('hello'), 422, NOT_JSON),
  row('A truncated JSON object is rejected', signIn('{"username":'), 422, NOT_JSON),
  row('A second JSON value is rejected', signIn('{} {}'), 422, NOT_JSON),
  row('A trailing comma is rejected', signIn(`{${right},}`), 422, NOT_JSON),
  row('Single-quoted JSON is rejected', signIn("{'username':'ann'}"), 422, NOT_JSON),
  row('A comment in JSON is rejected', signIn(`{${right}} // hi`), 422, NOT_JSON),
  row('NaN is rejected', signIn(`{${right},"x":NaN}`), 422, NOT_JSON),
  row('-Infinity is rejected', signIn(`{${right},"x":-Infinity}`), 422, NOT_JSON),
  row('A number with a leading zero is rejected', signIn(`{${right},"x":012}`), 422, NOT_JSON),
  row('A raw line break in a string is rejected', signIn('{"username":"a\nb","password":"x"}'), 422, NOT_JSON),
  row('A raw NUL in a string is rejected', signIn('{"username":"a\0b","password":"x"}'), 422, NOT_JSON),
  row('A body of NULs is rejected', signIn(Buffer.alloc(64)), 422, NOT_JSON),
  row('An escaped NUL is rejected', signIn('{"username":"a\\u0000b","password":"x"}'), 422, NUL),
  row('A NUL in a key is rejected', signIn(`{${right},"\\u0000":1}`), 422, NUL),
  row('A lone high surrogate is rejected', signIn('{"username":"\\ud800","password":"x"}'), 422, HALF),
  row('A reversed surrogate pair is rejected', signIn('{"username":"\\udc00\\ud800","password":"x"}'), 422, HALF),
  row('A lone surrogate in a key is rejected', signIn(`{${right},"\\udfff":1}`), 422, HALF),
  row('Invalid UTF-8 is rejected', signIn(Buffer.from('{"username":"\xff"}', 'latin1')), 422, NOT_UTF8),
  row('Overlong UTF-8 is rejected', signIn(Buffer.from('{"username":"\xc0\xaf"}', 'latin1')), 422, NOT_UTF8),
  row('A surrogate in UTF-8 is rejected', signIn(Buffer.from('{"username":"\xed\xa0\x80"}', 'latin1')), 422, NOT_UTF8),
  row('UTF-16 is rejected', signIn(Buffer.from(`{${right}}`, 'utf16le')), 422, NOT_JSON),
  row('A body 65 levels deep is rejected', signIn(nested(64)), 422, DEEP),
  row('An array 50,000 levels deep is rejected', signIn(nested(50_000)), 422, DEEP),
  row('A body of unclosed brackets is rejected', signIn('['.repeat(50_000)), 422, NOT_JSON),
  row('An object 50,000 levels deep is rejected', signIn(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`), 422, DEEP),
  row('A duplicate key is rejected', signIn(`{${right},"username":"bob"}`), 422, 'key is given twice: username'),
  row(
    'An escaped duplicate key is rejected',
    signIn(`{${right},"\\u0075sername":"bob"}`),
    422,
    'key is given twice: username',
  ),
  row(
    'A nested duplicate key is rejected',
    signIn(`{${right},"x":[{"a":{"b":1,"b":2}}]}`),
    422,
    'key is given twice: b',
  ),
  row(
    'A __proto__ key is rejected',
    signIn(`{${right},"__proto__":{"isAdmin":true}}`),
    422,
    'key is not allowed: __proto__',
  ),
  row(
    'An escaped __proto__ key is rejected',
    signIn(`{${right},"__pr\\u006fto__":1}`),
    422,
    'key is not allowed: __proto__',
  ),
  row('A constructor key is rejected', signIn(`{${right},"constructor":{}}`), 422, 'key is not allowed: constructor'),
  row('The number 1e999 is rejected', signIn(`{${right},"x":1e999}`), 422, 'number is out of range: 1e999'),
  row('The number -1E+999 is rejected', signIn(`{${right},"x":-1E+999}`), 422, 'number is out of range: -1E+999'),
  row(
    'A number of 400 digits is rejected',
    signIn(`{${right},"x":${'9'.repeat(400)}}`),
    422,
    `number is out of range: ${'9'.repeat(40)}`,
  ),
  row(
    'A number of a million digits is rejected',
    signIn(`{${right},"x":${'7'.repeat(1_000_000)}}`),
    422,
    /^number is out of range/,
  ),
  row('An array in place of an object is rejected', signIn('[]'), 422, 'body must be object'),
  row('A body of null is rejected', signIn('null'), 422, 'body must be object'),
  row('A body that is a string is rejected', signIn('"ann"'), 422, 'body must be object'),
  row('A body that is a number is rejected', signIn('9007199254740993'), 422, 'body must be object'),
  row('An empty sign-in object is rejected', signIn('{}'), 422, 'username is required'),
  row('An empty body counts as {} and is rejected', signIn(''), 422, 'username is required'),
  row('An absent JSON body is rejected', unannounced('application/json'), 422, 'username is required'),
  row(
    'An absent JSON body with a charset is rejected',
    unannounced('Application/JSON ; charset=x'),
    422,
    'username is required',
  ),
  row('An absent text body is rejected', unannounced('text/plain'), 422, 'body must be object'),
  row('An absent body of an invalid type is rejected', unannounced(';;'), 422, 'body must be object'),
  row('A blank body counts as {} and is rejected', signIn(' \r\n\t '), 422, 'username is required'),
  row('A missing field is rejected', signIn('{"username":"ann"}'), 422, 'password is required'),
  row(
    'A number in place of a string is rejected',
    signIn('{"username":1,"password":"x"}'),
    422,
    'username must be string',
  ),
  row(
    'A null in place of a string is rejected',
    signIn('{"username":null,"password":"x"}'),
    422,
    'username must be string',
  ),
  row(
    'An object in place of a string is rejected',
    signIn('{"username":{"$ne":""},"password":"x"}'),
    422,
    'username must be string',
  ),
  row(
    'A string in place of a boolean is rejected',
    signIn(`{${right},"remember":"true"}`),
    422,
    'remember must be boolean',
  ),
  row(
    'A field that is too long is rejected',
    signIn(`{"username":"${'a'.repeat(255)}","password":"x"}`),
    422,
    /^username must NOT have more/,
  ),
  row('A body larger than 1 MiB is rejected', signIn(Buffer.alloc(MIB + 1, 0x20)), 413, 'body is larger than 1 MiB'),
  row('A chunked body larger than 1 MiB is rejected', chunked(MIB + 1), 413, 'body is larger than 1 MiB'),
  row(
    'A Content-Length of 10 GiB is rejected',
    [
      'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n{',
    ],
    413,
    'body is larger than 1 MiB',
  ),
  row('A body without a content type is rejected', signIn('{}', {}), 422, TYPE),
  row('A text/plain body is rejected', signIn('{}', { 'Content-Type': 'text/plain' }), 422, TYPE),
  row(
    'A form body is rejected',
    signIn('username=ann', { 'Content-Type': 'application/x-www-form-urlencoded' }),
    422,
    TYPE,
  ),
  row(
    'A multipart body is rejected',
    signIn('--x--', { 'Content-Type': 'multipart/form-data; boundary=x' }),
    422,
    TYPE,
  ),
  row('An application/jsonp body is rejected', signIn('{}', { 'Content-Type': 'application/jsonp' }), 422, TYPE),
  row('A +json body is rejected', signIn('{}', { 'Content-Type': 'application/problem+json' }), 422, TYPE),
  row('An invalid content type is rejected', signIn('{}', { 'Content-Type': ';;;/' }), 422, TYPE),
  row(
    'A gzip content encoding is rejected',
    signIn('{}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }),
    422,
    'content encoding is not supported: gzip',
  ),
  row(
    'A text/plain body on a GET is rejected',
    http('GET', '/api/v1/version', { 'Content-Type': 'text/plain' }, 'hi'),
    422,
    TYPE,
  ),
]);

itRejects('Invalid request bodies on the listener', 'listener', [
  row('The listener rejects text that is not JSON', listener('hello'), 400, NOT_JSON),
  row('The listener rejects an escaped NUL', listener('{"a":"\\u0000"}'), 400, NUL),
  row('The listener rejects a lone surrogate', listener('{"a":"\\ud800"}'), 400, HALF),
  row('The listener rejects invalid UTF-8', listener(Buffer.from('"\xff"', 'latin1')), 400, NOT_UTF8),
  row('The listener rejects an array 50,000 levels deep', listener('['.repeat(50_000) + ']'.repeat(50_000)), 400, DEEP),
  row('The listener rejects a duplicate key', listener('{"a":1,"a":2}'), 400, 'key is given twice: a'),
  row('The listener rejects a __proto__ key', listener('{"__proto__":1}'), 400, 'key is not allowed: __proto__'),
  row('The listener rejects a number out of range', listener('[1e400]'), 400, 'number is out of range: 1e400'),
  row('The listener rejects a text/plain body', listener('{}', { 'Content-Type': 'text/plain' }), 400, TYPE),
  row('The listener rejects a body without a content type', listener('{}', {}), 400, TYPE),
  row(
    'The listener rejects a brotli content encoding',
    listener('{}', { ...JSON_TYPE, 'Content-Encoding': 'br' }),
    400,
    'content encoding is not supported: br',
  ),
  row(
    'The listener rejects a body larger than 1 MiB',
    listener(Buffer.alloc(MIB + 1, 0x20)),
    413,
    'body is larger than 1 MiB',
  ),
]);
