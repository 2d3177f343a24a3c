import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { openTestServer } from '../../support/server/server.ts';

const HEAD =
  'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"user';

describe('Client disconnects', () => {
  it('A client that disconnects in the middle of a request body causes no logged error', async (t) => {
    const atrium = await openTestServer();
    t.after(() => atrium.close());
    const { port } = new URL(atrium.url);
    for (let time = 0; time < 5; time++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(HEAD);
      // Once another request is answered, the server has read what came before.
      assert.equal((await atrium.as()('GET', '/version')).status, 200);
      socket.destroy();
      await once(socket, 'close');
    }
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    assert.doesNotMatch(atrium.logged(), /"level":"error"/);
  });
});

describe('Server shutdown', () => {
  it('A closing server completes the request under way and never sends a framework error', async (t) => {
    const atrium = await openTestServer();
    t.after(() => atrium.close());
    const { port } = new URL(atrium.url);
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (data) => {
      received += String(data);
    });
    await once(socket, 'connect');
    // The first request is in progress when the server starts to close. The second arrives when it is already closing.
    const body = JSON.stringify({ username: 'ann', password: atrium.world.users.ann?.password });
    const signIn = `POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(signIn);
    while (!(await atrium.as()('GET', '/version')).text.includes('version'));
    const closing = atrium.close();
    socket.write('GET /api/v1/nope HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'close');
    await closing;
    assert.match(received, /^HTTP\/1\.1 200 OK/);
    assert.doesNotMatch(received, /statusCode/);
    await assert.rejects(fetch(atrium.url));
  });
});
