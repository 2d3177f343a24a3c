import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createKeys } from '../../src/base/keys.ts';
import { CREDENTIAL_SPECS } from '../../src/credentials/credentials.store.ts';
import type { Db } from '../../src/db/db.ts';
import { createRingStore } from '../../src/vault/ring.store.ts';
import { openRing, type Ring, type RingStore } from '../../src/vault/ring.ts';
import { createRotationStore } from '../../src/vault/rotation.store.ts';
import { createRotation, type RotationStore } from '../../src/vault/rotation.ts';
import { createVaultStore } from '../../src/vault/vault.store.ts';
import { createVault, type Vault } from '../../src/vault/vault.ts';
import { ANY_DRIVER, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const ADD_OWNER = statement(`insert into account (kind, name) values ('user', $1) returning id`);
const ADD = statement(`insert into credential (owner_id, name, type, sealed) values ($1, $2, 'x', $3) returning id`);
const GET = statement('select sealed from credential where id = $1');
const SET = statement('update credential set sealed = $2 where id = $1');
const KEYS = statement('select id, owner_id, retired_at is null as is_current from data_key order by id');
const RING = statement(`select id from ring_key where purpose = 'vault' order by id`);

describe('Rotation of keys', () => {
  const root = createKeys(randomBytes(32));
  const owners: bigint[] = [];
  const values: { id: bigint; owner: bigint; name: string }[] = [];
  let db: Db;
  let ringStore: RingStore;
  let ring: Ring;
  let store: RotationStore;
  let vault: Vault;
  const rotation = (changes: Partial<RotationStore> = {}, knowsAllColumns = true) =>
    createRotation({
      store: { ...store, ...changes },
      ringStore,
      ring,
      root,
      columns: [CREDENTIAL_SPECS],
      knowsAllColumns,
    });
  const one = async <T>(which: typeof ADD, parameters: readonly unknown[]) => {
    const [row] = await db.query<Record<string, T>>(which, [...parameters]);
    return Object.values(row ?? {})[0] ?? assert.fail('no row');
  };
  const keys = async () => await db.query<{ id: bigint; owner_id: bigint; is_current: boolean }>(KEYS);
  const opens = async ({ id, owner, name }: (typeof values)[number]) =>
    (await vault.open(owner, `credential ${name}`, await one<Buffer>(GET, [id]))).toString() === name;
  before(async () => {
    db = await openTestDb(ANY_DRIVER, {}, migrated());
    ringStore = createRingStore(db);
    ring = await openRing(ringStore, root);
    store = createRotationStore(db);
    vault = createVault(createVaultStore(db), ring);
    for (const name of ['ann', 'bob']) {
      const owner = await one<bigint>(ADD_OWNER, [name]);
      owners.push(owner);
      for (const name of ['a', 'b']) {
        const sealed = await vault.seal(owner, `credential ${name}`, name);
        values.push({ owner, name, id: await one<bigint>(ADD, [owner, name, sealed]) });
      }
    }
  });
  after(() => db.close());

  it('A release that does not know every sealed column changes nothing', async () => {
    const before = [await keys(), await db.query(RING)];
    await assert.rejects(rotation({}, false)(), { kind: 'conflict' });
    const both = { next: createKeys(randomBytes(32)), retireOldRoot: true };
    await assert.rejects(rotation()(both), { kind: 'invalid' });
    assert.deepEqual([await keys(), await db.query(RING)], before);
  });

  it('A rotation gives every owner a new key and counts owners and values', async () => {
    const before = await keys();
    assert.deepEqual(await rotation()(), { owners: 2, values: 4, damaged: [] });
    const later = await keys();
    assert.deepEqual(
      later.map(({ owner_id, is_current }) => [owner_id, is_current]),
      [...owners.map((owner) => [owner, false]), ...owners.map((owner) => [owner, true])],
    );
    assert.deepEqual(
      later.slice(0, 2).map(({ id }) => id),
      before.map(({ id }) => id),
    );
    for (const value of values) assert.ok(await opens(value));
  });

  it('Retired keys are kept for an hour, and then deleted unless a value is sealed with them', async () => {
    await rotation()({ now: new Date(Date.now() + HOUR_MS - MINUTE_MS) });
    const kept = await keys();
    assert.equal(kept.length, 6);
    assert.equal((await db.query(RING)).length, 3);
    // A server that had read the key before it was retired stores its value only now.
    const [value] = values;
    assert.ok(value);
    const late = createVault(
      { ...createVaultStore(db), currentKey: () => createVaultStore(db).key(kept[0]?.id ?? 0n) },
      ring,
    );
    await db.query(SET, [value.id, await late.seal(value.owner, `credential ${value.name}`, value.name)]);
    const unread = { stale: async () => [] };
    await rotation(unread)({ now: new Date(Date.now() + HOUR_MS + MINUTE_MS) });
    const left = (await keys()).map(({ id }) => id);
    assert.ok(left.includes(kept[0]?.id ?? 0n), 'the key that the value needs');
    assert.ok(!left.includes(kept[1]?.id ?? 0n), 'a key that nothing needs');
    assert.ok(await opens(value));
    assert.equal((await rotation()()).values, 4);
    for (const value of values) assert.ok(await opens(value));
  });

  it('A value that is written during a rotation is not replaced by the older one', async () => {
    const [value] = values;
    assert.ok(value);
    const stale: RotationStore['stale'] = async (...all) => {
      const found = await store.stale(...all);
      // Between reading and writing, its user stores another value.
      const newer = await vault.seal(value.owner, `credential ${value.name}`, 'newer');
      if (found.length > 0) await db.query(SET, [value.id, newer]);
      return found;
    };
    assert.deepEqual(await rotation({ stale })(), { owners: 2, values: 3, damaged: [] });
    const sealed = await one<Buffer>(GET, [value.id]);
    assert.equal((await vault.open(value.owner, `credential ${value.name}`, sealed)).toString(), 'newer');
    await db.query(SET, [value.id, await vault.seal(value.owner, `credential ${value.name}`, value.name)]);
  });

  it('Owners and values are taken in batches of which none is left out', async () => {
    const asked: bigint[] = [];
    const small: Partial<RotationStore> = {
      ownersBehind: (ringKeyId) => store.ownersBehind(ringKeyId, 1),
      stale: async (column, afterId) => {
        asked.push(afterId);
        return await store.stale(column, afterId, 1);
      },
    };
    assert.deepEqual(await rotation(small)(), { owners: 2, values: 4, damaged: [] });
    assert.deepEqual(asked, [0n, ...values.map(({ id }) => id)]);
    assert.equal((await store.stale(CREDENTIAL_SPECS, 0n, 10)).length, 0);
    for (const value of values) assert.ok(await opens(value));
  });

  it('A damaged value is named and left as it is, and the others get the new key', async () => {
    const [, damaged] = values;
    assert.ok(damaged);
    const right = await one<Buffer>(GET, [damaged.id]);
    const wrong = Buffer.from(right);
    wrong[30] = (wrong[30] ?? 0) ^ 1;
    await db.query(SET, [damaged.id, wrong]);
    assert.deepEqual(await rotation()(), { owners: 2, values: 3, damaged: [`credential ${damaged.id}`] });
    assert.deepEqual(await one<Buffer>(GET, [damaged.id]), wrong);
    await db.query(SET, [damaged.id, right]);
    assert.ok(await opens(damaged));
    assert.equal(await store.reseal(CREDENTIAL_SPECS, []), 0);
  });

  it('A rotation that cannot write fails, although it reads the next values meanwhile', async () => {
    let batches = 0;
    const lost: Partial<RotationStore> = {
      stale: async (column, afterId) => {
        // Time enough for the write before to fail.
        if (batches++ > 0) await new Promise((resolve) => setImmediate(resolve));
        return await store.stale(column, afterId, 1);
      },
      reseal: () => Promise.reject(new Error('the database is gone')),
    };
    await assert.rejects(rotation(lost)(), /the database is gone/);
    assert.ok((await rotation()()).values >= 4);
  });
});
