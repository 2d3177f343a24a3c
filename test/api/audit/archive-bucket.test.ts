import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { bucketPlace } from '../../../src/audit/archive/bucket-place.ts';
import { readConfig } from '../../../src/base/config/config.ts';
import { createBucketObjects } from '../../../src/buckets/bucket-objects.client.ts';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type CloudServer, serve, startS3 } from '../../support/services/clouds.ts';

const DAY_MS = 86_400_000;
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', sessionToken: undefined };
const LOOPBACK = ['127.0.0.0/8'];
const accountAt = (endpoint: string) => ({ kind: 's3', endpoint, region: 'us-east-1', ...KEYS }) as const;

describe('Archives of the audit log in a bucket', () => {
  let s3: { url: string };
  let atrium: TestServer;
  before(async () => {
    s3 = await startS3(['logs']);
    atrium = await openTestServer({
      env: {
        AUDIT_RETENTION: 'P30D',
        AUDIT_ARCHIVE: 's3://logs/atrium/',
        AUDIT_CREDENTIAL: 'root/archive',
        BUCKET_ALLOWED_NETWORKS: LOOPBACK.join(','),
      },
    });
  });
  after(() => atrium.close());

  const root = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('root')(...send);
  const objects = () => createBucketObjects(accountAt(s3.url), 'logs', LOOPBACK);
  const credential = (endpoint: string) => ({
    name: 'archive',
    type: 'Aws',
    endpoint,
    aws: { accessKeyID: 'S3RVER', secretAccessKey: 'S3RVER' },
  });

  async function command(...argv: string[]): Promise<string> {
    const lines: string[] = [];
    await runInServer(atrium.instance, { argv: ['audit', ...argv] }, (line) => void lines.push(line));
    return lines.join('\n');
  }

  async function change(name: string): Promise<void> {
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name, permissions: [] });
    assert.equal(made.status, 201, made.text);
  }

  it('Nothing is removed without the credential, and it is named in the failure', async () => {
    for (const name of ['one', 'two', 'three']) await change(name);
    const total = async () => (await root('GET', '/admin/audit/verify?org=acme&from=beginning')).body.rows;
    const rows = await total();
    const later = new Date(Date.now() + 40 * DAY_MS);
    await assert.rejects(atrium.instance.features.retainAudit(later), /AUDIT_CREDENTIAL: credential not found/);
    assert.equal(await total(), rows);
  });

  it('An archive is written to a bucket with the credential of a user, verified there, and restored from there', async () => {
    assert.equal((await root('POST', '/user/credentials', credential(s3.url))).status, 201);
    const before = new Date(Date.now() + 5).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 10));
    const address = 's3://logs/by-hand/audit-2025.ndjson';
    const told = await command('archive', '--before', before, '--to', address, '--org', 'acme');
    assert.match(told, /^s3:\/\/logs\/by-hand\/audit-2025\.ndjson: \d+ entries of 1 log/);
    const text = (await objects().read('by-hand/audit-2025.ndjson', 0, 8_000_000)).toString();
    assert.ok(told.includes(createHash('sha256').update(text).digest('hex')));
    assert.match(text, /^\{"kind":"AuditSegments".*\n[\s\S]*\{"close":.*\}\n$/);
    await assert.rejects(command('archive', '--before', before, '--to', address), /exists|never overwritten/);
    const verdict = async () => (await root('GET', '/admin/audit/verify?org=acme&from=beginning')).body;
    assert.deepEqual([(await verdict()).ok, (await verdict()).rows, (await verdict()).segments.length], [true, 1, 1]);
    assert.match(await command('restore', address), /^restored \d+ entries of 1 log from s3:/);
    assert.deepEqual([(await verdict()).ok, (await verdict()).segments.length], [true, 0]);
    await assert.rejects(command('restore', 's3://logs/absent.ndjson'), /there is no object absent\.ndjson/);
  });

  it('The credential must be that of an active site administrator, who decides where the log goes', async () => {
    for (const user of ['ann', 'nobody', 'acme']) {
      const env = { AUDIT_CREDENTIAL: `${user}/archive`, BUCKET_ALLOWED_NETWORKS: LOOPBACK.join(',') };
      const other = await openTestServer({ env });
      assert.equal((await other.as('ann')('POST', '/user/credentials', credential(s3.url))).status, 201);
      const argv = ['audit', 'archive', '--before', new Date().toISOString(), '--to', 's3://logs/not-there.ndjson'];
      await assert.rejects(
        runInServer(other.instance, { argv }, () => undefined),
        new RegExp(`AUDIT_CREDENTIAL: ${user} is not an active site administrator`),
      );
      await other.close();
    }
    assert.equal(await objects().has('not-there.ndjson'), false);
  });

  it('Once a day, what is older is archived into the bucket', async () => {
    await atrium.instance.features.retainAudit(new Date(Date.now() + 45 * DAY_MS));
    const [entry] = (await root('GET', '/admin/audit?action=audit.archive&limit=1')).body.items;
    const name = entry.after.archive;
    assert.match(name, /^audit-before-.*\.ndjson$/);
    assert.equal(await objects().has(`atrium/${name}`), true);
  });

  it('What is larger than one request is uploaded in parts, and read in spans', async () => {
    const place = bucketPlace(async () => objects(), 'large.ndjson');
    const lines = Array.from({ length: 40 }, (_, at) => `${String(at).padStart(4, '0')}${'ü'.repeat(500_000)}\n`);
    await place.write(
      (async function* () {
        yield* lines;
      })(),
    );
    const whole: Buffer[] = [];
    for await (const part of place.read()) whole.push(part);
    assert.ok(Buffer.concat(whole).equals(Buffer.from(lines.join(''))));
    const size = Buffer.byteLength(lines[0] ?? '');
    const some: Buffer[] = [];
    for await (const part of place.read({ start: size * 3, end: size * 25 })) some.push(part);
    assert.ok(Buffer.concat(some).equals(Buffer.from(lines.slice(3, 25).join(''))));
  });

  it('A service that is overloaded is asked again, and one that rejects is not', async () => {
    let failures = 2;
    const flaky: CloudServer = await serve((_request, response) => {
      response.statusCode = failures-- > 0 ? 503 : 404;
      response.end();
    });
    const bucket = createBucketObjects(accountAt(flaky.url), 'logs', LOOPBACK);
    assert.equal(await bucket.has('x'), false);
    assert.equal(flaky.asked(), 3);
    const closed = await serve((_request, response) => {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>S3RVER may not</Message></Error>');
    });
    const rejecting = createBucketObjects(accountAt(closed.url), 'logs', LOOPBACK);
    await assert.rejects(rejecting.put('x', 'y', true), /rejected the request, .*: AccessDenied \(status 403\)$/);
    assert.equal(closed.asked(), 1);
  });

  it('A bucket in a private network that is not allowed is not called', async () => {
    const secret = await serve((_request, response) => void response.end());
    const bucket = createBucketObjects(accountAt(secret.url), 'logs', []);
    await assert.rejects(bucket.has('x'), /its address is neither public nor in BUCKET_ALLOWED_NETWORKS/);
    assert.equal(secret.asked(), 0);
  });
});

