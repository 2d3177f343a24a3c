import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkChain } from '../../../client/audit-chain.ts';
import { readConfig } from '../../../src/base/config/config.ts';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { type CloudServer, serve } from '../../support/services/clouds.ts';

const HOUR_MS = 3_600_000;

/** What a bucket holds, by key. A failure is answered instead, as long as there are some. */
interface Bucket {
  readonly server: CloudServer;
  readonly objects: Map<string, string>;
  readonly failures: number[];
}

async function openBucket(): Promise<Bucket> {
  const objects = new Map<string, string>();
  const failures: number[] = [];
  const server = await serve((request, response, body) => {
    const status = failures.shift();
    if (status !== undefined) return void response.writeHead(status).end('<Error><Code>SlowDown</Code></Error>');
    assert.equal(request.method, 'PUT');
    objects.set(decodeURIComponent(request.url ?? ''), body);
    response.end();
  });
  return { server, objects, failures };
}

for (const driver of COUNTED_DRIVERS) {
  describe(`Pushing the audit log to a bucket on ${driver}`, () => {
    let atrium: TestServer;
    let bucket: Bucket;
    let hours = 0;
    before(async () => {
      bucket = await openBucket();
      atrium = await openTestServer({
        driver,
        env: {
          AUDIT_PUSH: 's3://siem/atrium',
          AUDIT_CREDENTIAL: 'root/siem',
          BUCKET_ALLOWED_NETWORKS: '127.0.0.0/8',
        },
      });
      const aws = { accessKeyID: 'S3RVER', secretAccessKey: 'S3RVER' };
      const spec = { name: 'siem', type: 'Aws', endpoint: bucket.server.url, aws };
      assert.equal((await atrium.as('root')('POST', '/user/credentials', spec)).status, 201);
    });
    after(() => atrium.close());

    const query = <Row extends object>(text: string) => atrium.instance.db.query<Row>(statement(text));
    /** As the upkeep of a moment does at which a push is due. */
    const push = () => atrium.instance.features.pushAudit(new Date(Date.now() + ++hours * 2 * HOUR_MS));
    const events = () =>
      [...bucket.objects]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([, body]) => body.trimEnd().split('\n'));
    const numbers = () => events().map((line) => Number(JSON.parse(line).metadata.uid));
    const stored = async () =>
      (await query<{ id: bigint }>('select id from audit order by id')).map(({ id }) => Number(id));

    async function change(name: string): Promise<void> {
      const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name, permissions: [] });
      assert.equal(made.status, 201, made.text);
    }

    it(`Each entry is in exactly one object, in its order, and the copy verifies, on ${driver}`, async () => {
      await push();
      assert.deepEqual(numbers(), await stored());
      const [key = ''] = bucket.objects.keys();
      assert.match(key, /^\/siem\/atrium\/ocsf\/\d{4}\/\d\d\/\d\d\/audit-\d{12}-\d{12}\.ndjson$/);
      await change('pushed');
      await push();
      assert.equal(bucket.objects.size, 2);
      assert.deepEqual(numbers(), await stored());
      const lines = events().map((line): string => JSON.parse(line).unmapped.entry);
      for (const [, chain] of Map.groupBy(lines, (line) => /"organization_id":(\d+)/.exec(line)?.[1])) {
        assert.equal((await checkChain(chain)).firstBroken, undefined);
      }
      await push();
      assert.equal(bucket.objects.size, 2, 'nothing is new');
    });

    it(`It is pushed again only when it is due, on ${driver}`, async () => {
      await change('not due');
      const asked = bucket.server.asked();
      await atrium.instance.features.pushAudit(new Date());
      assert.equal(bucket.server.asked(), asked);
      await push();
      assert.deepEqual(numbers(), await stored());
    });

    it(`An object that was written by a process that ended before it could note it is written again, the same, on ${driver}`, async () => {
      await change('before the crash');
      await query('update audit_push set due_at = now()');
      // The process ends between both: what it would have noted is taken back.
      const position = await query<{ last_id: bigint }>('select last_id from audit_push');
      await push();
      const written = new Map(bucket.objects);
      await query(`update audit_push set last_id = ${position[0]?.last_id}`);
      await change('after the crash');
      await push();
      for (const [key, body] of written) assert.equal(bucket.objects.get(key), body, key);
      assert.equal(bucket.objects.size, written.size + 1);
      assert.deepEqual(numbers(), await stored());
    });

    it(`A failure loses nothing, and rests for some minutes, on ${driver}`, async () => {
      await change('during a failure');
      bucket.failures.push(403);
      await assert.rejects(push(), /SlowDown \(status 403\)/);
      const asked = bucket.server.asked();
      await atrium.instance.features.pushAudit(new Date(Date.now() + hours * 2 * HOUR_MS + 60_000));
      assert.equal(bucket.server.asked(), asked, 'it rests');
      bucket.failures.push(503);
      await push();
      assert.deepEqual(numbers(), await stored());
    });

    it(`What is not pushed is not archived, on ${driver}`, async () => {
      await change('to be archived');
      await new Promise((resolve) => setTimeout(resolve, 5));
      const argv = [
        'audit',
        'archive',
        '--before',
        new Date().toISOString(),
        '--to',
        '/tmp/atrium-never-written.ndjson',
      ];
      await assert.rejects(
        runInServer(atrium.instance, { argv }, () => undefined),
        /not all entries from before .* are in AUDIT_PUSH yet/,
      );
    });
  });
}

