import { http, itRejects, row } from '../../support/checks/rejections.ts';

const get = (target: string) => http('GET', target);
const NOT_FOUND = 'not found';
const NOT_ALLOWED = 'method not allowed';
const BAD_URL = 'path is not a valid URL';
const NUL = 'path or query contains a NUL character';
const NO_TOKEN = 'token is required';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const absolute = (path: string) => [`GET http://elsewhere.test${path} HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n`];

itRejects('Invalid paths, queries and methods', 'platform', [
  row('An unknown path is not found', get('/api/v1/nope'), 404, NOT_FOUND),
  row('The bare API prefix is not found', get('/api/v1'), 404, NOT_FOUND),
  row('An unknown path outside the API is not found', get('/nope'), 404, NOT_FOUND),
  row('An unknown API version is not found', get('/api/v2/user'), 404, NOT_FOUND),
  row('An unknown path with invalid JSON is not found', http('POST', '/api/v1/nope', JSON_TYPE, '{'), 404, NOT_FOUND),
  row('An unknown path with a body of no type is not found', http('PUT', '/api/v1/nope', {}, 'x'), 404, NOT_FOUND),
  row('A path in uppercase is not found', get('/api/v1/USER'), 404, NOT_FOUND),
  row('A path with a double slash is not found', get('/api/v1//user'), 404, NOT_FOUND),
  row('A path with two trailing slashes is not found', get('/api/v1/user//'), 404, NOT_FOUND),
  row('A path traversal is not found', get('/api/v1/../../etc/passwd'), 404, NOT_FOUND),
  row('An encoded path traversal is not found', get('/api/v1/%2e%2e/%2e%2e/etc/passwd'), 404, NOT_FOUND),
  row('A doubly encoded path traversal is not found', get('/api/v1/%252e%252e/user'), 404, NOT_FOUND),
  row(
    'A path traversal from the documentation is not found',
    get('/api/v1/docs/../../../package.json'),
    404,
    NOT_FOUND,
  ),
  row(
    'An encoded path traversal from the documentation is not found',
    get('/api/v1/docs/..%2f..%2fpackage.json'),
    404,
    NOT_FOUND,
  ),
  row('A path with a backslash is not found', get('/api/v1\\user'), 404, NOT_FOUND),
  row('A path with an encoded slash is not found', get('/api/v1/user%2Fsignout'), 404, NOT_FOUND),
  row('A path with a matrix parameter is not found', get('/api/v1/user;admin=true'), 404, NOT_FOUND),
  row('A path with an encoded question mark is not found', get('/api/v1/user%3Ftoken=x'), 404, NOT_FOUND),
  row('A path of 15,000 slashes is not found', get(`/${'/'.repeat(15_000)}x`), 404, NOT_FOUND),
  row('A path of 15,000 characters is not found', get(`/api/v1/${'a'.repeat(15_000)}`), 404, NOT_FOUND),
  row('A path of 17,000 characters is rejected', get(`/api/v1/${'a'.repeat(17_000)}`), 431, 'headers are too large'),
  row('A percent sign without hex digits is rejected', get('/api/v1/%zz'), 400, BAD_URL),
  row('An incomplete percent escape is rejected', get('/api/v1/user%4'), 400, BAD_URL),
  row('Overlong UTF-8 in the path is rejected', get('/api/v1/%c0%ae%c0%ae/user'), 400, BAD_URL),
  row('Invalid UTF-8 in the path is rejected', get('/api/v1/%ff%fe'), 400, BAD_URL),
  row('A lone surrogate in the path is rejected', get('/api/v1/%ed%a0%80'), 400, BAD_URL),
  row('A NUL in the path is rejected', get('/api/v1/user%00'), 400, NUL),
  row('A NUL in a query value is rejected', get('/api/v1/version?x=%00'), 400, NUL),
  row('A NUL in a query name is rejected', get('/api/v1/version?%00=1'), 400, NUL),
  row(
    'A duplicate query parameter does not bypass authentication',
    get('/api/v1/user?check_client_org=true&check_client_org=false'),
    401,
    NO_TOKEN,
  ),
  row('An undecodable query does not bypass authentication', get('/api/v1/user?check_client_org=%zz'), 401, NO_TOKEN),
  row(
    'A query of 5,000 parameters does not bypass authentication',
    get(`/api/v1/user?${'a&'.repeat(5_000)}`),
    401,
    NO_TOKEN,
  ),
  row(
    'A __proto__ query parameter does not bypass authentication',
    get('/api/v1/user?__proto__[isAdmin]=true&constructor=1'),
    401,
    NO_TOKEN,
  ),
  row('An absolute request target does not bypass authentication', absolute('/api/v1/user'), 401, NO_TOKEN),
  row('An unknown absolute request target is not found', absolute('/api/v1/nope'), 404, NOT_FOUND),
  row('OPTIONS * is not found', http('OPTIONS', '*'), 404, NOT_FOUND),
  row('POST to a GET route is rejected', http('POST', '/api/v1/user/teams'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row(
    'PUT to a GET route with a trailing slash is rejected',
    http('PUT', '/api/v1/user/teams/'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row(
    'PATCH to a GET route with a query is rejected',
    http('PATCH', '/api/v1/user/teams?x=1'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row(
    'DELETE of a GET route with an encoded character is rejected',
    http('DELETE', '/api/v1/us%65r/teams'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row(
    'POST to a GET route with invalid JSON is rejected',
    http('POST', '/api/v1/user/teams', JSON_TYPE, '{'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row('GET of a POST route is rejected', get('/api/v1/user/signin'), 405, NOT_ALLOWED, 'POST'),
  row('POST to the documentation is rejected', http('POST', '/api/v1/docs'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row(
    'DELETE of the API description is rejected',
    http('DELETE', '/api/v1/openapi.json'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row(
    'DELETE of /authz/roles/export is rejected',
    http('DELETE', '/api/v1/authz/roles/export'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row(
    'PUT to /authz/roles/preview with invalid JSON is rejected',
    http('PUT', '/api/v1/authz/roles/preview', JSON_TYPE, '{'),
    405,
    NOT_ALLOWED,
    'POST',
  ),
  row('POST to the front page is rejected', http('POST', '/'), 405, NOT_ALLOWED, 'GET, HEAD'),
  ...['OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'M-SEARCH'].map((method) =>
    row(`${method} of a GET route is rejected`, http(method, '/api/v1/user/teams'), 405, NOT_ALLOWED, 'GET, HEAD'),
  ),
  row('TRACE of an unknown path is not found', http('TRACE', '/api/v1/nope'), 404, NOT_FOUND),
]);

itRejects('Invalid paths and methods on the listener', 'listener', [
  row('The listener does not find an unknown path', get('/marketplace/api/v1/nope'), 404, NOT_FOUND),
  row(
    'The listener does not find an unknown path with a body',
    http('POST', '/marketplace/api/v1/nope', JSON_TYPE, '{'),
    404,
    NOT_FOUND,
  ),
  row('The listener does not find an unknown absolute target', absolute('/marketplace/api/v1/nope'), 404, NOT_FOUND),
  row('The listener rejects a percent sign without hex digits', get('/marketplace/api/v1/%zz'), 400, BAD_URL),
  row(
    'The listener rejects a percent sign without hex digits in an absolute target',
    absolute('/marketplace/api/v1/%zz'),
    400,
    BAD_URL,
  ),
  row('The listener rejects a NUL in the query', get('/marketplace/api/v1/version?secret=%00'), 400, NUL),
  row(
    'The listener rejects POST to a GET route',
    http('POST', '/marketplace/api/v1/version'),
    405,
    NOT_ALLOWED,
    'GET, HEAD',
  ),
  row('The listener rejects TRACE', http('TRACE', '/marketplace/api/v1/version'), 405, NOT_ALLOWED, 'GET, HEAD'),
  row(
    'The listener rejects a path of 17,000 characters',
    get(`/marketplace/api/v1/${'a'.repeat(17_000)}`),
    431,
    'headers are too large',
  ),
  row(
    'The listener rejects an absolute target of 17,000 characters',
    absolute(`/marketplace/api/v1/${'a'.repeat(17_000)}`),
    431,
    'headers are too large',
  ),
]);
