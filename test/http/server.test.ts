import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Type from 'typebox';
import { writeJson } from '../../src/base/json.ts';
import { createLog } from '../../src/base/log.ts';
import { anyone } from '../../src/http/admission/access.ts';
import { platformFormat, sendError } from '../../src/http/error-format.ts';
import { createServer, type Scope } from '../../src/http/server.ts';
import { Int64 } from '../../src/http/wire/schemas.ts';
import { sendRaw } from '../support/server/raw.ts';

const open = { config: { access: anyone } };
const EXACT = '{"id":9223372036854775807,"more":[9007199254740993,1.5,"9007199254740993"]}';

describe('HTTP server', () => {
  const arrived = Promise.withResolvers<void>();
  const addressWhenGone = Promise.withResolvers<string>();
  const voice = platformFormat(() => 'http://docs');
  let app: Scope;
  let url: string;
  before(async () => {
    app = createServer({
      log: createLog('error', { write: () => undefined }),
      trustedProxies: [],
      isHttps: () => false,
      watch: () => undefined,
      reject: (error, request, reply) => void sendError(voice, error, request, reply),
      word: (_path, message) => ({ message }),
    });
    app.setErrorHandler((error, request, reply) => sendError(voice, error, request, reply));
    app.route({
      method: ['GET', 'POST', 'PUT', 'DELETE'],
      url: '/echo',
      ...open,
      handler: async (request, reply) =>
        reply.type('application/json').send(writeJson({ body: request.body ?? 'none' })),
    });
    app.get('/id', { ...open, schema: { response: { 200: Type.Object({ id: Int64 }) } } }, async () => ({
      id: 2n ** 63n - 1n,
    }));
    app.get('/address-when-gone', open, async (request, reply) => {
      reply.hijack();
      request.raw.socket.once('close', () => addressWhenGone.resolve(request.ip));
      arrived.resolve();
    });
    url = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  after(() => app.close());

  const send = async (method: string, headers: string[], body = '') => {
    const lines = [
      `${method} /echo HTTP/1.1`,
      'Host: a',
      ...headers,
      ...(body ? [`Content-Length: ${body.length}`] : []),
    ];
    return await sendRaw(url, [`${lines.join('\r\n')}\r\n\r\n${body}`]);
  };

  it('The address of a client that has hung up stays known', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET /address-when-gone HTTP/1.1\r\nHost: a\r\n\r\n');
    await arrived.promise;
    socket.resetAndDestroy();
    assert.equal(await addressWhenGone.promise, '127.0.0.1');
  });

  it('A connection without an address, because its client has gone already, is closed', () => {
    const socket = new Socket();
    app.server.emit('connection', socket);
    assert.equal(socket.destroyed, true);
  });

  it('The server has explicit request, header and keep-alive timeouts', () => {
    const { requestTimeout, headersTimeout, keepAliveTimeout } = app.server;
    assert.deepEqual(
      { requestTimeout, headersTimeout, keepAliveTimeout },
      { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 65_000 },
    );
  });

  const accepted: readonly [string, string, string[], string, string][] = [
    ['a JSON body', 'POST', ['Content-Type: application/json'], '{"a":1}', '{"a":1}'],
    ['a JSON body with a charset', 'POST', ['Content-Type: application/json; charset=utf-8'], '{"a":1}', '{"a":1}'],
    ['a JSON content type in uppercase', 'POST', ['Content-Type: APPLICATION/JSON'], '{"a":1}', '{"a":1}'],
    [
      'a JSON body with identity encoding',
      'PUT',
      ['Content-Type: application/json', 'Content-Encoding: identity'],
      '1',
      '1',
    ],
    ['a GET with a body', 'GET', ['Content-Type: application/json'], '{"a":1}', '{"a":1}'],
    ['a DELETE with a body', 'DELETE', ['Content-Type: application/json'], '[]', '[]'],
    ['a DELETE with a JSON content type and no body', 'DELETE', ['Content-Type: application/json'], '', '{}'],
    [
      'a DELETE with a JSON content type and a length of 0',
      'DELETE',
      ['Content-Type: application/json', 'Content-Length: 0'],
      '',
      '{}',
    ],
    ['a POST without content type and body', 'POST', ['Content-Length: 0'], '', '"none"'],
    ['an empty form', 'POST', ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 0'], '', '"none"'],
    ['exact 64-bit integers', 'POST', ['Content-Type: application/json'], EXACT, EXACT],
    ['an unknown Expect header', 'POST', ['Content-Type: application/json', 'Expect: something'], '2', '2'],
  ];
  for (const [name, method, headers, body, read] of accepted) {
    it(`The server accepts ${name}`, async () => {
      const answer = await send(method, headers, body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, `{"body":${read}}`);
    });
  }

  it('The server accepts a body of exactly 1 MiB', async () => {
    const body = `"${'a'.repeat(1024 * 1024 - 2)}"`;
    assert.equal((await send('POST', ['Content-Type: application/json'], body)).status, 200);
  });

  it('The server accepts a chunked body and ignores its extensions and trailers', async () => {
    const head =
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await sendRaw(url, [head, '2;x=y\r\n{"\r\n', '5\r\na":1}\r\n', '0\r\nX-Trailer: 1\r\n\r\n']);
    assert.equal(answer.text, '{"body":{"a":1}}');
  });

  it('The server writes 64-bit integers exactly', async () => {
    assert.equal((await app.inject({ url: '/id', headers: { host: 'a' } })).body, '{"id":9223372036854775807}');
  });

  it('The server closes the connection after an HTTP/1.0 response', async () => {
    const answer = await sendRaw(url, ['GET /echo HTTP/1.0\r\n\r\n']);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('connection'), 'close');
  });
});
