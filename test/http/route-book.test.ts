import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { anyone } from '../../src/http/admission/access.ts';
import { createRouteBook } from '../../src/http/admission/route-book.ts';
import { createServer, type Scope } from '../../src/http/server.ts';

const open = { config: { access: anyone } };
const handler = async () => 'hello';

function newServer(): { app: Scope; book: ReturnType<typeof createRouteBook> } {
  const app = createServer({
    log: createLog('error'),
    trustedProxies: [],
    isHttps: () => false,
    watch: () => undefined,
    reject: () => undefined,
    word: () => ({}),
  });
  return { app, book: createRouteBook(app) };
}

describe('Routes without declared access', () => {
  it('A route without declared access is rejected with an error that names it', () => {
    const { app } = newServer();
    assert.throws(() => app.get('/secret', handler), /route GET \/secret does not declare who may call it/);
    assert.throws(() => app.route({ method: ['PUT', 'DELETE'], url: '/x', handler }), /route PUT,DELETE \/x/);
  });

  it('A nested route without declared access prevents the start with an error that names it', async () => {
    const { app } = newServer();
    app.register(
      async (scope) => {
        scope.register(async (inner) => void inner.get('/secret', handler), { prefix: '/inner' });
      },
      { prefix: '/api' },
    );
    await assert.rejects(async () => await app.ready(), /route GET \/api\/inner\/secret does not declare/);
  });
});

describe('Route book', () => {
  const { app, book } = newServer();
  app.get('/roles', open, handler);
  app.post('/roles', open, handler);
  app.put('/roles/:id', open, handler);
  app.delete('/roles/:id', open, handler);
  app.get('/roles/:id/principals', open, handler);
  app.put('/slash/', open, handler);
  app.get('/dots.json', open, handler);
  app.get('/roles/export', open, handler);
  app.post('/:any/import', open, handler);

  it('The route book lists every route once, without the HEAD routes added for GET', () => {
    const lines = book.routes.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(lines, [
      'GET /roles',
      'POST /roles',
      'PUT /roles/:id',
      'DELETE /roles/:id',
      'GET /roles/:id/principals',
      'PUT /slash/',
      'GET /dots.json',
      'GET /roles/export',
      'POST /:any/import',
    ]);
  });

  const table: readonly [string, string, string | undefined][] = [
    ['DELETE', '/roles', 'GET, HEAD, POST'],
    ['DELETE', '/roles/', 'GET, HEAD, POST'],
    ['DELETE', '/roles?id=7', 'GET, HEAD, POST'],
    ['DELETE', '/roles#x', 'GET, HEAD, POST'],
    ['DELETE', '/r%6Fles', 'GET, HEAD, POST'],
    ['DELETE', 'http://somewhere/roles', 'GET, HEAD, POST'],
    ['GET', '/roles/7', 'DELETE, PUT'],
    ['HEAD', '/roles/7', 'DELETE, PUT'],
    ['GET', '/roles/a%2Fb', 'DELETE, PUT'],
    ['POST', '/roles/7/principals', 'GET, HEAD'],
    ['GET', '/slash', 'PUT'],
    ['GET', '/slash/', 'PUT'],
    ['POST', '/dots.json', 'GET, HEAD'],
    ['POST', '/dotsxjson', undefined],
    ['POST', '/roles/export', 'GET, HEAD'],
    ['DELETE', '/roles/e%78port/', 'GET, HEAD'],
    ['PATCH', '/roles/import', 'DELETE, POST, PUT'],
    ['GET', '/others/import', 'POST'],
    ['GET', '/roles/', undefined],
    ['GET', '/roles//', undefined],
    ['GET', '/roles/7/8', undefined],
    ['GET', '', undefined],
    ['GET', '*', undefined],
    ['GET', '/%zz', undefined],
  ];
  for (const [method, url, allow] of table) {
    it(`${method} ${url || '(empty path)'} is rejected ${allow ? `with the allowed methods ${allow}` : 'as not found'}`, () => {
      const error = book.unknownPath(method, url);
      assert.ok(error instanceof AppError);
      assert.equal(error.kind, allow ? 'methodNotAllowed' : 'notFound');
      assert.equal(error.detail.allow?.join(', '), allow);
    });
  }

  it('A path with 16 KB of slashes is processed in under 100 ms', () => {
    const start = performance.now();
    book.unknownPath('GET', `${'/'.repeat(16_000)}x`);
    assert.ok(performance.now() - start < 100);
  });
});
