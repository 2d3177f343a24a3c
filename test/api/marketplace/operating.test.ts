import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { COUNTS } from '../../counts.ts';
import { itLong } from '../../support/checks/long.ts';
import { openCli, openCliProcess } from '../../support/server/cli.ts';
import { newPlace } from '../../support/server/db.ts';
import { startServer } from '../../support/server/process.ts';
import { sharedServer } from '../../support/server/shared-server.ts';
import { freePort } from '../../support/services/ports.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const VERSION = '/marketplace/api/v1/version';

describe('Marketplace listener ports', () => {
  it('The frontend answers listener paths on a deployment without a marketplace', async () => {
    const standard = await sharedServer();
    for (const [method, url] of [
      ['GET', VERSION],
      ['POST', '/marketplace/api/v1/marketplaces/cloudA/notification/resource'],
      ['GET', '/marketplace/api/v1/%00'],
    ] as const) {
      const answer = await standard.call(method, url, method === 'POST' ? {} : undefined);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    }
    assert.equal((await standard.call('GET', '/links/installer.pub')).status, 404);
  });

  it('The listener is served only on its own port when MARKETPLACE_PORT is set', async () => {
    const market = await openMarketplace({ env: { MARKETPLACE_PORT: '0' } });
    const port = market.instance.listenerPort();
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
  let adminPort: number;
  let market: TestMarketplace;
  before(async () => {
    adminPort = await freePort();
    market = await openMarketplace({ env: { ADMIN_PORT: String(adminPort), CLOUD_B_SECRETS: 'known' } });
  });
  after(() => market.close());

  it('The listener is served on the main port by default', async () => {
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
  });

  it('The delivery log and the metrics show the reason for every rejected delivery', async () => {
    const operate = async (...argv: string[]) => {
      const lines: string[] = [];
      await runInServer(market.instance, { argv }, (line) => void lines.push(line));
      return lines.join('\n');
    };
    const cli = openCli();

    const [installer = ''] = (await operate('installer', 'create', 'cloudA', '--days', '7')).split('\n');
    assert.match(installer, /^[a-z0-9]{20}-[a-z0-9]{10}$/);
    const file = (name: string, body: unknown) => {
      writeFileSync(join(cli.home, name), JSON.stringify(body));
      return name;
    };
    const bind = file('bind.json', binding('sample'));
    const bindThrice = `marketplace send cloudA ${bind} --installer ${installer} --times 3 --together`;
    const sent = await cli(`${bindThrice} --url ${market.url}`);
    assert.equal(sent.code, 0, sent.stderr);
    const answers = sent.stdout.trim().split('\n');
    assert.equal(answers.filter((line) => line.startsWith('200 ')).length, 3);
    const list = file(
      'list.json',
      ['PATCH', 'PUT'].map((eventType) => ({ eventType, applicationId: applicationId('told') })),
    );
    const env = { ATRIUM_MARKETPLACE_SECRET: 'known' };
    const refused = await cli(`marketplace send cloudB ${list} --url ${market.url}`, { env });
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /^400 .*unknown event type[\s\S]*^200 /m);
    await cli(`marketplace send cloudB ${list} --url ${market.url}`, { env: { ATRIUM_MARKETPLACE_SECRET: 'wrong' } });

    const log = await operate('marketplace', 'log');
    assert.match(log, /refused unknown_event_type 400/);
    assert.match(log, /done bound 200 .*3×/);
    const found = await operate('marketplace', 'log', '--marketplace', 'cloudB', '--search', 'TOLD', '--json');
    assert.deepEqual(JSON.parse(found).state, 'done');

    const link = await operate('installer', 'link', installer);
    assert.match(link, new RegExp(`/${installer}/archive`));
    assert.equal((await fetch(link)).status, 200);
    await operate('installer', 'revoke', installer);
    assert.equal((await fetch(link)).status, 404);

    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    assert.match(metrics, /atrium_marketplace_deliveries_total\{marketplace="CloudB",reason="secret_mismatch"\} 2/);
    assert.match(metrics, /atrium_marketplace_deliveries_total\{marketplace="CloudB",reason="unknown_event_type"\} 1/);
    assert.match(metrics, /atrium_marketplace_inbox_depth 0/);
    assert.match(metrics, /atrium_marketplace_inbox_oldest_seconds 0/);
    assert.match(metrics, /atrium_marketplace_last_delivery_timestamp_seconds\{marketplace="CloudA"\} 1\d{9}/);
    assert.match(metrics, /atrium_marketplace_ranges_age_seconds -1/);
    await market.close();
    // The counts are written when the server ends, and the command opens the database itself.
    const strangers = await openCliProcess(market.settings)('marketplace log --strangers');
    assert.match(strangers.stdout, /CloudB {2}secret_mismatch {2}2× {2}127\.0\.0\.1/, strangers.stderr);
  });
});

describe('The marketplace outbox', () => {
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
    await market.sweep(0);
    const tried = got.length;
    assert.ok(tried >= 1);
    status = 204;
    await market.sweep(hour);
    const { headers, body } = got.at(-1) ?? { headers: {}, body: '' };
    assert.equal(headers['webhook-id'], got[0]?.headers['webhook-id'], 'the event that was not taken');
    assert.equal(JSON.parse(body).type, 'installer.bound');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    await market.sweep(2 * hour);
    assert.equal(got.length, tried + 1, 'once is enough');
    await market.close();
    receiver.close();
  });
});

describe('The demo on a marketplace deployment', () => {
  itLong('The marketplace demo uses its own secrets and ranges and rejects A from loopback in production', async () => {
    const { databaseUrl = '', dataDir = '' } = await newPlace();
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, DEPLOYMENT: 'marketplace', RUN_MODE: 'prod' };
    for (let start = 0; start < COUNTS.marketplaceDemoStarts; start++) {
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
