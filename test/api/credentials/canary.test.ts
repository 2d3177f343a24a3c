import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Db } from '../../../src/db/db.ts';
import { writtenDatabaseFiles } from '../../support/checks/written-files.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { serve } from '../../support/services/clouds.ts';

const canary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`;

/** A secret in every form in which it might have leaked. */
function forms(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  // The base64 text of a secret depends on its offset modulo three, so all three forms are included.
  const encoded = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return Buffer.from(text.slice(offset === 0 ? 0 : 4, -4));
  });
  return [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(bytes.toString('utf16le')), ...encoded];
}

async function dump(db: Db): Promise<string> {
  const tables = await db.query<{ name: string }>(
    statement(
      `select format('%I', table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    ),
  );
  const texts = await Promise.all(
    tables.map(({ name }) => db.query<{ row: string }>(statement(`select t::text as row from ${name} t`))),
  );
  assert.ok(texts.length > 15 && texts.flat().length > 100, 'the tables were found');
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

for (const driver of API_DRIVERS) {
  describe(`Secrets on ${driver}`, () => {
    it(`Secrets appear in no log, metric, table, error response or database file on ${driver}`, async () => {
      const secrets = Object.fromEntries(
        ['created', 'changed', 'refused', 'deep', 'broken', 'taken', 'unknown', 'cloud', 'google', 'kept'].map(
          (name) => [name, canary(name)],
        ),
      ) as Record<string, string>;
      const { created, changed, refused, deep, broken, taken, unknown, cloud, google, kept } = secrets;
      const began = Date.now();
      const atrium = await openTestServer({ driver, env: { BUCKET_ALLOWED_NETWORKS: '127.0.0.1' } });
      const ann = atrium.as('ann');
      const chatty = await serve((_request, response) => {
        response.writeHead(403).end(`<Error><Code>No</Code><Message>${cloud}</Message></Error>`);
      });
      const aws = (name: string, secretAccessKey = '') => ({
        name,
        type: 'Aws',
        aws: { accessKeyID: 'A', secretAccessKey },
      });
      const refusals: string[] = [];
      const call = async (
        status: number,
        method: string,
        path: string,
        body?: unknown,
        headers?: Record<string, string>,
      ) => {
        const answer = await ann(method, path, body, headers);
        assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
        if (status >= 400) refusals.push(`${JSON.stringify([...answer.headers])}${answer.text}`);
        return answer;
      };

      await call(201, 'POST', '/user/credentials', aws('c', created));
      assert.ok((await call(200, 'GET', '/user/credentials/c')).text.includes(created ?? '-'));
      assert.ok((await call(200, 'GET', '/user/credentials')).text.includes(created ?? '-'));
      await call(204, 'PUT', '/user/credentials/', aws('c', changed));
      await call(412, 'PUT', '/user/credentials', aws('c', refused), { 'If-Match': '"0"' });
      await call(422, 'POST', '/user/credentials', aws('not a name', refused));
      await call(422, 'POST', '/user/credentials', `{"name":"d","a":${'['.repeat(70)}"${deep}"${']'.repeat(70)}}`);
      await call(422, 'POST', '/user/credentials', `{"name":"b","a":"${broken}"`);
      await call(422, 'POST', '/user/credentials', `{"${broken}":1,"${broken}x":2,"name":"\\u0000"}`);
      await call(422, 'POST', '/user/credentials', aws('c', taken));
      await call(404, 'PUT', '/user/credentials', aws('nobody', unknown));
      await call(201, 'POST', '/user/credentials', { ...aws('cloud', cloud), endpoint: chatty.url });
      await call(502, 'POST', '/user/clouds/aws/buckets', { cluster_uid: 'x', credential: 'cloud' });
      const serviceAccount = JSON.stringify({ client_email: 'a@b', private_key: google });
      await call(201, 'POST', '/user/credentials', { name: 'g', googleCloud: { projectID: 'p', serviceAccount } });
      await call(422, 'POST', '/user/clouds/gcp/buckets', { cluster_uid: 'x', credential: 'g' });
      await call(201, 'POST', '/user/credentials', aws('k', kept));
      await atrium.instance.db.query(
        statement(`update credential set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where name = 'k'`),
      );
      await call(500, 'GET', '/user/credentials/k');
      await call(500, 'GET', '/user/credentials');
      assert.equal((await atrium.instance.rotateKeys()).damaged.length, 1);
      await call(204, 'DELETE', '/user/credentials/c');

      const places: Record<string, Buffer> = {
        logs: Buffer.from(atrium.logged()),
        metrics: Buffer.from(await atrium.instance.metrics.registry.metrics()),
        refusals: Buffer.from(refusals.join('\n')),
        tables: Buffer.from(await dump(atrium.instance.db)),
      };
      assert.ok(places.logs?.includes('cannot be opened'), 'the fault was logged');
      await atrium.close();
      if (driver === 'pglite') {
        for (const path of writtenDatabaseFiles(atrium.dataDir, began)) places[path] = readFileSync(path);
      }
      for (const [name, secret] of Object.entries(secrets)) {
        for (const form of forms(secret)) {
          for (const [place, bytes] of Object.entries(places))
            assert.ok(!bytes.includes(form), `${name} is in ${place}`);
        }
      }
    });
  });
}
