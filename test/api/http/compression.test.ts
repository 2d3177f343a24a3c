import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sql } from '../../../src/db/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** What is on the wire: fetch would decompress it. */
function get(atrium: TestServer, path: string, accepted?: string, method = 'GET'): Promise<Received> {
  const headers = {
    Authorization: `token ${atrium.world.users.ann?.token}`,
    ...(accepted !== undefined && { 'Accept-Encoding': accepted }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${atrium.url}/api/v1${path}`, { method, headers }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(pieces) });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const MODEL = '/authz/model';

describe('Compression of responses', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('JSON of at least 1 KB is compressed as the client accepts it, and says what it depends on', async () => {
    const plain = await get(atrium, MODEL);
    assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'Accept-Encoding']);
    assert.ok(plain.bytes.length > 4096);
    const known = [
      ['gzip', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['deflate', undefined],
      ['gzip;q=0', undefined],
      ['identity', undefined],
    ] as const;
    for (const [accepted, expected] of known) {
      const { headers, bytes } = await get(atrium, MODEL, accepted);
      assert.equal(headers['content-encoding'], expected, accepted);
      assert.equal(headers['content-length'], String(bytes.length), accepted);
      const text = expected === 'br' ? brotliDecompressSync(bytes) : expected === 'gzip' ? gunzipSync(bytes) : bytes;
      assert.deepEqual(text, plain.bytes, accepted);
      if (expected) assert.ok(bytes.length < plain.bytes.length / 4, `${bytes.length} of ${plain.bytes.length} bytes`);
    }
  });

  it('A short response, an error and a response with an ETag stay as they are', async () => {
    for (const path of ['/version', '/no/such/path', '/user']) {
      const { headers } = await get(atrium, path, 'gzip');
      assert.equal(headers['content-encoding'], undefined, path);
    }
    const roles = Array.from({ length: 3 }, (_, index) => `clone-${index}-${'x'.repeat(60)}`);
    for (const name of roles) {
      const description = 'y'.repeat(400);
      const body = { name, description, permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
      assert.equal((await atrium.as('ann')('POST', '/authz/roles?org=acme', body)).status, 201);
    }
    const tagged = await get(atrium, '/authz/roles/export?org=acme&format=json', 'gzip');
    assert.ok(tagged.headers.etag !== undefined && tagged.bytes.length > 1024, `${tagged.bytes.length} bytes`);
    assert.equal(tagged.headers['content-encoding'], undefined);
  });

  it('HEAD announces what GET would send, and a list in pieces is compressed while it is sent', async () => {
    const head = await get(atrium, MODEL, 'gzip', 'HEAD');
    assert.deepEqual([head.status, head.headers['content-encoding'], head.bytes.length], [200, 'gzip', 0]);

    // More than a thousand clusters are sent in several pieces.
    const insert = `insert into cluster (name, uid, owner_id) select 'c' || n, gen_random_uuid()::text, $1
                    from generate_series(1, 2500) n`;
    await atrium.instance.db.query(sql('test.compressedClusters', insert), [atrium.world.users.ann?.id]);
    const plain = await get(atrium, '/user/clusters');
    const { headers, bytes } = await get(atrium, '/user/clusters', 'gzip');
    assert.equal(headers['content-encoding'], 'gzip');
    assert.ok(bytes.length * 8 < plain.bytes.length, `${bytes.length} of ${plain.bytes.length} bytes`);
    assert.equal(JSON.parse(gunzipSync(bytes).toString()).length, JSON.parse(plain.bytes.toString()).length);
  });

  it('A client that leaves in the middle of a compressed list does no harm', async () => {
    const headers = { Authorization: `token ${atrium.world.users.ann?.token}`, 'Accept-Encoding': 'gzip' };
    await new Promise<void>((resolve) => {
      const sent = request(`${atrium.url}/api/v1/user/clusters`, { headers }, (response) => {
        response.once('data', () => response.destroy());
        response.once('close', resolve);
      });
      sent.on('error', () => undefined);
      sent.end();
    });
    assert.equal((await get(atrium, MODEL, 'gzip')).status, 200);
  });

  it('A handler that waits answers once: the permissions on many objects with a limited token', async () => {
    const objects = Array.from({ length: 500 }, () => ({
      objectType: 'cluster',
      objectID: Number(atrium.world.clusters.prod?.id),
    }));
    const { make } = tokenCalls(atrium);
    const { sha1 } = await make('ann', { name: 'limited', scopes: ['all'], limits: { organizations: ['acme'] } });
    const ask = (accepted: string) =>
      fetch(`${atrium.url}/api/v1/authz/objects/allowed-permissions?org=acme`, {
        method: 'POST',
        headers: {
          Authorization: `token ${sha1}`,
          'Content-Type': 'application/json',
          'Accept-Encoding': accepted,
        },
        body: JSON.stringify(objects),
      });
    const plain = await (await ask('identity')).text();
    assert.ok(JSON.parse(plain)[499].allowedPermissions.length > 0);
    for (const accepted of ['gzip', 'br']) {
      const answer = await ask(accepted);
      assert.deepEqual([answer.status, answer.headers.get('content-encoding')], [200, accepted]);
      assert.equal(await answer.text(), plain);
    }
  });

  it('RESPONSE_COMPRESSION=false leaves it to the proxy', async () => {
    const other = await openTestServer({ env: { RESPONSE_COMPRESSION: 'false' } });
    try {
      const { headers } = await get(other, MODEL, 'gzip, br');
      assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined]);
    } finally {
      await other.close();
    }
  });
});
