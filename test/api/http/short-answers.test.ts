import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const PATIENCE_MS = 10_000;

describe('Short answers on a connection that is kept', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '1000' } });
  });
  after(() => atrium.close());

  const head = (method: string, path: string, more = '') =>
    `${method} /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: token ${atrium.world.users.ann?.token}\r\n${more}`;

  /** Everything that the server sends until it closes the connection. */
  async function talk(text: string): Promise<string> {
    const { hostname, port } = new URL(atrium.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let answer = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      answer += part;
    });
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`no end: ${answer}`)));
    socket.write(text);
    await once(socket, 'close');
    return answer;
  }

  it('requests that are sent together are answered in order, each whole, short or not, with a body or none', async () => {
    const body = '{"objectType":"organization"}';
    const requests = [
      head('GET', '/user'),
      head('HEAD', '/user'),
      head('GET', '/user?check_client_org=true'),
      head(
        'POST',
        '/orgs',
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n`,
      ),
      head('GET', '/nowhere'),
      head('GET', '/user', 'Connection: close\r\n'),
    ].map((one, place) => `${one}X-Request-Id: r${place}\r\n\r\n${place === 3 ? body : ''}`);
    const answer = await talk(requests.join(''));
    const heads = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/g)].map(([text, status]) => {
      const ids = [...text.matchAll(/^x-request-id: (.*)$/gim)].map(([, id]) => id?.trim()).join();
      const limits = [...text.matchAll(/^ratelimit: /gim)].length;
      return `${status} ${ids} ${limits}`;
    });
    const final = heads.filter((one) => !one.startsWith('100'));
    assert.deepEqual(
      final.map((one) => one.replace(/^4\d\d/, '4xx')),
      ['200 r0 1', '200 r1 1', '200 r2 1', '4xx r3 1', '4xx r4 1', '200 r5 1'],
      answer,
    );
    assert.equal(answer.match(/"login":"ann"/g)?.length, 3, answer);
  });

  it('a client that hangs up immediately leaves the server well', async () => {
    const { hostname, port } = new URL(atrium.url);
    for (let count = 0; count < 20; count++) {
      const socket = connect({ host: hostname, port: Number(port) });
      await once(socket, 'connect');
      await new Promise((resolve) => socket.write(`${head('GET', '/user')}\r\n`, resolve));
      socket.resetAndDestroy();
    }
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
  });
});
