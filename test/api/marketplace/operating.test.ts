import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newPlace, temporaryFolder } from '../../support/db.ts';
import { openTestHouse } from '../../support/house.ts';
import { applicationId, binding, openMarketplace } from '../../support/marketplace.ts';
import { freePort } from '../../support/ports.ts';
import { startServer, surroundings } from '../../support/process.ts';

const VERSION = '/marketplace/api/v1/version';

describe('Marketplace listener ports', () => {
  it('The frontend answers listener paths on a deployment without a marketplace', async () => {
    const standard = await openTestHouse();
    for (const [method, url] of [
      ['GET', VERSION],
      ['POST', '/marketplace/api/v1/marketplaces/cloudA/notification/resource'],
      ['GET', '/marketplace/api/v1/%00'],
    ] as const) {
      const answer = await standard.call(method, url, method === 'POST' ? {} : undefined);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    }
    assert.equal((await standard.call('GET', '/links/installer.pub')).status, 404);
    await standard.close();
  });

  it('The listener is served on the main port by default', async () => {
    const market = await openMarketplace();
    const [main, listener] = await Promise.all([market.call('GET', '/api/v1/version'), market.call('GET', VERSION)]);
    assert.deepEqual(listener.body, main.body);
    assert.match(listener.body.version, /^v\d+(\.\d+)+$/);
    const wrong = await market.call('PUT', VERSION);
    assert.deepEqual(
      [wrong.status, wrong.headers.get('allow'), wrong.body],
      [405, 'GET, HEAD', { message: 'method not allowed' }],
    );
    const unknown = await market.call('GET', '/marketplace/api/v1/nothing');
    assert.deepEqual([unknown.status, unknown.body], [404, { message: 'not found' }]);
    await market.close();
  });

  it('The listener is served only on its own port when MARKETPLACE_PORT is set', async () => {
    const market = await openMarketplace({ env: { MARKETPLACE_PORT: '0' } });
    const port = market.house.listenerPort();
    assert.notEqual(port, undefined);
    const there = (method: string, url: string, body?: unknown) =>
      market.call(method, url, body, {}, `http://127.0.0.1:${port}`);
    assert.equal((await there('GET', VERSION)).status, 200);
    const bound = await market.notify('A', binding(await market.installer('A')));
    assert.equal(bound.status, 200);
    assert.ok(bound.body.link.startsWith(market.url), 'the archive is fetched from the main port');
    assert.equal((await fetch(bound.body.link)).status, 200);
    for (const url of ['/api/v1/user', '/', '/links/installer.pub', '/marketplace/api/v1/nothing']) {
      const answer = await there('GET', url);
      assert.deepEqual([answer.status, answer.body], [404, { message: 'not found' }], url);
    }
    for (const [method, url] of [
      ['GET', VERSION],
      ['POST', '/marketplace/api/v1/marketplaces/cloudA/notification/resource'],
    ] as const) {
      const answer = await market.call(method, url, method === 'POST' ? {} : undefined);
      assert.deepEqual([answer.status, answer.body], [404, { message: 'not found' }], 'not an acknowledgement');
    }
    await market.close();
  });
});

