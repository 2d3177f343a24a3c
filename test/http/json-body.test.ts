import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { anyone } from '../../src/http/admission/access.ts';
import { type Annex, openAnnex } from '../support/server/annex.ts';

describe('A body of JSON', () => {
  let annex: Annex;
  let port = 0;
  before(async () => {
    annex = await openAnnex((scope) => {
      // A handler that is reached later, as on PostgreSQL, when a short body has arrived whole.
      const onRequest = (_request: unknown, _reply: unknown, done: () => void) => void setImmediate(setImmediate, done);
      scope.post('/soon', { config: { access: anyone } }, async (request) => ({ body: request.body }));
      scope.post('/later', { config: { access: anyone }, onRequest }, async (request) => ({ body: request.body }));
      const atOnce = (request: FastifyRequest) => ({ body: request.body, hasEnded: request.raw.readableEnded });
      scope.post('/ended', { config: { access: anyone }, onRequest }, async (request) => atOnce(request));
    });
    await annex.app.listen({ port: 0, host: '127.0.0.1' });
    port = (annex.app.server.address() as AddressInfo).port;
  });
  after(() => annex.close());

  /** The status and the body of the answer to a request that is sent in these pieces, one turn after the other. */
  async function send(path: string, body: string, { length = Buffer.byteLength(body), cuts = [0] } = {}) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    const bytes = Buffer.from(head + body);
    const ends = [...cuts.filter((cut) => cut > 0).map((cut) => head.length + cut), bytes.length];
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    let from = 0;
    for (const end of ends) {
      await new Promise((resolve) => socket.write(bytes.subarray(from, end), resolve));
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      from = end;
    }
    await closed;
    const [, status = ''] = /^HTTP\/1.1 (\d+)/.exec(answer) ?? [];
    return { status: Number(status), body: JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4) || '{}') };
  }

  for (const path of ['/soon', '/later']) {
    it(`${path}: a body is read however its bytes arrive`, async () => {
      for (const value of [{ a: 1 }, { text: 'Zürich 🎉'.repeat(20) }, [Number.MAX_SAFE_INTEGER], 'x'.repeat(40_000)]) {
        const text = typeof value === 'string' ? JSON.stringify({ value }) : JSON.stringify(value);
        const whole = await send(path, text);
        assert.equal(whole.status, 200);
        assert.deepEqual(whole.body.body, JSON.parse(text));
        assert.deepEqual(await send(path, text, { cuts: [1, 5] }), whole);
      }
    });

    it(`${path}: an empty body counts as {}, and what is no JSON or too large is rejected`, async () => {
      assert.deepEqual((await send(path, ' ')).body, { body: {} });
      assert.deepEqual((await send(path, '')).body, { body: {} });
      assert.equal((await send(path, '{"a":1')).status, 422);
      assert.equal((await send(path, '{"a":1,"a":2}')).body.message, 'key is given twice: a');
      assert.equal((await send(path, JSON.stringify({ a: 'x'.repeat(1024 * 1024) }))).status, 413);
    });
  }

  it('a body that has arrived leaves nothing to wait for, and its connection serves the next request', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const post = (body: string) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
        const sent = request({ port, host: '127.0.0.1', path: '/ended', method: 'POST', agent, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          answer.on('end', () => {
            ports.add(sent.socket?.localPort);
            resolve({ status: answer.statusCode, text });
          });
        });
        sent.once('error', reject).end(body);
      });
    for (let a = 0; a < 20; a++) {
      assert.deepEqual(await post(`{"a":${a}}`), { status: 200, text: `{"body":{"a":${a}},"hasEnded":true}` });
    }
    assert.equal(ports.size, 1);
    agent.destroy();
  });
});
