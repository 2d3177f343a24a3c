import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createKubeApi } from '../../src/agent/kube-api.client.ts';
import { createGuardedFetch } from '../../src/base/outbound/guarded-fetch.ts';
import { responseTo } from '../../src/base/outbound/response-to.ts';
import { createWebhookRequests } from '../../src/base/outbound/webhook-requests.ts';
import { createBucketLister } from '../../src/buckets/bucket-list.client.ts';

const NETWORKS = ['127.0.0.0/8'];
const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';

/** Servers that end a conversation in ways that Node does not report as errors. */
describe('Requests to services that answer with something else than a response', () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
    socket.once('data', () => socket.write(UPGRADE));
  });
  let url = '';
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });

  /** Fails instead of hanging. */
  const soon = <T>(answer: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('no answer within 3 s')), 3000);
    return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
  };

  it('A service that changes to another protocol is given up, and its connection closed', async () => {
    await assert.rejects(soon(responseTo(http.request(url))), /changes to another protocol/);
    for (let look = 0; open.size > 0 && look < 100; look++) await new Promise((next) => setTimeout(next, 10));
    assert.equal(open.size, 0);
  });

  it('A request that is ended without an error is rejected', async () => {
    const request = http.request(url);
    const answer = responseTo(request);
    request.destroy();
    await assert.rejects(soon(answer), /without a response|socket hang up/);
  });

  it('A webhook whose receiver changes to another protocol has failed', async () => {
    const send = createWebhookRequests(NETWORKS);
    const { status, error } = await soon(send({ url, headers: {}, body: '{}' }));
    assert.deepEqual({ status, error }, { status: null, error: 'connection' });
  });

  it('A provider that changes to another protocol is rejected', async () => {
    const fetch = createGuardedFetch({ allowedNetworks: NETWORKS, maxBytes: 1024, timeoutMs: 2000, service: 'test' });
    await assert.rejects(soon(fetch(url)), /changes to another protocol/);
  });

  it('A storage service that changes to another protocol is rejected', async () => {
    const keys = { region: 'x', accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined };
    const listing = createBucketLister(NETWORKS).list(
      { kind: 's3', endpoint: url, ...keys },
      10,
      AbortSignal.timeout(2500),
    );
    await assert.rejects(soon(listing), /changes to another protocol/);
  });

  it('An API server that changes to another protocol is rejected', async () => {
    const api = createKubeApi({ server: new URL(url), ca: undefined, token: () => 'x' });
    await assert.rejects(soon(api.call('GET', '/api')), /changes to another protocol/);
    await assert.rejects(soon(api.watch('/api', () => undefined, AbortSignal.timeout(2500))), /another protocol/);
  });
});
