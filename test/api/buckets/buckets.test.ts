import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { createBucketLister } from '../../../src/buckets/bucket-list.client.ts';
import { createBuckets, noClusters } from '../../../src/buckets/buckets.ts';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { until } from '../../support/checks/until.ts';
import { type Answer, type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  AZURE,
  type CloudServer,
  createContainer,
  foreignKey,
  GOOGLE,
  serve,
  startAzurite,
  startGoogle,
  startPagedAzure,
  startPagedS3,
  startS3,
} from '../../support/services/clouds.ts';

const UID = '0b7e8d1c-7a41-4f2b-9a5b-7a6f6f0c2d11';
const SECRET = 'canary-bucket-secret-9f2';
const CLUSTER = { cluster_uid: UID };

describe('Buckets', () => {
  let atrium: TestServer;
  let strict: TestServer;
  let ann: Call;
  const servers: Record<string, { url: string }> = {};
  const s3 = (name: string, endpoint: string, keys: object = {}) => ({
    name,
    type: 'Aws',
    endpoint,
    aws: { accessKeyID: 'S3RVER', secretAccessKey: 'S3RVER', ...keys },
  });
  const azure = (name: string, endpoint: string, keys: object = {}) => ({
    name,
    type: 'AzureStorage',
    azureStorage: { ...AZURE, endpoint, ...keys },
  });
  const google = (name: string, endpoint: string, key: object = {}, tokens = endpoint) => ({
    name,
    type: 'GoogleCloud',
    googleCloud: {
      projectID: 'demo',
      endpoint,
      serviceAccount: JSON.stringify({
        type: 'service_account',
        client_email: GOOGLE.email,
        private_key: GOOGLE.privateKey,
        token_uri: `${tokens}/token`,
        ...key,
      }),
    },
  });
  const keep = async (spec: object, call = ann) => {
    const made = await call('POST', '/user/credentials', spec);
    assert.equal(made.status, 201, made.text);
  };
  const list = (cloud: string, credential: string, more: object = {}, call = ann) =>
    call('POST', `/user/clouds/${cloud}/buckets`, { ...CLUSTER, credential, ...more });
  const refused = (answer: Answer, words: RegExp) => {
    assert.equal(answer.status, 502, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['message', 'url', 'reason']);
    assert.match(answer.body.message, words);
  };

  before(async () => {
    atrium = await openTestServer({ env: { BUCKET_ALLOWED_NETWORKS: '127.0.0.0/8,::1' } });
    strict = await openTestServer();
    ann = atrium.as('ann');
    servers.s3 = await startS3(['alpha', 'beta']);
    servers.paged = await startPagedS3(2500, 1000);
    servers.azurite = await startAzurite();
    servers.google = await startGoogle(2500, 1000);
    servers.html = await serve((_request, response) => void response.end('<html><body>hello</body></html>'));
    servers.text = await serve((_request, response) => void response.end('no protocol at all'));
    await keep(s3('s3', servers.s3.url));
    await keep(s3('paged', servers.paged.url));
    await keep(azure('azure', servers.azurite.url));
    await keep(google('google', servers.google.url));
  });
  after(async () => {
    await atrium.close();
    await strict.close();
  });

  it('Buckets of S3 and S3-compatible services are listed', async () => {
    for (const cloud of ['aws', 's3', 'S3', 'AWS']) {
      assert.deepEqual((await list(cloud, 's3')).body, { names: ['alpha', 'beta'] });
    }
    const { endpoint, aws } = s3('', servers.s3?.url ?? '');
    await keep({ name: 'flat', type: 'Minio', endpoint, ...aws });
    await keep({ name: 'r2', type: 'CloudflareStorage', cloudflareStorage: { accountID: 'a', ...aws, endpoint } });
    await keep({ name: 'hz', type: 'HetznerStorage', hetznerStorage: { ...aws, endpoint } });
    for (const name of ['flat', 'r2', 'hz']) {
      assert.deepEqual((await list('s3', name)).body, { names: ['alpha', 'beta'] }, name);
    }
  });

  it('S3 buckets are listed across all pages, up to 10,000', async () => {
    const names = (await list('aws', 'paged')).body.names;
    assert.equal(names.length, 2500);
    assert.equal(new Set(names).size, 2500);
    await keep(s3('huge', (await startPagedS3(10_500, 1000)).url));
    assert.equal((await list('aws', 'huge')).body.names.length, 10_000);
  });

  it('Requests to S3 are signed with the secret and the session token, for the region of the credential', async () => {
    const url = servers.paged?.url ?? '';
    await keep(s3('session', url, { region: 'eu-central-1', sessionToken: 'a/session+token=' }));
    assert.equal((await list('aws', 'session')).body.names.length, 2500);
    await keep(s3('wrong-secret', url, { secretAccessKey: SECRET }));
    refused(await list('aws', 'wrong-secret'), /SignatureDoesNotMatch: the signature is wrong/);
    await keep({ name: 'odd-region', type: 'Aws', aws: { accessKeyID: 'a', secretAccessKey: 'b', region: 'x/y' } });
    const odd = await list('aws', 'odd-region');
    assert.deepEqual([odd.status, /region cannot be part of a host name/.test(odd.text)], [422, true]);
  });

  it('A storage service that is overloaded is asked once more, and no more than that', async () => {
    for (const [overloads, status] of [
      [1, 200],
      [2, 502],
    ] as const) {
      const busy = await serve((_request, response) => {
        const isOver = busy.asked() > overloads;
        const body = isOver ? '<ListAllMyBucketsResult/>' : '<Error><Code>SlowDown</Code></Error>';
        response.writeHead(isOver ? 200 : 503, { 'Content-Type': 'application/xml' }).end(body);
      });
      await keep(s3(`busy-${overloads}`, busy.url));
      const answer = await list('aws', `busy-${overloads}`);
      assert.deepEqual([answer.status, busy.asked()], [status, 2], answer.text);
    }
  });

  it('Azure containers are listed across all pages', async () => {
    const url = servers.azurite?.url ?? '';
    const expected = Array.from({ length: COUNTS.azureContainers }, (_, at) => `box-${String(at).padStart(4, '0')}`);
    for (let at = 0; at < expected.length; at += 60) {
      await Promise.all(expected.slice(at, at + 60).map((name) => createContainer(url, name)));
    }
    for (const cloud of ['azure', 'azureStorage']) {
      assert.deepEqual((await list(cloud, 'azure')).body, { names: expected });
    }
    await keep(azure('paged-azure', (await startPagedAzure(2500)).url));
    assert.equal(new Set((await list('azure', 'paged-azure')).body.names).size, 2500);
  });

  it('Google Cloud Storage buckets are listed across all pages, for the requested project', async () => {
    assert.equal(new Set((await list('gcp', 'google')).body.names).size, 2500);
    for (const cloud of ['gcp', 'gcs', 'gce']) {
      refused(await list(cloud, 'google', { cloudC_project: 'other' }), /no project other/);
    }
  });

  it('Bucket options come from the query or the body, even of a GET, and the body takes precedence', async () => {
    const query = `/user/clouds/aws/buckets?cluster_uid=${UID}&credential=s3`;
    assert.deepEqual((await ann('GET', query)).body, { names: ['alpha', 'beta'] });
    assert.deepEqual((await ann('POST', query)).body, { names: ['alpha', 'beta'] });
    const url = `${atrium.url}/api/v1/user/clouds/aws/buckets`;
    const token = atrium.world.users.ann?.token ?? '';
    assert.equal((await getWithBody(url, token, { ...CLUSTER, credential: 's3' })).status, 200);
    const both = await getWithBody(`${url}?cluster_uid=x&credential=paged`, token, { credential: 's3' });
    assert.deepEqual(JSON.parse(both.text), { names: ['alpha', 'beta'] });
    const unsaid = { credential: null, cloudC_project: null, secret_namespace: null, provider: null };
    assert.deepEqual((await ann('POST', query, unsaid)).body, { names: ['alpha', 'beta'] });
    const empty = { credential: '', cluster_uid: '', secret_name: '' };
    assert.deepEqual((await ann('POST', query, empty)).body, { names: ['alpha', 'beta'] });
  });

  it('Bucket requests with missing, invalid or unknown options are rejected with a specific message', async () => {
    const post = (cloud: string, body: unknown) => ann('POST', `/user/clouds/${cloud}/buckets`, body);
    const rows: readonly (readonly [cloud: string, body: unknown, status: number, words: RegExp])[] = [
      ['nowhere', {}, 400, /unknown cloud: "nowhere"/],
      ['constructor', { ...CLUSTER, credential: 's3' }, 400, /unknown cloud/],
      ['aws', {}, 422, /cluster_uid is required; credential, or secret_namespace and secret_name/],
      ['aws', { credential: 's3' }, 422, /cluster_uid is required/],
      ['aws', CLUSTER, 422, /credential, or/],
      ['aws', { ...CLUSTER, credential: '' }, 422, /credential, or/],
      ['aws', { ...CLUSTER, secret_name: 'x' }, 422, /credential, or/],
      ['aws', { ...CLUSTER, credential: 5 }, 422, /credential must be string/],
      ['aws', [], 422, /must be object/],
      ['aws', { ...CLUSTER, credential: 'unknown' }, 404, /credential not found/],
      ['azure', { ...CLUSTER, credential: 's3' }, 422, /azureStorage.account is missing/],
      ['gcp', { ...CLUSTER, credential: 's3' }, 422, /googleCloud.serviceAccount is missing/],
      ['aws', { ...CLUSTER, credential: 'azure' }, 422, /aws.accessKeyID is missing/],
      ['aws', { ...CLUSTER, secret_namespace: 'a', secret_name: 'b' }, 502, /is not connected to this server/],
    ];
    for (const [cloud, body, status, words] of rows) {
      const answer = await post(cloud, body);
      assert.equal(answer.status, status, `${cloud} ${JSON.stringify(body)}: ${answer.text}`);
      assert.match(answer.body.message, words);
    }
    assert.equal((await list('aws', 's3', {}, atrium.as('bob'))).status, 404);
    assert.equal((await list('aws', 's3', {}, atrium.as())).status, 401);
  });

  it('An error from a cloud service is passed on with 502 and without secrets', async () => {
    await keep(s3('bad-s3', servers.s3?.url ?? '', { accessKeyID: 'nobody', secretAccessKey: SECRET }));
    await keep(azure('bad-azure', servers.azurite?.url ?? '', { key: Buffer.from(SECRET).toString('base64') }));
    await keep(google('bad-google', servers.google?.url ?? '', { private_key: foreignKey() }));
    await keep(google('no-key', servers.google?.url ?? '', { private_key: SECRET }));
    const loose = await serve((_request, response) => {
      const xml = `<Error><Code>Chatty</Code><Message>you sent ${SECRET}\n and more</Message></Error>`;
      response.writeHead(403, { 'Content-Type': 'application/xml' }).end(xml);
    });
    await keep(s3('chatty', loose.url, { secretAccessKey: SECRET }));
    refused(await list('aws', 'bad-s3'), /InvalidAccessKeyId: The AWS Access Key Id you provided does not exist/);
    refused(await list('azure', 'bad-azure'), /AuthorizationFailure: Server failed to authenticate the request/);
    refused(await list('gcp', 'bad-google'), /invalid_grant: Invalid JWT Signature/);
    assert.equal((await list('gcp', 'no-key')).status, 422);
    refused(await list('aws', 'chatty'), /Chatty: you sent \*\*\* and more/);
    assert.ok(!atrium.logged().includes(SECRET));
    assert.doesNotMatch(atrium.logged(), /PRIVATE KEY|SharedKey|Bearer/);
  });

  it('An unreachable service, or one that speaks another protocol, is reported with 502 and the reason', async () => {
    const nobody = 'http://127.0.0.1:1';
    await keep(s3('s3-away', nobody));
    await keep(azure('azure-away', nobody));
    await keep(google('google-away', nobody));
    for (const [cloud, name] of [
      ['aws', 's3-away'],
      ['azure', 'azure-away'],
      ['gcp', 'google-away'],
    ] as const) {
      refused(await list(cloud, name), /the connection was refused/);
    }
    await keep(s3('unknown-host', 'http://does-not-exist.invalid'));
    refused(await list('aws', 'unknown-host'), /host name/);
    for (const kind of ['html', 'text']) {
      const url = servers[kind]?.url ?? '';
      await keep(s3(`s3-${kind}`, url));
      await keep(azure(`azure-${kind}`, url));
      await keep(google(`google-${kind}`, url, {}, servers.google?.url));
      refused(await list('aws', `s3-${kind}`), /is not an S3 response/);
      refused(await list('azure', `azure-${kind}`), /is not a Blob Storage response/);
      refused(await list('gcp', `google-${kind}`), /is not a Cloud Storage response/);
    }
  });

  it('Redirects from a cloud service are not followed', async () => {
    const target = await serve((_request, response) => void response.end('{}'));
    const away = await serve((_request, response) => void response.writeHead(302, { Location: target.url }).end());
    await keep(s3('s3-away-2', away.url));
    await keep(azure('azure-away-2', away.url));
    await keep(google('google-away-2', away.url, {}, servers.google?.url));
    for (const [cloud, name] of [
      ['aws', 's3-away-2'],
      ['azure', 'azure-away-2'],
      ['gcp', 'google-away-2'],
    ] as const) {
      refused(await list(cloud, name), /./);
    }
    assert.equal(target.asked(), 0);
  });

  describe('with a cloud service that does not answer', () => {
    const CLOUDS = [
      ['aws', 'slow-s3'],
      ['azure', 'slow-azure'],
      ['gcp', 'slow-google'],
    ] as const;
    const { promise: closed, resolve: leave } = Promise.withResolvers<void>();
    let slow: CloudServer;
    before(async () => {
      slow = await serve((request) => void request.socket.once('close', () => leave()));
      await keep(s3('slow-s3', slow.url));
      await keep(azure('slow-azure', slow.url));
      await keep(google('slow-google', slow.url, {}, servers.google?.url));
    });

    it('A request to a cloud service is canceled when the caller disconnects', async () => {
      const caller = new AbortController();
      const call = fetch(`${atrium.url}/api/v1/user/clouds/aws/buckets?cluster_uid=x&credential=slow-s3`, {
        headers: { Authorization: `token ${atrium.world.users.ann?.token}` },
        signal: caller.signal,
      });
      await until(() => slow.asked() > 0);
      caller.abort();
      await assert.rejects(call);
      await closed;
    });

    it('A cloud service that does not answer is given up', async () => {
      const lister = createBucketLister(['127.0.0.0/8']);
      const impatient = createBuckets(atrium.instance.features.credentials, noClusters, lister, 300);
      const { signal } = new AbortController();
      for (const [cloud, credential] of CLOUDS) {
        const names = impatient.list(atrium.world.users.ann?.id ?? 0n, cloud, { clusterUid: 'x', credential }, signal);
        await assert.rejects(names, { kind: 'upstream', message: /did not respond within 0.3 s/ });
      }
    });

    it('Bucket requests are answered within ten seconds when the cloud service does not answer', {
      skip: !IS_LONG && 'only in npm run test:long',
    }, async () => {
      const began = performance.now();
      const answers = await Promise.all(CLOUDS.map(([cloud, name]) => list(cloud, name)));
      assert.ok(performance.now() - began < 10_000);
      for (const answer of answers) refused(answer, /did not respond within 8.5 s/);
    });
  });

  it('Private and reserved addresses are never contacted without BUCKET_ALLOWED_NETWORKS', async () => {
    const bob = strict.as('bob');
    const victim: CloudServer = await serve((_request, response) => void response.end('{}'));
    const port = new URL(victim.url).port;
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '2130706433',
      '0x7f.1',
      '0.0.0.0',
      '10.0.0.1',
      '169.254.169.254',
      '[fd00:ec2::254]',
      '100.64.0.1',
    ];
    const contact = async (cloud: string, spec: { name: string }) => {
      await keep(spec, bob);
      refused(await list(cloud, spec.name, {}, bob), /private or reserved address/);
    };
    for (const [at, host] of hosts.entries()) {
      const url = `http://${host}:${port}`;
      await contact('aws', s3(`s${at}`, url));
      // The guard is the same for all. These two retry, and wait in between.
      if (at >= COUNTS.guardedHosts) continue;
      await Promise.all([contact('azure', azure(`a${at}`, url)), contact('gcp', google(`g${at}`, url))]);
    }
    assert.equal(victim.asked(), 0);
    for (const endpoint of ['file:///etc/passwd', 'http://user:pw@example.com', 'http://', 'gopher://x']) {
      await keep({ ...s3('odd', ''), endpoint }, bob);
      assert.equal((await list('aws', 'odd', {}, bob)).status, 422, endpoint);
      await bob('DELETE', '/user/credentials/odd');
    }
    await keep(
      {
        name: 'cf',
        type: 'CloudflareStorage',
        cloudflareStorage: { accountID: 'evil.example/', accessKeyID: 'a', secretAccessKey: 'b' },
      },
      bob,
    );
    assert.equal((await list('aws', 'cf', {}, bob)).status, 422);
  });
});

/** `fetch` does not send a GET with a body. */
function getWithBody(url: string, token: string, body: object): Promise<{ status: number; text: string }> {
  const text = JSON.stringify(body);
  const headers = {
    Authorization: `token ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': text.length,
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'GET', headers }, async (response) => {
      let answer = '';
      for await (const chunk of response) answer += chunk;
      resolve({ status: response.statusCode ?? 0, text: answer });
    });
    sent.once('error', reject).end(text);
  });
}
