import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createGuardedFetch } from '../../src/base/outbound/guarded-fetch.ts';

const LIMITS = { maxBytes: 64 * 1024, timeoutMs: 5000, service: 'test' };

describe('The guarded fetch', () => {
  let server: Server;
  let url = '';
  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/never') return;
      if (request.url === '/large') return void response.end('x'.repeat(LIMITS.maxBytes + 1));
      if (request.url === '/zipped') return void response.setHeader('Content-Encoding', 'gzip').end('x');
      if (request.url === '/elsewhere') return void response.writeHead(302, { Location: '/' }).end();
      if (request.url === '/nothing') return void response.writeHead(204).end();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, headers } = request;
        const body = Buffer.concat(chunks).toString();
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ method, header: headers.x, body }));
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const allowed = createGuardedFetch({ ...LIMITS, allowedNetworks: ['127.0.0.0/8'] });

  it('A request and its response are those of an ordinary fetch', async () => {
    const answer = await allowed(url, { method: 'POST', headers: { x: 'y' }, body: new URLSearchParams({ a: 'b c' }) });
    assert.deepEqual(await answer.json(), { method: 'POST', header: 'y', body: 'a=b+c' });
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal((await allowed(`${url}/nothing`)).status, 204);
  });

  it('A redirect is returned, not followed', async () => {
    const answer = await allowed(`${url}/elsewhere`);
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/']);
  });

  it('A response that is too large, compressed or too late is given up', async () => {
    await assert.rejects(allowed(`${url}/large`), /larger than/);
    await assert.rejects(allowed(`${url}/zipped`), /compressed/);
    const hasty = createGuardedFetch({ ...LIMITS, timeoutMs: 50, allowedNetworks: ['127.0.0.0/8'] });
    await assert.rejects(hasty(`${url}/never`), { name: /TimeoutError|AbortError/ });
    await assert.rejects(allowed(`${url}/never`, { signal: AbortSignal.timeout(50) }));
  });

  it('Only allowed networks are called, and without TLS not even the public internet', async () => {
    const none = createGuardedFetch({ ...LIMITS, allowedNetworks: [] });
    const forbidden = /private or reserved address/;
    await assert.rejects(none(url), forbidden);
    await assert.rejects(none(url.replace('127.0.0.1', 'localhost')), forbidden);
    await assert.rejects(none('https://169.254.169.254/'), forbidden);
    await assert.rejects(allowed('http://8.8.8.8/'), forbidden);
    await assert.rejects(allowed('http://[::ffff:8.8.8.8]/'), forbidden);
    await assert.rejects(allowed('ftp://127.0.0.1/'), /ftp: is not supported/);
  });
});
