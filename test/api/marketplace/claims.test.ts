import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createCentral } from '../../../src/marketplace/claims/central.client.ts';
import { createBuiltInCentral, createClaimStore } from '../../../src/marketplace/claims/claims.store.ts';
import { createClaims } from '../../../src/marketplace/claims/claims.ts';
import { migrated, openTestDb } from '../../support/server/db.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { sendRaw } from '../../support/server/raw.ts';
import { openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const rules = (value: string) => `{"claimable":true,"claimed":false,"x":${value}}`;
const claimable = (id: string) => `/marketplace/api/v1/marketplaces/standalone-organizations/${id}/claimable`;

describe('Claims of the demo world', () => {
  let market: TestMarketplace;
  before(async () => {
    market = await openMarketplace();
  });
  after(() => market.close());

  it('Each demo claim is answered by its state: claimable, claimed, backing off or unknown', async () => {
    const { claims } = market.demo;
    const ask = async (id: string) => await market.call('GET', claimable(id));
    for (let time = 0; time < 2; time++) {
      const yes = await ask(claims.claimable);
      assert.deepEqual([yes.status, yes.body], [200, { isClaimable: true, claimID: claims.claimable }]);
      const flagged = await ask(claims.flagged);
      assert.deepEqual([flagged.status, flagged.body], [200, { isClaimable: true, claimID: claims.flagged }]);
      assert.deepEqual((await ask(claims.claimed)).status, 409);
      const waiting = await ask(claims.waiting);
      assert.deepEqual([waiting.status, Object.keys(waiting.body)], [429, ['message']]);
      assert.equal(waiting.headers.get('retry-after'), '600');
    }
    const first = await ask(claims.notClaimable);
    assert.deepEqual([first.status, first.body], [200, { isClaimable: false, claimID: claims.notClaimable }]);
    const second = await ask(claims.notClaimable);
    assert.equal(second.status, 429);
    const wait = Number(second.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 30, `${wait} s`);
    for (const unknown of ['nobody', 'a%20b', 'x'.repeat(300), '%2e%2e%2f']) {
      const { status, body } = await ask(unknown);
      assert.deepEqual([status, body], [404, { message: 'standalone organization not found' }], unknown);
    }
  });

  it('A claim check is answered with 500 when there is neither a central server nor a demo', async () => {
    await market.rows('delete from central_claim');
    const { status, body } = await market.call('GET', claimable('some-claim'));
    assert.deepEqual([status, body], [500, { message: 'the claim rules cannot be evaluated right now' }]);
  });
});

describe('The central marketplace server', () => {
  const asked: string[] = [];
  let answer: (response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  const centralUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/central`;
  let market: TestMarketplace;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    market = await openMarketplace({ env: { CENTRAL_MARKETPLACE_URL: centralUrl() } });
  });
  after(async () => {
    await market.close();
    server.closeAllConnections();
    server.close();
  });
  const say = (status: number, body: string) => {
    answer = (response) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  };

  it('The central server is queried at the agreed path, and its answer is authoritative', async () => {
    say(200, '{"claimable":true,"claimed":false,"plan":"gold"}');
    const { status, body } = await market.call('GET', claimable('org-1'));
    assert.deepEqual([status, body], [200, { isClaimable: true, claimID: 'org-1' }]);
    assert.equal(asked.at(-1), '/central/standalone-organizations/org-1/claim-rules');
    const rows = await market.rows(`select flags from claim where id = 'org-1'`);
    assert.deepEqual(rows, [{ flags: { claimable: true, claimed: false, plan: 'gold' } }]);
    say(200, '{"claimable":false,"claimed":true}');
    assert.equal((await market.call('GET', claimable('org-1'))).status, 409);
    say(404, '{}');
    assert.equal((await market.call('GET', claimable('org-1'))).status, 404);
  });

  it('The central server is never queried for a claim ID made of dots', async () => {
    say(200, '{"claimable":true,"claimed":false}');
    const before = asked.length;
    for (const dots of ['.', '..', '%2e%2E', '...']) {
      const answer = await sendRaw(market.url, [`GET ${claimable(dots)} HTTP/1.1\r\nHost: a\r\n\r\n`]);
      assert.equal(answer.status, 404, dots);
    }
    assert.equal(asked.length, before);
  });

  it('Concurrent checks of one claim share a single query to the central server', async () => {
    const before = asked.length;
    let waiting = 30;
    const allWait = Promise.withResolvers<void>();
    answer = (response) => void allWait.promise.then(() => response.end('{"claimable":true,"claimed":false}'));
    const store = createClaimStore(market.instance.db.query);
    const get: typeof store.get = async (id) => {
      const claim = await store.get(id);
      waiting -= 1;
      if (waiting === 0) allWait.resolve();
      return claim;
    };
    const claims = createClaims({ ...store, get }, createCentral(centralUrl(), 60_000));
    const answers = await Promise.all(Array.from({ length: waiting }, () => claims.check('org-2', new Date())));
    for (const one of answers) assert.deepEqual(one, { isClaimable: true, claimID: 'org-2' });
    assert.equal(asked.length - before, 1);
  });

  for (const [name, status, text] of [
    ['an error', 500, '{"secret":"of the central server"}'],
    ['a redirect', 302, ''],
    ['invalid JSON', 200, '<html>'],
    ['an array', 200, '[]'],
    ['an object without flags', 200, '{}'],
    ['flags that are strings', 200, '{"claimable":"true","claimed":"false"}'],
    ['JSON that is nested 30,000 levels deep', 200, rules(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)],
    ['objects that are nested 10,000 levels deep', 200, rules(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
    ['nothing but opening brackets', 200, '['.repeat(60_000)],
    ['a NUL character', 200, rules('"\\u0000"')],
    ['half a surrogate pair', 200, rules('"\\ud800"')],
    ['a number that is out of range', 200, rules('1e999')],
    ['a key twice', 200, '{"claimable":true,"claimed":true,"claimed":false}'],
    ['the key __proto__', 200, '{"claimable":true,"claimed":false,"__proto__":{}}'],
    ['nothing', 200, ''],
    ['an oversized answer', 200, `{"claimable":true,"claimed":false,"x":"${'x'.repeat(100_000)}"}`],
  ] as const) {
    it(`A claim check is answered with 500, without backoff, when the central server sends ${name}`, async () => {
      say(status, text);
      for (let time = 0; time < 2; time++) {
        const answered = await market.call('GET', claimable('org-3'));
        assert.equal(answered.status, 500);
        assert.deepEqual(answered.body, { message: 'the claim rules cannot be evaluated right now' });
      }
    });
  }

  it('An answer of the central server without an end, or that becomes large when decompressed, is not read', async () => {
    const large = gzipSync(rules(`"${'x'.repeat(10_000_000)}"`));
    const endless = (response: ServerResponse) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    for (const one of [
      endless,
      (response: ServerResponse) => response.setHeader('Content-Encoding', 'gzip').end(large),
    ]) {
      answer = one;
      await assert.rejects(createCentral(centralUrl(), 60_000)('org-5'), /cannot be evaluated/);
    }
  });

  it('A query to the central server times out', async () => {
    answer = () => undefined;
    const ask = createCentral(centralUrl(), 100);
    await assert.rejects(ask('org-4'), /cannot be evaluated/);
  });
});

for (const driver of API_DRIVERS) {
  describe(`The claim backoff on ${driver}`, () => {
    it(`The claim backoff doubles from 30 s to 10 min and resets once the claim is claimable on ${driver}`, async () => {
      const db = await openTestDb(driver, {}, migrated());
      const central = createBuiltInCentral(db.query);
      const claims = createClaims(createClaimStore(db.query), central.ask);
      await central.put('org', false, false);
      let now = Date.now();
      const refused = async (after: number) => {
        await assert.rejects(
          claims.check('org', new Date(now + after)),
          (error: Error & { detail?: { retryAfter?: number } }) => {
            return /try again later/.test(error.message);
          },
        );
      };
      for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
        assert.deepEqual(await claims.check('org', new Date(now)), { isClaimable: false, claimID: 'org' });
        await refused((seconds - 1) * 1000);
        now += seconds * 1000;
      }
      await central.put('org', true, false);
      assert.equal((await claims.check('org', new Date(now))).isClaimable, true);
      assert.equal((await claims.check('org', new Date(now))).isClaimable, true);
      await central.put('org', false, false);
      assert.equal((await claims.check('org', new Date(now))).isClaimable, false);
      await refused(29_000);
      // A backoff of 30 s that would take an hour began before the clock was set back.
      assert.equal((await claims.check('org', new Date(now - 3_600_000))).isClaimable, false);
      await db.close();
    });
  });
}
