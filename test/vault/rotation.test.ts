import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { createKeys } from '../../src/base/keys.ts';
import { createLog } from '../../src/base/log.ts';
import { CREDENTIAL_SPECS } from '../../src/credentials/credentials.store.ts';
import { sql } from '../../src/db/db.ts';
import { type Instance, openInstance } from '../../src/instance.ts';
import { createRotationStore } from '../../src/vault/rotation.store.ts';
import { itLong } from '../support/checks/long.ts';
import { migrated, newPlace, type Place } from '../support/server/db.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';

const HOUR_MS = 3_600_000;
const KEYS = sql('test.rotation.keys', 'select id, retired_at is null as present from data_key order by id');
const PRESENT = sql(
  'test.rotation.present',
  'select owner_id as "ownerId", ring_key_id as "ringKeyId", wrapped from data_key where retired_at is null',
);
const RING = sql('test.rotation.ring', `select count(*)::int as count from ring_key where purpose = 'vault'`);

for (const driver of COUNTED_DRIVERS) {
  describe(`Key rotation on ${driver}`, () => {
    const oldRoot = randomBytes(32);
    const newRoot = randomBytes(32);
    let place: Place;
    let atrium: Instance;
    let ann = { id: 0n, name: 'ann', requestId: 'test' };
    const open = (root: Buffer) => {
      const env = {
        DATA_DIR: place.dataDir,
        DATABASE_URL: place.databaseUrl ?? '',
        ATRIUM_KEY: root.toString('base64'),
        LIMIT_CREDENTIAL_BYTES_PER_USER: String(64 * 1024 * 1024),
      };
      return openInstance(readConfig({ ...env, PORT: '0', ADMIN_PORT: '0' }), {
        log: createLog('error'),
        say: () => undefined,
      });
    };
    const read = async (from = atrium) => (await from.features.credentials.get(ann.id, 'a')).spec;
    before(async () => {
      place = await newPlace(driver, migrated());
      atrium = await open(oldRoot);
      ann = { ...ann, id: await atrium.features.users.create({ name: 'ann', email: 'ann@example.com' }) };
      await atrium.features.credentials.create(ann, '{"name":"a","v":"secret-1"}');
      await atrium.features.credentials.create(ann, '{"name":"b","v":"secret-2"}');
    });
    after(() => atrium.close(0));

    it(`Key rotation creates a new key for every owner and re-encrypts all values on ${driver}`, async () => {
      const before = await atrium.db.query<{ id: bigint }>(KEYS);
      assert.deepEqual(await atrium.rotateKeys(), { owners: 1, values: 2, damaged: [] });
      assert.equal(await read(), '{"name":"a","v":"secret-1"}');
      const keys = await atrium.db.query<{ id: bigint; present: boolean }>(KEYS);
      assert.deepEqual(
        keys.map(({ present }) => present),
        [false, true],
      );
      assert.equal(keys[0]?.id, before[0]?.id);
    });

    it(`Key rotation leaves credentials and their versions unchanged on ${driver}`, async () => {
      const before = await atrium.features.credentials.get(ann.id, 'a');
      await atrium.rotateKeys();
      assert.deepEqual(await atrium.features.credentials.get(ann.id, 'a'), before);
    });

    it(`Key rotation deletes retired keys after an hour and keeps the keys in use on ${driver}`, async () => {
      await atrium.rotateKeys({ now: new Date(Date.now() + 2 * HOUR_MS) });
      assert.equal((await atrium.db.query(KEYS)).length, 1);
      assert.deepEqual(await atrium.db.query(RING), [{ count: 1 }]);
      assert.equal(await read(), '{"name":"a","v":"secret-1"}');
    });

    it(`Key rotation keeps keys that it has just retired when the clock of the server is ahead on ${driver}`, async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 24 * HOUR_MS });
      await atrium.rotateKeys();
      assert.equal((await atrium.db.query(KEYS)).length, 2);
    });

    it(`Key rotation skips and reports a damaged value and keeps its key on ${driver}`, async () => {
      const flip = sql(
        'test.rotation.flip',
        `update credential set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1)
        where name = 'b' returning id`,
      );
      const [row] = await atrium.db.query<{ id: bigint }>(flip);
      const { values, damaged } = await atrium.rotateKeys({ now: new Date(Date.now() + 2 * HOUR_MS) });
      assert.deepEqual([values, damaged], [1, [`credential ${row?.id}`]]);
      await atrium.db.query(flip);
      assert.equal((await atrium.features.credentials.get(ann.id, 'b')).spec, '{"name":"b","v":"secret-2"}');
    });

    it(`The root key is replaced in two steps without invalidating tokens on ${driver}`, async () => {
      const { text } = await atrium.identity.tokens.issue({ accountId: ann.id, name: 't', scopes: ['all'] });
      await atrium.rotateKeys({ next: createKeys(newRoot) });
      await assert.rejects(atrium.rotateKeys(), /ATRIUM_NEXT_KEY/);
      assert.equal(await read(), '{"name":"a","v":"secret-1"}');
      // On PGlite, only one instance at a time can open the folder. On PostgreSQL, both serve side by side.
      if (driver === 'pglite') await atrium.close(0);
      const next = await open(newRoot);
      assert.equal(await read(next), '{"name":"a","v":"secret-1"}');
      if (driver === 'postgres') {
        await next.features.credentials.update(ann, '{"name":"a","v":"secret-3"}', () => undefined);
        assert.equal(await read(atrium), '{"name":"a","v":"secret-3"}');
        await atrium.close(0);
      }
      atrium = next;
      await atrium.rotateKeys({ retireOldRoot: true });
      const url = await atrium.listen();
      const answer = await fetch(`${url}/api/v1/user`, { headers: { Authorization: `token ${text}` } });
      assert.equal(answer.status, 200);
      await answer.text();
      if (driver === 'pglite') await atrium.close(0);
      await assert.rejects(open(oldRoot), /created with another root key/);
      if (driver === 'pglite') atrium = await open(newRoot);
      assert.match(await read(), /secret-[13]/);
    });

    itLong(`Key rotation processes large values in small batches and misses none on ${driver}`, async () => {
      const large = (text: string) => `{"name":"${text}","v":"${text.repeat(1_250_000)}"}`;
      const names = Array.from({ length: 8 }, (_, at) => `x${at}`);
      for (const name of names) await atrium.features.credentials.create(ann, large(name));
      await atrium.rotateKeys();
      const store = createRotationStore(atrium.db);
      // As if none of them had been sealed again: the keys are retired once more, and new ones are created.
      await store.replaceKeys(await atrium.db.query<{ ownerId: bigint; ringKeyId: bigint; wrapped: Buffer }>(PRESENT));
      const batch = await store.stale(CREDENTIAL_SPECS, 0n, 1000);
      assert.ok(batch.length > 5 && batch.length < 10, `${batch.length} of 10 in one batch`);
      const rest = await store.stale(CREDENTIAL_SPECS, batch.at(-1)?.id ?? 0n, 1000);
      assert.equal(batch.length + rest.length, 10);
    });
  });
}
