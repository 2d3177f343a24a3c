import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { accountOf } from '../../../src/buckets/storage-account.ts';
import { IS_LONG } from '../../counts.ts';
import { until } from '../../support/checks/until.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { AZURE, type CloudServer, GOOGLE, serve } from '../../support/services/clouds.ts';
import { madeUpKey, pem } from '../../support/world/rsa-key.ts';

const MIB = 1024 * 1024;
const PAGES = {
  aws: (inside: string, token = '') =>
    `<ListAllMyBucketsResult><Buckets>${inside}</Buckets><ContinuationToken>${token}</ContinuationToken></ListAllMyBucketsResult>`,
  azure: (inside: string, token = '') =>
    `<EnumerationResults><Containers>${inside}</Containers><NextMarker>${token}</NextMarker></EnumerationResults>`,
  gcp: (inside: string, token = '') => `{"kind":"storage#buckets","items":[${inside}],"nextPageToken":"${token}"}`,
};
const ONE = {
  aws: '<Bucket><Name>b</Name></Bucket>',
  azure: '<Container><Name>b</Name></Container>',
  gcp: '{"name":"b"}',
};
const SPACE = { aws: '<!-- -->', azure: '<!-- -->', gcp: ' ' };
/** Of one response. JSON is parsed in one piece. */
const MAX_BYTES = { aws: MIB, azure: MIB, gcp: MIB / 4 };
const TOO_LARGE = { aws: /larger than 1 MiB/, azure: /larger than 1 MiB/, gcp: /larger than 256 KiB/ };
const BOMB = Buffer.alloc(2 * MIB, ' ');
type Cloud = keyof typeof PAGES;
const CLOUDS = Object.keys(PAGES) as Cloud[];

