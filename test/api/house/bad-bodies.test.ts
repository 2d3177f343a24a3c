import { http, refuseAll, row } from '../../support/refusals.ts';

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
/** A body that is neither there nor announced: curl -X POST with a content type and no data. */
const unannounced = (type: string) => [`POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\n\r\n`];

const NOT_JSON = 'body is not valid JSON';
const NOT_UTF8 = 'body is not valid UTF-8';
const NUL = 'body holds a NUL character';
const HALF = 'body holds half of a surrogate pair';
const DEEP = 'body is nested more than 64 levels deep';
const TYPE = 'body must be sent as application/json';

refuseAll('a body that /api/v1 cannot take', 'platform', [
  row('text that is not JSON', signIn('hello'), 422, NOT_JSON),
  row('half an object', signIn('{"username":'), 422, NOT_JSON),
  row('two values', signIn('{} {}'), 422, NOT_JSON),
  row('a comma too many', signIn(`{${right},}`), 422, NOT_JSON),
  row('single quotes', signIn("{'username':'ann'}"), 422, NOT_JSON),
  row('a comment', signIn(`{${right}} // hi`), 422, NOT_JSON),
  row('NaN', signIn(`{${right},"x":NaN}`), 422, NOT_JSON),
  row('Infinity', signIn(`{${right},"x":-Infinity}`), 422, NOT_JSON),
  row('a number with a leading zero', signIn(`{${right},"x":012}`), 422, NOT_JSON),
  row('a raw line break in a string', signIn('{"username":"a\nb","password":"x"}'), 422, NOT_JSON),
  row('a raw NUL', signIn('{"username":"a\0b","password":"x"}'), 422, NOT_JSON),
  row('nothing but NULs', signIn(Buffer.alloc(64)), 422, NOT_JSON),
  row('a NUL as an escape', signIn('{"username":"a\\u0000b","password":"x"}'), 422, NUL),
  row('a NUL in a key', signIn(`{${right},"\\u0000":1}`), 422, NUL),
  row('the first half of a surrogate pair', signIn('{"username":"\\ud800","password":"x"}'), 422, HALF),
  row('the second half first', signIn('{"username":"\\udc00\\ud800","password":"x"}'), 422, HALF),
  row('half a pair in a key', signIn(`{${right},"\\udfff":1}`), 422, HALF),
  row('invalid UTF-8', signIn(Buffer.from('{"username":"\xff"}', 'latin1')), 422, NOT_UTF8),
  row('overlong UTF-8', signIn(Buffer.from('{"username":"\xc0\xaf"}', 'latin1')), 422, NOT_UTF8),
  row('a surrogate in UTF-8', signIn(Buffer.from('{"username":"\xed\xa0\x80"}', 'latin1')), 422, NOT_UTF8),
  row('UTF-16', signIn(Buffer.from(`{${right}}`, 'utf16le')), 422, NOT_JSON),
  row('an array 65 deep', signIn(nested(64)), 422, DEEP),
  row('an array 50,000 deep', signIn(nested(50_000)), 422, DEEP),
  row('brackets that never close', signIn('['.repeat(50_000)), 422, NOT_JSON),
  row('objects 50,000 deep', signIn(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`), 422, DEEP),
  row('a key given twice', signIn(`{${right},"username":"bob"}`), 422, 'key is given twice: username'),
  row('twice, once in escapes', signIn(`{${right},"\\u0075sername":"bob"}`), 422, 'key is given twice: username'),
  row('twice, deep inside', signIn(`{${right},"x":[{"a":{"b":1,"b":2}}]}`), 422, 'key is given twice: b'),
  row('a __proto__ key', signIn(`{${right},"__proto__":{"isAdmin":true}}`), 422, 'key is not allowed: __proto__'),
  row('__proto__ in escapes', signIn(`{${right},"__pr\\u006fto__":1}`), 422, 'key is not allowed: __proto__'),
  row('a constructor key', signIn(`{${right},"constructor":{}}`), 422, 'key is not allowed: constructor'),
  row('1e999', signIn(`{${right},"x":1e999}`), 422, 'number is out of range: 1e999'),
  row('-1e999', signIn(`{${right},"x":-1E+999}`), 422, 'number is out of range: -1E+999'),
  row('400 digits', signIn(`{${right},"x":${'9'.repeat(400)}}`), 422, `number is out of range: ${'9'.repeat(40)}`),
  row('a million digits', signIn(`{${right},"x":${'7'.repeat(1_000_000)}}`), 422, /^number is out of range/),
  row('an array for an object', signIn('[]'), 422, 'body must be object'),
  row('null', signIn('null'), 422, 'body must be object'),
  row('a string', signIn('"ann"'), 422, 'body must be object'),
  row('a number', signIn('9007199254740993'), 422, 'body must be object'),
  row('an empty object', signIn('{}'), 422, 'username is required'),
  row('nothing, which counts as {}', signIn(''), 422, 'username is required'),
  row('nothing announced, as JSON', unannounced('application/json'), 422, 'username is required'),
  row(
    'nothing announced, as JSON with a charset',
    unannounced('Application/JSON ; charset=x'),
    422,
    'username is required',
  ),
  row('nothing announced, as text', unannounced('text/plain'), 422, 'body must be object'),
  row('nothing announced, as nonsense', unannounced(';;'), 422, 'body must be object'),
  row('blanks, which count as {}', signIn(' \r\n\t '), 422, 'username is required'),
  row('a missing field', signIn('{"username":"ann"}'), 422, 'password is required'),
  row('a number for a string', signIn('{"username":1,"password":"x"}'), 422, 'username must be string'),
  row('null for a string', signIn('{"username":null,"password":"x"}'), 422, 'username must be string'),
  row('an object for a string', signIn('{"username":{"$ne":""},"password":"x"}'), 422, 'username must be string'),
  row('text for a flag', signIn(`{${right},"remember":"true"}`), 422, 'remember must be boolean'),
  row(
    'a field too long',
    signIn(`{"username":"${'a'.repeat(255)}","password":"x"}`),
    422,
    /^username must NOT have more/,
  ),
  row('more than 1 MiB', signIn(Buffer.alloc(MIB + 1, 0x20)), 413, 'body is larger than 1 MiB'),
  row('more than 1 MiB in chunks', chunked(MIB + 1), 413, 'body is larger than 1 MiB'),
  row(
    'a length of 10 GiB',
    [
      'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n{',
    ],
    413,
    'body is larger than 1 MiB',
  ),
  row('no content type', signIn('{}', {}), 422, TYPE),
  row('text/plain', signIn('{}', { 'Content-Type': 'text/plain' }), 422, TYPE),
  row('a form', signIn('username=ann', { 'Content-Type': 'application/x-www-form-urlencoded' }), 422, TYPE),
  row('multipart', signIn('--x--', { 'Content-Type': 'multipart/form-data; boundary=x' }), 422, TYPE),
  row('a type like JSON', signIn('{}', { 'Content-Type': 'application/jsonp' }), 422, TYPE),
  row('a +json type', signIn('{}', { 'Content-Type': 'application/problem+json' }), 422, TYPE),
  row('a type that is none', signIn('{}', { 'Content-Type': ';;;/' }), 422, TYPE),
  row(
    'gzip',
    signIn('{}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }),
    422,
    'content encoding is not supported: gzip',
  ),
  row('text on a GET', http('GET', '/api/v1/version', { 'Content-Type': 'text/plain' }, 'hi'), 422, TYPE),
]);

refuseAll('a body that the listener cannot take', 'listener', [
  row('text that is not JSON', listener('hello'), 400, NOT_JSON),
  row('a NUL', listener('{"a":"\\u0000"}'), 400, NUL),
  row('half a surrogate pair', listener('{"a":"\\ud800"}'), 400, HALF),
  row('invalid UTF-8', listener(Buffer.from('"\xff"', 'latin1')), 400, NOT_UTF8),
  row('an array 50,000 deep', listener('['.repeat(50_000) + ']'.repeat(50_000)), 400, DEEP),
  row('a key given twice', listener('{"a":1,"a":2}'), 400, 'key is given twice: a'),
  row('a __proto__ key', listener('{"__proto__":1}'), 400, 'key is not allowed: __proto__'),
  row('a number out of range', listener('[1e400]'), 400, 'number is out of range: 1e400'),
  row('text/plain', listener('{}', { 'Content-Type': 'text/plain' }), 400, TYPE),
  row('no content type', listener('{}', {}), 400, TYPE),
  row(
    'brotli',
    listener('{}', { ...JSON_TYPE, 'Content-Encoding': 'br' }),
    400,
    'content encoding is not supported: br',
  ),
  row('more than 1 MiB', listener(Buffer.alloc(MIB + 1, 0x20)), 413, 'body is larger than 1 MiB'),
]);
