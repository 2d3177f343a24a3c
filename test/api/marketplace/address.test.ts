import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, BlockList } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAddressSet } from '../../../src/marketplace/ranges/address-set.ts';
import { readRangeFile } from '../../../src/marketplace/ranges/range-file.ts';
import { fetchRanges } from '../../../src/marketplace/ranges/range-source.client.ts';
import { createRangeStore } from '../../../src/marketplace/ranges/ranges.store.ts';
import { createRanges, type Fetched, type FetchRanges } from '../../../src/marketplace/ranges/ranges.ts';
import { ANY_DRIVER, migrated, openTestDb, temporaryFolder } from '../../support/server/db.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const HOUR_MS = 3_600_000;

describe('IP address sets', () => {
  const set = createAddressSet([
    '203.0.113.0/25',
    '203.0.113.128/25',
    '198.51.100.7',
    '2001:db8::/33',
    '10.0.0.0/8',
    '10.1.0.0/16',
  ]);
  const table: readonly (readonly [string, boolean])[] = [
    ['203.0.113.0', true],
    ['203.0.113.255', true],
    ['203.0.114.0', false],
    ['203.0.112.255', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    ['10.255.255.255', true],
    ['11.0.0.0', false],
    ['::ffff:203.0.113.9', true],
    ['::FFFF:203.0.113.9', true],
    ['::ffff:cb00:7109', false],
    ['2001:db8::1', true],
    ['2001:db8:7fff:ffff:ffff:ffff:ffff:ffff', true],
    ['2001:db8:8000::', false],
    ['2001:DB8:0::0001', true],
    ['2001:db8::1%eth0', false],
    ['', false],
    ['unknown', false],
    ['0203.0.113.1', false],
    ['203.0.113', false],
    ['3405803777', false],
    ['203.0.113.1 ', false],
  ];
  for (const [address, isIn] of table)
    it(`The address set ${isIn ? 'contains' : 'does not contain'} "${address}"`, () =>
      assert.equal(set.has(address), isIn));

  it('An address set is merged and agrees with a check of every single prefix', () => {
    assert.equal(set.size, 4);
    const prefixes = Array.from({ length: 300 }, (_, n) => `${(n * 37) % 223}.${(n * 91) % 256}.0.0/${12 + (n % 13)}`);
    const many = createAddressSet(prefixes);
    const single = prefixes.map((prefix) => createAddressSet([prefix]));
    const plain = (address: string) => single.some((one) => one.has(address));
    for (let n = 0; n < 500; n++) {
      const address = `${(n * 53) % 224}.${(n * 29) % 256}.${n % 256}.${(n * 7) % 256}`;
      assert.equal(many.has(address), plain(address), address);
    }
  });

  it('An address set reads every spelling of IPv6 as Node does', () => {
    const groups = (seed: number) =>
      Array.from({ length: 8 }, (_, n) =>
        ((seed * 7919 + n * 104_729) >> n) % 5 === 0 ? (seed * (n + 3)) & 0xffff : 0,
      );
    for (let seed = 1; seed < 400; seed++) {
      const full = groups(seed).map((group) => group.toString(16));
      const [prefix, list] = [`${full.join(':')}/${64 + (seed % 65)}`, new BlockList()];
      list.addSubnet(full.join(':'), 64 + (seed % 65), 'ipv6');
      const one = createAddressSet([prefix]);
      for (const other of [seed, seed + 1, seed * 3]) {
        const long = groups(other)
          .map((group) => group.toString(16))
          .join(':');
        const short = new URL(`http://[${long}]`).hostname.slice(1, -1);
        for (const address of [long, short, short.toUpperCase()]) {
          assert.equal(one.has(address), list.check(address, 'ipv6'), `${address} in ${prefix}`);
        }
      }
    }
    assert.ok(createAddressSet(['::/128']).has('::'));
    assert.ok(createAddressSet(['64:ff9b::/96']).has('64:ff9b::192.0.2.1'));
  });

  it('An address set rejects anything that is not a valid prefix', () => {
    for (const wrong of [
      '10.0.0.0/33',
      '10.0.0/8',
      'x',
      '2001:db8::/129',
      '10.0.0.0/8/8',
      'fe80::1%1/64',
      '1.2.3.4/',
    ]) {
      assert.throws(() => createAddressSet([wrong]), /not a prefix/, wrong);
    }
  });
});

for (const driver of API_DRIVERS) {
  describe(`Published address ranges on ${driver}`, () => {
    it(`Ranges stay valid three days after replacement, survive restarts and ignore implausible lists on ${driver}`, async () => {
      const db = await openTestDb(driver, {}, migrated());
      const problems: string[] = [];
      let next: Fetched | Error = page(1, ['192.0.2.0/24']);
      const open = () =>
        createRanges(
          createRangeStore(db.query),
          async () => {
            if (next instanceof Error) throw next;
            return next;
          },
          {
            source: 'list',
            allow: ['127.0.0.9'],
            report: (_problem, error) => problems.push((error as Error).message),
          },
        );
      let ranges = open();
      assert.equal(ranges.judge('192.0.2.1'), undefined, 'nothing is known yet');
      assert.equal(ranges.judge('127.0.0.9'), true, 'the allow list needs no other');
      const start = Date.now();
      await ranges.refresh(new Date(start));
      assert.deepEqual([ranges.judge('192.0.2.1'), ranges.judge('198.51.100.1')], [true, false]);

      next = page(2, ['198.51.100.0/24']);
      await ranges.refresh(new Date(start + HOUR_MS));
      assert.deepEqual([ranges.judge('192.0.2.1'), ranges.judge('198.51.100.1')], [true, true], 'the union of both');
      next = { changed: false };
      await ranges.refresh(new Date(start + 74 * HOUR_MS));
      assert.deepEqual([ranges.judge('192.0.2.1'), ranges.judge('198.51.100.1')], [false, true]);
      assert.equal(ranges.age(new Date(start + 75 * HOUR_MS)), 3600);

      next = page(1, ['203.0.113.0/24']);
      await ranges.refresh(new Date(start + 75 * HOUR_MS));
      assert.match(problems.pop() ?? '', /older than the current one/);
      const large = Array.from({ length: 200 }, (_, n) => `10.0.${n}.0/25`);
      next = page(3, large);
      await ranges.refresh(new Date(start + 76 * HOUR_MS));
      next = page(4, large.slice(0, 150));
      await ranges.refresh(new Date(start + 77 * HOUR_MS));
      assert.match(problems.pop() ?? '', /shrank from 200 to 150/);
      for (const broken of [
        '{',
        '{}',
        '{"syncToken":"9"}',
        '{"syncToken":"9","prefixes":[{"ip_prefix":"x","service":"EC2"}]}',
      ]) {
        next = { changed: true, text: broken, etag: null, lastModified: null };
        await ranges.refresh(new Date(start + 78 * HOUR_MS));
        assert.equal(problems.length, 1, broken);
        problems.pop();
      }

      next = new Error('the network is down');
      ranges = open();
      await ranges.refresh(new Date(start + 1000 * HOUR_MS));
      assert.equal(problems.pop(), 'the network is down');
      assert.deepEqual([ranges.judge('10.0.199.1'), ranges.judge('198.51.100.1')], [true, false], 'the last good copy');
      await db.close();
    });
  });
}

describe('Source addresses of marketplace A', () => {
  const file = join(temporaryFolder(), 'ranges.json');
  writeFileSync(file, text(7, ['203.0.113.0/24'], ['2001:db8::/32']));
  const bind = async (market: TestMarketplace, forwarded?: string) =>
    await market.notify('A', binding(await market.installer('A')), '', {
      ...(forwarded && { 'X-Forwarded-For': forwarded }),
    });

  it('A delivery from outside the ranges is rejected before its body is read, whatever address it claims', async () => {
    const market = await openMarketplace({ env: { RUN_MODE: 'prod', CLOUD_A_RANGES: file } });
    for (const [body, headers] of [
      ['{', {}],
      [binding('x'), {}],
      [binding('x'), { 'X-Forwarded-For': '203.0.113.5' }],
      [binding('x'), { Forwarded: 'for=203.0.113.5', 'X-Real-IP': '203.0.113.5' }],
    ] as const) {
      const answer = await market.notify('A', body, '', headers as Record<string, string>);
      assert.deepEqual(
        [answer.status, answer.body],
        [403, { message: 'the source address is outside the allowed ranges' }],
      );
    }
    await market.instance.features.marketplace.deliveryLog.flush();
    const [counted] = await market.instance.features.marketplace.deliveryLog.rejections(1);
    assert.deepEqual([counted?.reason, counted?.source, counted?.times], ['ip_outside_ranges', '127.0.0.1', 4]);
    await market.close();
  });

  it('A delivery from an address on the allow list is accepted', async () => {
    const market = await openMarketplace({
      env: { RUN_MODE: 'prod', CLOUD_A_RANGES: file, CLOUD_A_ALLOW: '127.0.0.0/8' },
    });
    assert.equal((await bind(market)).status, 200);
    await market.close();
  });

  it('A delivery from outside the allow list is rejected with 403 when no ranges are configured', async () => {
    const market = await openMarketplace({ env: { RUN_MODE: 'prod', CLOUD_A_ALLOW: '10.0.0.0/8' } });
    const answer = await bind(market);
    assert.deepEqual([answer.status, Object.keys(answer.body)], [403, ['message']]);
    await market.close();
  });

  it('The source address is the rightmost forwarded one that is not a trusted proxy', async () => {
    const env = { RUN_MODE: 'prod', CLOUD_A_RANGES: file, TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' };
    const market = await openMarketplace({ env });
    const table: readonly (readonly [string | undefined, number])[] = [
      [undefined, 403],
      ['203.0.113.5', 200],
      ['2001:db8::5', 200],
      ['::ffff:203.0.113.5', 200],
      ['203.0.113.5, 10.1.2.3', 200],
      ['203.0.113.5, 10.1.2.3:8080', 200],
      ['203.0.113.5, [::ffff:10.1.2.3]:8080', 200],
      ['203.0.113.5, 8.8.8.8:443, 10.1.2.3:8080', 403],
      ['8.8.8.8, 203.0.113.5, 10.1.2.3', 200],
      ['203.0.113.5, 8.8.8.8', 403],
      ['203.0.113.5, 8.8.8.8, 10.1.2.3', 403],
      ['203.0.113.5, garbage', 403],
      ['8.8.8.8, 203.0.113.5:443', 200],
      ['[2001:db8::5]:443', 200],
    ];
    for (const [forwarded, status] of table) assert.equal((await bind(market, forwarded)).status, status, forwarded);
    await market.close();
  });

  it('A delivery is answered with 500 while no address list is available', async () => {
    const env = { RUN_MODE: 'prod', CLOUD_A_RANGES: join(temporaryFolder(), 'none.json') };
    for (const settings of [env, { RUN_MODE: 'prod' }]) {
      const market = await openMarketplace({ env: settings });
      const answer = await bind(market);
      assert.deepEqual([answer.status, answer.body], [500, { message: 'internal error' }]);
      await market.close();
    }
  });
});

describe('Downloaded address ranges', () => {
  const asked: (string | undefined)[] = [];
  let body = text(1, ['127.0.0.0/8']);
  const server = createServer((request, response) => {
    asked.push(request.headers['if-none-match']);
    if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end();
    else response.writeHead(200, { ETag: '"one"', 'Content-Type': 'application/json' }).end(body);
  });
  let source = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ranges.json`;
  });
  after(() => server.close());

  it('The address ranges are downloaded before the first request and then refreshed conditionally', async () => {
    const env = { RUN_MODE: 'prod', CLOUD_A_RANGES: source };
    const market = await openMarketplace({ env });
    const installer = await market.installer('A');
    assert.equal((await market.notify('A', binding(installer))).status, 200);
    body = '';
    await market.sweep(11 * 60_000);
    assert.deepEqual(new Set(asked), new Set([undefined, '"one"']));
    assert.equal(asked.filter((tag) => tag === undefined).length, 1);
    await market.close();
  });

  it('A list of address ranges without an end is not read to the end', async () => {
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    const endless = createServer((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more).once('close', resolve);
      more();
    });
    await new Promise<void>((ready) => endless.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`;
    await assert.rejects(fetchRanges(url, undefined), /larger than 8192 KiB/);
    await cut;
    endless.close();
  });

  it('A redirect of the list of address ranges is not followed', async () => {
    let reached = 0;
    const server = createServer((request, response) => {
      if (request.url === '/private') reached += 1;
      response.writeHead(request.url === '/private' ? 200 : 302, { Location: '/private' }).end('{"prefixes":[]}');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await assert.rejects(fetchRanges(url, undefined));
    assert.equal(reached, 0);
    server.close();
  });

  it('Startup waits a limited time for the address ranges, and not at all with a stored copy', async () => {
    const db = await openTestDb(ANY_DRIVER, {}, migrated());
    const never = () => new Promise<Fetched>(() => undefined);
    const create = (fetch: FetchRanges) =>
      createRanges(createRangeStore(db.query), fetch, { source: 'http://x', allow: [], report: () => undefined });
    const slow = create(never);
    await slow.prepare(new Date(), 50);
    assert.equal(slow.judge('203.0.113.5'), undefined);
    await create(async () => page(1, ['203.0.113.0/24'])).prepare(new Date(), 5000);
    const stored = create(never);
    await stored.prepare(new Date(), 600_000);
    assert.equal(stored.judge('203.0.113.5'), true);
    await db.close();
  });
});

function page(token: number, prefixes: readonly string[]): Fetched {
  return { changed: true, text: text(token, prefixes), etag: null, lastModified: null };
}

function text(token: number, prefixes: readonly string[], prefixes6: readonly string[] = []): string {
  const file = {
    syncToken: String(token),
    prefixes: [
      { ip_prefix: '8.8.8.0/24', service: 'AMAZON' },
      ...prefixes.map((ip_prefix) => ({ ip_prefix, service: 'EC2' })),
    ],
    ipv6_prefixes: prefixes6.map((ipv6_prefix) => ({ ipv6_prefix, service: 'EC2' })),
  };
  assert.equal(readRangeFile(JSON.stringify(file)).prefixes.length, prefixes.length + prefixes6.length);
  return JSON.stringify(file);
}