describe('Marketplace operation', () => {
  it('The delivery log and the metrics show the reason for every rejected delivery', async () => {
    const env = {
      RUN_MODE: 'dev',
      ADMIN_PORT: String(await freePort()),
      CLOUD_B_SECRETS: 'known',
      DEPLOYMENT: 'marketplace',
    };
    const { databaseUrl = '', dataDir } = await newPlace('postgres');
    const shared = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ATRIUM_KEY: randomBytes(32).toString('base64') };
    const server = startServer({ env: { ...shared, ...env } });
    const address = await server.listening();
    const command = (...args: string[]) => atrium({ ...shared, DEPLOYMENT: 'marketplace' }, ...args);

    const created = await command('installer', 'create', 'cloudA', '--days', '7');
    const [installer = ''] = created.out.split('\n');
    assert.match(installer, /^[a-z0-9]{20}-[a-z0-9]{10}$/);
    const folder = temporaryFolder();
    const file = (name: string, body: unknown) => {
      writeFileSync(join(folder, name), JSON.stringify(body));
      return join(folder, name);
    };
    const bind = file('bind.json', binding('sample'));
    const sent = await command(
      'marketplace',
      'send',
      'cloudA',
      bind,
      '--url',
      address,
      '--installer',
      installer,
      '--times',
      '3',
      '--together',
    );
    assert.equal(sent.code, 0, sent.err);
    assert.equal(
      sent.out
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('200 ')).length,
      3,
    );
    const list = file(
      'list.json',
      ['PATCH', 'PUT'].map((eventType) => ({ eventType, applicationId: applicationId('told') })),
    );
    const refused = await command('marketplace', 'send', 'cloudB', list, '--url', address, '--secret', 'known');
    assert.equal(refused.code, 1);
    assert.match(refused.out, /^400 .*unknown event type[\s\S]*^200 /m);
    await command('marketplace', 'send', 'cloudB', list, '--url', address, '--secret', 'wrong');

    const log = await command('marketplace', 'log');
    assert.match(log.out, /refused unknown_event_type 400/);
    assert.match(log.out, /done bound 200 .*3×/);
    const found = await command('marketplace', 'log', '--marketplace', 'cloudB', '--search', 'TOLD', '--json');
    assert.deepEqual(JSON.parse(found.out).state, 'done');

    const link = (await command('installer', 'link', installer)).out.trim();
    assert.match(link, new RegExp(`/${installer}/archive`));
    assert.equal((await command('installer', 'revoke', installer)).code, 0);
    const relative = new URL(link);
    assert.equal((await fetch(`${address}${relative.pathname}${relative.search}`)).status, 404);

    const metrics = await (await fetch(`http://127.0.0.1:${env.ADMIN_PORT}/metrics`)).text();
    assert.match(metrics, /atrium_marketplace_deliveries_total\{marketplace="CloudB",reason="secret_mismatch"\} 2/);
    assert.match(metrics, /atrium_marketplace_deliveries_total\{marketplace="CloudB",reason="unknown_event_type"\} 1/);
    assert.match(metrics, /atrium_marketplace_inbox_depth 0/);
    assert.match(metrics, /atrium_marketplace_inbox_oldest_seconds 0/);
    assert.match(metrics, /atrium_marketplace_last_delivery_timestamp_seconds\{marketplace="CloudA"\} 1\d{9}/);
    assert.match(metrics, /atrium_marketplace_ranges_age_seconds -1/);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    assert.match(
      (await command('marketplace', 'log', '--strangers')).out,
      /CloudB {2}secret_mismatch {2}2× {2}127\.0\.0\.1/,
    );
  });

  it('Outbox events are posted to a signed webhook, retried after a failure and delivered once', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    let status = 500;
    const receiver = createServer(async (request, response) => {
      const body = (await request.toArray()).join('');
      got.push({ headers: request.headers, body });
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const key = randomBytes(24);
    const env = {
      MARKETPLACE_EVENTS_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      MARKETPLACE_EVENTS_SECRET: `whsec_${key.toString('base64')}`,
    };
    const market = await openMarketplace({ env });
    const hour = 3_600_000;
    await market.house.marketplace.sweep.once(new Date());
    assert.ok(got.length >= 1, 'tried');
    status = 204;
    got.length = 0;
    await market.house.marketplace.sweep.once(new Date(Date.now() + hour));
    const { headers, body } = got[0] ?? { headers: {}, body: '' };
    assert.equal(JSON.parse(body).type, 'installer.bound');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    await market.house.marketplace.sweep.once(new Date(Date.now() + 2 * hour));
    assert.equal(got.length, 1, 'once is enough');
    await market.close();
    receiver.close();
  });
});

describe('The demo on a marketplace deployment', () => {
  it('The marketplace demo uses its own secrets and ranges and rejects A from loopback in production', async () => {
    const { databaseUrl = '', dataDir } = await newPlace('postgres');
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, DEPLOYMENT: 'marketplace', RUN_MODE: 'prod' };
    for (let start = 0; start < 2; start++) {
      const server = startServer({ args: ['demo'], env });
      const address = await server.listening();
      const { marketplace } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
      const post = async (cloud: string, body: unknown, query = '') =>
        (
          await fetch(`${address}/marketplace/api/v1/marketplaces/${cloud}/notification/resource${query}`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Connection: 'close' },
            body: JSON.stringify(body),
          })
        ).status;
      assert.equal(await post('cloudA', binding(marketplace.installers.cloudA)), 403);
      const put = { eventType: 'PUT', applicationId: applicationId(), provisioningState: 'Accepted' };
      assert.equal(await post('cloudB', put, `?secret=${marketplace.secrets.cloudB}`), 200);
      const bind = (id: string) => ({ bindingInfo: { installerId: id, clusterId: 'c' } });
      const secret = `?secret=${marketplace.secrets.cloudC}`;
      assert.equal(await post('cloudC', bind(marketplace.installers.cloudC), secret), start === 0 ? 200 : 403);
      assert.equal(await post('cloudC', bind(marketplace.installers.cloudCBound), secret), 403);
      assert.equal(await post('cloudC', bind(marketplace.installers.cloudCTest)), start === 0 ? 200 : 403);
      const claim = async (id: string) =>
        (await fetch(`${address}/marketplace/api/v1/marketplaces/standalone-organizations/${id}/claimable`)).status;
      const { claimable, claimed, waiting, flagged, notClaimable } = marketplace.claims;
      const statuses = [];
      for (const id of [claimable, claimed, waiting, flagged, notClaimable]) statuses.push(await claim(id));
      assert.deepEqual(statuses, [200, 409, 429, 200, start === 0 ? 200 : 429]);
      server.kill('SIGTERM');
      assert.equal((await server.ended).code, 0);
    }
  });
});

async function atrium(env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, ['bin/atrium.mjs', ...args], { env: { ...surroundings(), ...env } });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}
