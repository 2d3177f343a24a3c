import assert from 'node:assert/strict';
import { Agent, type ClientRequest, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { sharedServer } from '../../support/server/shared-server.ts';

const MIB = 1024 * 1024;

describe('Bodies that are too large', () => {
  let url: string;
  before(async () => {
    ({ url } = await sharedServer());
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  after(() => agent.destroy());

  const post = (bytes: number): Promise<{ status: number; connection: string | undefined; sent: ClientRequest }> =>
    new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': bytes };
      const sent = request(`${url}/api/v1/user/signin`, { method: 'POST', agent, headers }, (response) => {
        const { statusCode = 0, headers: received } = response;
        response.resume().once('end', () => resolve({ status: statusCode, connection: received.connection, sent }));
      });
      sent.once('error', reject);
      sent.end(Buffer.alloc(bytes, ' '));
    });

  it('A body of up to 16 MiB is rejected without closing the connection, so that a proxy gets to see why', async () => {
    for (const bytes of [MIB + 1, 2 * MIB, 16 * MIB]) {
      const { status, connection, sent: first } = await post(bytes);
      assert.deepEqual([status, connection], [413, undefined], `${bytes} bytes`);
      const { sent: second } = await post(MIB + 1);
      assert.equal(second.socket, first.socket, `the connection stays after ${bytes} bytes`);
    }
  });

  it('The connection of a body that has no end in sight is closed', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': 16 * MIB + 1 };
    const closed = await new Promise((resolve, reject) => {
      const sent = request(`${url}/api/v1/user/signin`, { method: 'POST', headers }, (response) => {
        response.resume().once('close', () => resolve([response.statusCode, response.headers.connection]));
      });
      sent.once('error', reject);
      // The rest never comes.
      sent.write(' ');
    });
    assert.deepEqual(closed, [413, 'close']);
  });
});