it('An entry whose transaction is under way while later ones are pushed is pushed after them', async (t) => {
  const bucket = await openBucket();
  const env = { AUDIT_PUSH: 's3://siem', AUDIT_CREDENTIAL: 'root/siem', BUCKET_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const atrium = await openTestServer({ env });
  t.after(() => atrium.close());
  if (atrium.instance.db.capabilities.isBuiltIn) return t.skip('one transaction at a time');
  const aws = { accessKeyID: 'S3RVER', secretAccessKey: 'S3RVER' };
  const spec = { name: 'siem', type: 'Aws', endpoint: bucket.server.url, aws };
  assert.equal((await atrium.as('root')('POST', '/user/credentials', spec)).status, 201);
  const { db } = atrium.instance;
  const copy = `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, request_id,
      previous_hash, hash) select now(), 0, actor_id, actor_name, action, object_type, object_id, request_id, hash,
      sha256(hash) from audit order by id desc limit 1 returning id`;
  let pushing: Promise<void> | undefined;
  await db.transaction(async (query) => {
    assert.equal((await query(statement(copy))).length, 1);
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'later', permissions: [] });
    assert.equal(made.status, 201, made.text);
    pushing = atrium.instance.features.pushAudit(new Date());
    await new Promise((resolve) => setTimeout(resolve, 2500));
    assert.equal(bucket.objects.size, 0, 'nothing is pushed past it');
  });
  await pushing;
  const pushed = [...bucket.objects.values()].flatMap((body) => body.trimEnd().split('\n'));
  const rows = await db.query<{ id: bigint }>(statement('select id from audit order by id'));
  assert.deepEqual(
    pushed.map((line) => JSON.parse(line).metadata.uid),
    rows.map(({ id }) => String(id)),
  );
});

it('A push without a credential, or not to a bucket, is rejected before the server starts', () => {
  for (const [env, message] of [
    [{ AUDIT_PUSH: 's3://siem' }, /AUDIT_PUSH needs AUDIT_CREDENTIAL/],
    [{ AUDIT_PUSH: '/srv/siem', AUDIT_CREDENTIAL: 'root/a' }, /AUDIT_PUSH must be such as s3:/],
    [{ AUDIT_PUSH_MINUTES: '0' }, /AUDIT_PUSH_MINUTES must be a whole number from 1 to 1440/],
  ] as const) {
    assert.throws(() => readConfig(env), message, JSON.stringify(env));
  }
});