it('A bucket that cannot be used is rejected before the server starts', () => {
  const base = { AUDIT_RETENTION: 'P1Y' };
  for (const [env, message] of [
    [{ AUDIT_ARCHIVE: 's3://logs' }, /AUDIT_ARCHIVE in a bucket needs AUDIT_CREDENTIAL/],
    [{ AUDIT_ARCHIVE: 's3://', AUDIT_CREDENTIAL: 'root/a' }, /AUDIT_ARCHIVE must be such as s3:/],
    [{ AUDIT_ARCHIVE: 's3://logs/../x', AUDIT_CREDENTIAL: 'root/a' }, /AUDIT_ARCHIVE must be such as s3:/],
    [{ AUDIT_ARCHIVE: 'https://logs.example.com', AUDIT_CREDENTIAL: 'root/a' }, /AUDIT_ARCHIVE must be such as s3:/],
    [{ AUDIT_ARCHIVE: 's3://logs', AUDIT_CREDENTIAL: 'archive' }, /AUDIT_CREDENTIAL must be a user and a credential/],
  ] as const) {
    assert.throws(() => readConfig({ ...base, ...env }), message, JSON.stringify(env));
  }
  const good = readConfig({ ...base, AUDIT_ARCHIVE: 's3://logs/a/', AUDIT_CREDENTIAL: 'root/my archive' });
  assert.deepEqual([good.AUDIT_ARCHIVE, good.AUDIT_CREDENTIAL], ['s3://logs/a', { user: 'root', name: 'my archive' }]);
});
