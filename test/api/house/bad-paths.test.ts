import { http, refuseAll, row } from '../../support/refusals.ts';

const get = (target: string) => http('GET', target);
const NOT_FOUND = 'not found';
const NOT_ALLOWED = 'method not allowed';
const BAD_URL = 'path is not a valid URL';
const NUL = 'path or query holds a NUL character';
const NO_TOKEN = 'token is required';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const absolute = (path: string) => [`GET http://elsewhere.test${path} HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n`];

refuseAll('a path or query that leads nowhere', 'platform', [
  row('an unknown path', get('/api/v1/nope'), 404, NOT_FOUND),
  row('the bare prefix', get('/api/v1'), 404, NOT_FOUND),
  row('outside the API', get('/nope'), 404, NOT_FOUND),
  row('one version too many', get('/api/v2/user'), 404, NOT_FOUND),
  row('an unknown path, with a body that is not JSON', http('POST', '/api/v1/nope', JSON_TYPE, '{'), 404, NOT_FOUND),
  row('an unknown path, with a body of another type', http('PUT', '/api/v1/nope', {}, 'x'), 404, NOT_FOUND),
  row('capital letters', get('/api/v1/USER'), 404, NOT_FOUND),
  row('a double slash', get('/api/v1//user'), 404, NOT_FOUND),
  row('two slashes at the end', get('/api/v1/user//'), 404, NOT_FOUND),
  row('up and away', get('/api/v1/../../etc/passwd'), 404, NOT_FOUND),
  row('up and away, encoded', get('/api/v1/%2e%2e/%2e%2e/etc/passwd'), 404, NOT_FOUND),
  row('up and away, encoded twice', get('/api/v1/%252e%252e/user'), 404, NOT_FOUND),
  row('up from the documentation', get('/api/v1/docs/../../../package.json'), 404, NOT_FOUND),
  row('up from the documentation, encoded', get('/api/v1/docs/..%2f..%2fpackage.json'), 404, NOT_FOUND),
  row('backslashes', get('/api/v1\\user'), 404, NOT_FOUND),
  row('an encoded slash', get('/api/v1/user%2Fsignout'), 404, NOT_FOUND),
  row('a path parameter of a URL, as in a servlet', get('/api/v1/user;admin=true'), 404, NOT_FOUND),
  row('an encoded question mark', get('/api/v1/user%3Ftoken=x'), 404, NOT_FOUND),
  row('15,000 slashes', get(`/${'/'.repeat(15_000)}x`), 404, NOT_FOUND),
  row('a path of 15,000 letters', get(`/api/v1/${'a'.repeat(15_000)}`), 404, NOT_FOUND),
  row('a path of 17,000 letters', get(`/api/v1/${'a'.repeat(17_000)}`), 431, 'headers are too large'),
  row('a percent sign and no number', get('/api/v1/%zz'), 400, BAD_URL),
  row('half a percent code', get('/api/v1/user%4'), 400, BAD_URL),
  row('overlong UTF-8', get('/api/v1/%c0%ae%c0%ae/user'), 400, BAD_URL),
  row('invalid UTF-8', get('/api/v1/%ff%fe'), 400, BAD_URL),
  row('half a surrogate pair', get('/api/v1/%ed%a0%80'), 400, BAD_URL),
  row('a NUL in the path', get('/api/v1/user%00'), 400, NUL),
  row('a NUL in the query', get('/api/v1/version?x=%00'), 400, NUL),
  row('a NUL in a name of the query', get('/api/v1/version?%00=1'), 400, NUL),
  row('a parameter given twice', get('/api/v1/user?check_client_org=true&check_client_org=false'), 401, NO_TOKEN),
  row('a query that cannot be decoded', get('/api/v1/user?check_client_org=%zz'), 401, NO_TOKEN),
  row('a query of 10,000 parameters', get(`/api/v1/user?${'a&'.repeat(5_000)}`), 401, NO_TOKEN),
  row('a __proto__ parameter', get('/api/v1/user?__proto__[isAdmin]=true&constructor=1'), 401, NO_TOKEN),
  row('an absolute target', absolute('/api/v1/user'), 401, NO_TOKEN),
  row('an absolute target that is unknown', absolute('/api/v1/nope'), 404, NOT_FOUND),
  row('a star', http('OPTIONS', '*'), 404, NOT_FOUND),
  row('POST where GET is meant', http('POST', '/api/v1/user'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('the same with a slash at the end', http('PUT', '/api/v1/user/'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('the same with a query', http('PATCH', '/api/v1/user?x=1'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('the same with a letter encoded', http('DELETE', '/api/v1/us%65r'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('the same with a bad body', http('POST', '/api/v1/user', JSON_TYPE, '{'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('GET where POST is meant', get('/api/v1/user/signin'), 405, NOT_ALLOWED, 'POST'),
  row('POST to the documentation', http('POST', '/api/v1/docs'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('DELETE of the API description', http('DELETE', '/api/v1/openapi.json'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row(
    'DELETE of what a role could be called',
    http('DELETE', '/api/v1/authz/roles/export'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row('the same, a bad body', http('PUT', '/api/v1/authz/roles/preview', JSON_TYPE, '{'), 405, NOT_ALLOWED, 'POST'),
  row('POST to the front page', http('POST', '/'), 405, NOT_ALLOWED, 'GET, HEAD'),
  ...['OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'M-SEARCH'].map((method) =>
    row(method, http(method, '/api/v1/user'), 405, NOT_ALLOWED, 'GET, HEAD'),
  ),
  row('TRACE of an unknown path', http('TRACE', '/api/v1/nope'), 404, NOT_FOUND),
]);

refuseAll('a path that leads nowhere on the listener', 'listener', [
  row('an unknown path', get('/marketplace/api/v1/nope'), 404, NOT_FOUND),
  row('an unknown path with a body', http('POST', '/marketplace/api/v1/nope', JSON_TYPE, '{'), 404, NOT_FOUND),
  row('an absolute target', absolute('/marketplace/api/v1/nope'), 404, NOT_FOUND),
  row('a percent sign and no number', get('/marketplace/api/v1/%zz'), 400, BAD_URL),
  row('the same in an absolute target', absolute('/marketplace/api/v1/%zz'), 400, BAD_URL),
  row('a NUL', get('/marketplace/api/v1/version?secret=%00'), 400, NUL),
  row('another method', http('POST', '/marketplace/api/v1/version'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('TRACE', http('TRACE', '/marketplace/api/v1/version'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row('a path of 17,000 letters', get(`/marketplace/api/v1/${'a'.repeat(17_000)}`), 431, 'headers are too large'),
  row('the same, absolute', absolute(`/marketplace/api/v1/${'a'.repeat(17_000)}`), 431, 'headers are too large'),
]);
