import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { type EventStream, openEventStream } from '../../src/http/web/event-stream.ts';

describe('A stream of events', () => {
  let app: FastifyInstance;
  let opened: ((stream: EventStream) => void) | undefined;
  let port = 0;
  before(async () => {
    app = Fastify();
    app.decorateRequest('durations', null);
    app.get('/', async (request, reply) => {
      opened?.(openEventStream(request, reply, { began: performance.now(), maxBuffered: 100_000 }));
      return reply;
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    port = (app.server.address() as { port: number }).port;
  });
  after(() => app.close());

  async function open(): Promise<{ readonly stream: EventStream; readonly socket: Socket }> {
    const { promise, resolve } = Promise.withResolvers<EventStream>();
    opened = resolve;
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    return { stream: await promise, socket };
  }

  it('A client that does not read is cut off at the maximum, and told apart from one that left', async () => {
    const { stream, socket } = await open();
    socket.pause();
    const closed = new Promise<boolean>((resolve) => stream.onClose(resolve));
    const data = JSON.stringify('x'.repeat(50_000));
    // The kernel takes a few megabytes before anything is buffered here.
    for (let sent = 0; stream.isOpen && sent < 2000; sent++) {
      stream.send({ event: 'change', data });
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(stream.isOpen, false);
    assert.equal(await closed, true);
    stream.send({ event: 'change', data });
    socket.destroy();
  });

  it('A client that leaves is noticed, also by whoever asks late', async () => {
    const { stream, socket } = await open();
    const closed = new Promise<boolean>((resolve) => stream.onClose(resolve));
    socket.destroy();
    assert.equal(await closed, false);
    assert.equal(await new Promise<boolean>((resolve) => stream.onClose(resolve)), false);
  });

  it('Events have their name, their ID if there is one, and their data on one line', async () => {
    const { stream, socket } = await open();
    stream.send({ event: 'ready', data: '{"revision":"1"}' });
    stream.comment();
    await new Promise((resolve) => setImmediate(resolve));
    stream.comment();
    stream.send({ event: 'change', id: '2-x', data: '{}' });
    stream.end();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    while (!text.includes('\r\n0\r\n\r\n')) await once(socket, 'data');
    const body = text.replace(/^.*?\r\n\r\n/s, '').replace(/[\da-f]+\r\n|\r\n/g, '');
    const blocks = [
      'retry: 1000',
      'event: ready\ndata: {"revision":"1"}',
      ':',
      ':',
      'id: 2-x\nevent: change\ndata: {}',
    ];
    assert.equal(body, `${blocks.join('\n\n')}\n\n`);
    socket.destroy();
  });
});
