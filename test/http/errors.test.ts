import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Type from 'typebox';
import { AppError, ERROR_KINDS, type ErrorKind, REASON_OF } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { anyone } from '../../src/http/admission/access.ts';
import { type ErrorFormat, marketplaceFormat, platformFormat, sendError } from '../../src/http/error-format.ts';
import { createServer, type Scope } from '../../src/http/server.ts';

const DOCS = 'https://atrium.test/api/v1/docs';
const HOST = { host: 'atrium.test' };

const PLATFORM: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  gone: 410,
  stale: 412,
  tooLarge: 413,
  malformed: 422,
  limited: 429,
  internal: 500,
  upstream: 502,
  unavailable: 503,
};
const LISTENER = { ...PLATFORM, malformed: 400, upstream: 500, unavailable: 500 };

/** A server with one route that throws whatever the test wants. */
function serverThat(format: ErrorFormat, thrown: () => unknown): { app: Scope; lines: string[] } {
  const lines: string[] = [];
  const app = createServer({
    log: createLog('info', { write: (line) => void lines.push(line) }),
    trustedProxies: [],
    isHttps: () => true,
    watch: () => undefined,
    reject: (error, request, reply) => void sendError(format, error, request, reply),
    word: (_path, message) => format.body(new AppError('invalid', message), ''),
  });
  app.setErrorHandler((error, request, reply) => sendError(format, error, request, reply));
  const Params = Type.Object({ id: Type.Integer() });
  app.get('/:id', { config: { access: anyone }, schema: { params: Params } }, async () => {
    throw thrown();
  });
  return { app, lines };
}

for (const [name, format, statuses] of [
  ['platform', platformFormat(() => DOCS), PLATFORM],
  ['listener', marketplaceFormat, LISTENER],
] as const) {
  describe(`Error responses of the ${name}`, () => {
    let thrown: unknown;
    let server: ReturnType<typeof serverThat>;
    before(async () => {
      server = serverThat(format, () => thrown);
    });
    after(() => server.app.close());
    const ask = async (error: unknown, path = '/1') => {
      thrown = error;
      return await server.app.inject({ method: 'GET', url: path, headers: { ...HOST, 'x-request-id': 'r-1' } });
    };

    for (const kind of ERROR_KINDS) {
      it(`The ${name} answers errors of kind ${kind} with ${statuses[kind]}`, async () => {
        const answer = await ask(new AppError(kind, 'words'));
        assert.equal(answer.statusCode, statuses[kind]);
        assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
        assert.equal(answer.headers['x-request-id'], 'r-1');
        assert.equal(answer.headers['www-authenticate'], kind === 'unauthenticated' ? 'token' : undefined);
        const ours = {
          internal: 'internal error',
          unavailable: 'the service cannot answer right now, try again later',
        };
        const message = (ours as Partial<Record<ErrorKind, string>>)[kind] ?? 'words';
        const url = name === 'platform' ? { url: DOCS, reason: REASON_OF[kind] } : {};
        const more: Partial<Record<ErrorKind, object>> = {
          malformed: { errors: [{ field: 'body', message }] },
          internal: { request_id: 'r-1' },
        };
        assert.deepEqual(answer.json(), { message, ...url, ...(name === 'platform' && more[kind]) });
      });
    }

    it(`The ${name} logs the details of an internal error and does not send them`, async () => {
      server.lines.length = 0;
      for (const failure of [
        new TypeError('x of undefined'),
        new AppError('internal', 'secret plan'),
        'a string',
        null,
      ]) {
        const answer = await ask(failure);
        assert.equal(answer.statusCode, 500);
        assert.equal(answer.json().message, 'internal error');
      }
      const log = server.lines.join('');
      assert.match(log, /x of undefined/);
      assert.match(log, /secret plan/);
      for (const line of server.lines) assert.equal(JSON.parse(line).request_id, 'r-1');
    });

    it(`The ${name} logs the address of an unavailable database and does not send it`, async () => {
      server.lines.length = 0;
      const answer = await ask(
        new AppError('unavailable', 'the database at db.internal:5432 cannot be used', { retryAfter: 2.2 }),
      );
      assert.doesNotMatch(answer.body, /db\.internal/);
      assert.equal(answer.headers['retry-after'], '3');
      assert.match(server.lines.join(''), /db\.internal/);
    });

    it(`The ${name} sends the Retry-After and Allow headers of an error`, async () => {
      assert.equal((await ask(new AppError('limited', 'slow', { retryAfter: 0.2 }))).headers['retry-after'], '1');
      const answer = await ask(new AppError('methodNotAllowed', 'no', { allow: ['GET', 'PUT'] }));
      assert.equal(answer.headers.allow, 'GET, PUT');
    });

    it(`The ${name} rejects an invalid path parameter with 400 and a path that is too long`, async () => {
      const answer = await ask(undefined, '/abc');
      assert.equal(answer.statusCode, 400);
      assert.equal(answer.json().message, 'id must be integer');
      assert.equal((await ask(undefined, `/${'1'.repeat(600)}`)).json().message, 'path is too long');
    });
  });
}
