import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { openTestHouse } from '../../support/house.ts';

const HEAD =
  'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"user';

describe('Client disconnects', () => {
  it('A client that disconnects in the middle of a request body causes no logged error', async (t) => {
    const house = await openTestHouse();
    t.after(() => house.close());
    const { port } = new URL(house.url);
    for (let time = 0; time < 5; time++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(HEAD);
      // An answer elsewhere on the server: by then it has read what came before.
      assert.equal((await house.as()('GET', '/version')).status, 200);
      socket.destroy();
      await once(socket, 'close');
    }
    assert.equal((await house.as('ann')('GET', '/user')).status, 200);
    assert.doesNotMatch(house.logged(), /"level":"error"/);
  });
});

describe('Server shutdown', () => {
  it('A closing server completes the request under way and never sends a framework error', async (t) => {
    const house = await openTestHouse();
    t.after(() => house.close());
    const { port } = new URL(house.url);
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (data) => {
      received += String(data);
    });
    await once(socket, 'connect');
    // The first request is under way while the server begins to close; the second comes when it already does.
    const body = JSON.stringify({ username: 'ann', password: house.world.users.ann?.password });
    const signIn = `POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(signIn);
    while (!(await house.as()('GET', '/version')).text.includes('version'));
    const closing = house.close();
    socket.write('GET /api/v1/nope HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'close');
    await closing;
    assert.match(received, /^HTTP\/1\.1 200 OK/);
    assert.doesNotMatch(received, /statusCode/);
    await assert.rejects(fetch(house.url));
  });
});