describe('Limits of bucket listings', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { BUCKET_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  });
  after(() => atrium.close());

  let count = 0;
  /** Lists the buckets of a service that sends whatever `send` sends. */
  const listFrom = async (cloud: Cloud, send: (response: ServerResponse) => void): Promise<[Answer, CloudServer]> => {
    const server = await serve((request, response) => {
      const isJson = cloud === 'gcp';
      response.setHeader('Content-Type', isJson ? 'application/json' : 'application/xml');
      if (request.url === '/token') response.end('{"access_token":"x","expires_in":3600,"token_type":"Bearer"}');
      else send(response);
    });
    return [await list('ann', cloud, specOf(cloud, server.url)), server];
  };
  const specOf = (cloud: Cloud, url: string, key: object = {}) =>
    ({
      aws: { type: 'Aws', endpoint: url, aws: { accessKeyID: 'a', secretAccessKey: 'b' } },
      azure: { type: 'AzureStorage', azureStorage: { ...AZURE, endpoint: url } },
      gcp: {
        type: 'GoogleCloud',
        googleCloud: {
          projectID: 'demo',
          endpoint: url,
          serviceAccount: JSON.stringify({
            client_email: GOOGLE.email,
            private_key: GOOGLE.privateKey,
            token_uri: `${url}/token`,
            ...key,
          }),
        },
      },
    })[cloud];
  const list = async (who: string, cloud: Cloud, spec: object) => {
    const name = `c${++count}`;
    const made = await atrium.as(who)('POST', '/user/credentials', { name, ...spec });
    assert.equal(made.status, 201, made.text);
    const answer = await atrium.as(who)('POST', `/user/clouds/${cloud}/buckets`, {
      cluster_uid: 'x',
      credential: name,
    });
    await atrium.as(who)('DELETE', `/user/credentials/${name}`);
    return answer;
  };
  const refused = (answer: Answer, words: RegExp) => {
    assert.deepEqual([answer.status, answer.body.reason], [502, 'upstream_failed'], answer.text.slice(0, 500));
    assert.match(answer.body.message, words);
  };

  for (const cloud of CLOUDS) {
    const page = PAGES[cloud];

    it(`A response of more than ${MAX_BYTES[cloud] / 1024} KiB is not read to its end (${cloud})`, async () => {
      const filled = page(`${ONE[cloud]}${SPACE[cloud].repeat(MAX_BYTES[cloud] / SPACE[cloud].length)}`);
      refused((await listFrom(cloud, (response) => void response.end(filled)))[0], TOO_LARGE[cloud]);
      const [small] = await listFrom(cloud, (response) => void response.end(page(ONE[cloud])));
      assert.deepEqual(small.body, { names: ['b'] });
    });

    it(`A response without an end is cut off (${cloud})`, async () => {
      let cuts = 0;
      const [answer] = await listFrom(cloud, (response) => {
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
        };
        response.on('drain', more).once('close', () => cuts++);
        more();
      });
      refused(answer, TOO_LARGE[cloud]);
      await until(() => cuts > 0);
    });

    it(`A response in tens of thousands of tiny pieces is cut off (${cloud})`, async () => {
      const [answer] = await listFrom(cloud, (response) => {
        response.setHeader('Transfer-Encoding', 'chunked').flushHeaders();
        response.socket?.end('1\r\n \r\n'.repeat(30_000));
      });
      refused(answer, /too many pieces/);
    });

    it(`A compressed response is not decompressed (${cloud})`, async () => {
      for (const [encoding, body] of [
        ['gzip', gzipSync(BOMB)],
        ['deflate', deflateSync(BOMB)],
        ['br', brotliCompressSync(BOMB)],
        ['gzip, gzip', gzipSync(gzipSync(BOMB))],
      ] as const) {
        const [answer] = await listFrom(cloud, (response) => {
          response.setHeader('Content-Encoding', encoding).end(body);
        });
        refused(answer, /the response is compressed/);
      }
    });

    it(`A service that always has another page is given up (${cloud})`, async () => {
      let next = 0;
      const [answer] = await listFrom(cloud, (response) => void response.end(page('', `t${next++}`)));
      refused(answer, /sent 100 pages and still has more/);
    });

    const isTried = IS_LONG || cloud === 'gcp';
    it(`Pages of more than 12 MiB in total are not read (${cloud})`, {
      skip: !isTried && 'only in npm run test:long',
    }, async () => {
      let next = 0;
      const body = () => page(SPACE[cloud].repeat((0.9 * MAX_BYTES[cloud]) / SPACE[cloud].length), `t${next++}`);
      const [answer, server] = await listFrom(cloud, (response) => void response.end(body()));
      refused(answer, /larger than 12 MiB/);
      assert.ok(server.asked() < (30 * MIB) / MAX_BYTES[cloud]);
    });
  }

  const odd: readonly (readonly [Cloud, string])[] = [
    ...['{}', 'null', '1', '{"name":1}', '{"name":null}', '{"name":{}}', '{"id":"x"}', '[]'].map(
      (item) => ['gcp', `{"items":[${item}]}`] as const,
    ),
    ...['{"items":{}}', '{"items":"x"}', '[]', 'null', '1', '"x"', '', '['.repeat(200_000)].map(
      (text) => ['gcp', text] as const,
    ),
    ['aws', PAGES.aws('<Bucket><Name><a>1</a></Name></Bucket>')],
    ['aws', PAGES.aws('<a>'.repeat(100_000))],
    ['aws', '<'.repeat(500_000)],
    ['azure', PAGES.azure('<Container><Name><a>1</a></Name></Container>')],
    ['azure', PAGES.azure('<a>'.repeat(100_000))],
    ['azure', '<'.repeat(500_000)],
  ];
  it('Whatever a service sends, the answer is 502 or a list of names, and the server goes on', async () => {
    for (const [cloud, text] of odd) {
      const [{ status, body }] = await listFrom(cloud, (response) => void response.end(text));
      const label = `${cloud} ${text.slice(0, 80)}`;
      if (status === 200)
        assert.ok(
          body.names.every((name: unknown) => typeof name === 'string'),
          label,
        );
      else assert.equal(status, 502, label);
    }
    const [unreachable] = await listFrom('gcp', (response) => {
      response.end('{"kind":"storage#buckets","unreachable":[1,null]}');
    });
    assert.deepEqual(unreachable.body, { names: [] });
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    assert.doesNotMatch(atrium.logged(), /uncaught|"level":"fatal"/);
  });

  it('A private key that is not an RSA key of 2048 to 4096 bits is rejected before it is used', async () => {
    const { privateKey: curve } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { privateKey: real } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { privateKey: pss } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
    const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
    const size = /must be an RSA key of 2048 to 4096 bits/;
    const keys: readonly (readonly [key: string, words: RegExp])[] = [
      [madeUpKey({ n: 1024 }), size],
      [madeUpKey({ n: 2047 }), size],
      [madeUpKey({ n: 4097 }), size],
      [madeUpKey({ n: 8192 }), size],
      [madeUpKey({ n: 32_768 }), /longer than 8192 characters/],
      [pem(Buffer.alloc(15_000)), /longer than 8192 characters/],
      [pem(Buffer.alloc(700_000)), /serviceAccount is longer than 32768 characters/],
      // The modulus is small enough, but other numbers of the key are not.
      [madeUpKey({ n: 2048, p: 2048 }), /not a valid RSA key/],
      [madeUpKey({ n: 2048, p: 8192 }), /not a valid RSA key/],
      [madeUpKey({ n: 2048, d: 16_384 }), /not a valid RSA key/],
      [madeUpKey({ n: 2048, e: 2048 }), /not a valid RSA key/],
      [curve.export(pkcs8).toString(), size],
      [pss.export(pkcs8).toString(), size],
      [real.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' }).toString(), /cannot be read/],
      [pem(Buffer.from('nonsense')), /cannot be read/],
      ['nonsense', /cannot be read/],
    ];
    const server = await serve((_request, response) => void response.end('{}'));
    for (const [key, words] of keys) {
      const answer = await list('ann', 'gcp', specOf('gcp', server.url, { private_key: key }));
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, words);
    }
    assert.equal(server.asked(), 0);
    assert.doesNotMatch(atrium.logged(), /PRIVATE KEY/);
  });

  it('A key with more primes than two is reduced to what a signature needs', () => {
    const serviceAccount = (key: string) => JSON.stringify({ client_email: 'x@y', project_id: 'p', private_key: key });
    const read = (key: string) => {
      const account = accountOf('google', { googleCloud: { serviceAccount: serviceAccount(key) } }, undefined);
      return account.kind === 'google' ? account.privateKey : '';
    };
    assert.ok(read(madeUpKey({ n: 2048, third: 8_000 })).length < 1800);
    assert.equal(read(GOOGLE.privateKey), GOOGLE.privateKey);
  });

  it('Texts of a credential that are too long are rejected before they are used', async () => {
    const long = 'x'.repeat(8193);
    const server = await serve((_request, response) => void response.end());
    const { aws } = specOf('aws', '') as { aws: object };
    const specs: readonly (readonly [Cloud, object])[] = [
      ['aws', { aws: { ...aws, secretAccessKey: long }, endpoint: server.url }],
      ['aws', { aws: { ...aws, accessKeyID: long }, endpoint: server.url }],
      ['aws', { aws: { ...aws, sessionToken: long }, endpoint: server.url }],
      ['aws', { aws: { ...aws, region: long }, endpoint: server.url }],
      ['aws', { aws, endpoint: `${server.url}/${long}` }],
      ['azure', { azureStorage: { account: 'a', key: long, endpoint: server.url } }],
      ['azure', { azureStorage: { account: long, key: 'a', endpoint: server.url } }],
      ['gcp', specOf('gcp', server.url, { client_email: long })],
      ['gcp', specOf('gcp', server.url, { token_uri: `${server.url}/${long}` })],
    ];
    for (const [cloud, spec] of specs) {
      const answer = await list('ann', cloud, { type: 'X', ...spec });
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, /is longer than 8192 characters/);
    }
    assert.equal(server.asked(), 0);
  });

  it('At most four listings of a user run at once, and at most 16 of all users', async () => {
    const slow = await serve(() => undefined);
    const people = ['ann', 'bob', 'cat', 'dan', 'root'];
    const spec = specOf('aws', slow.url);
    for (const who of people) await atrium.as(who)('POST', '/user/credentials', { name: 'slow', ...spec });
    const ask = (who: string) => {
      const caller = new AbortController();
      const headers = { Authorization: `token ${atrium.world.users[who]?.token}` };
      const path = '/api/v1/user/clouds/aws/buckets?cluster_uid=x&credential=slow';
      const answer = fetch(`${atrium.url}${path}`, { headers, signal: caller.signal });
      answer.catch(() => undefined);
      return { answer, hangUp: () => caller.abort() };
    };
    const running = Array.from({ length: 4 }, () => ask('ann'));
    await until(() => slow.asked() === 4);
    const fifth = await ask('ann').answer;
    assert.deepEqual([fifth.status, fifth.headers.get('retry-after')], [429, '2']);
    assert.match(((await fifth.json()) as { message: string }).message, /^you are already listing/);
    for (const who of people.slice(1, 4)) running.push(...Array.from({ length: 4 }, () => ask(who)));
    await until(() => slow.asked() === 16);
    const next = await ask('root').answer;
    assert.deepEqual([next.status, next.headers.get('retry-after')], [429, '2']);
    assert.match(((await next.json()) as { message: string }).message, /^the server is already listing/);
    for (const { hangUp } of running) hangUp();
    // The server notices that callers are gone a moment later.
    const quick = await serve((_request, response) => void response.end(PAGES.aws(ONE.aws)));
    await until(async () => (await list('root', 'aws', specOf('aws', quick.url))).status === 200);
    await until(async () => (await list('ann', 'aws', specOf('aws', quick.url))).status === 200);
  });
});
