import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { createKeys } from '../../src/base/keys.ts';
import { type Db, only } from '../../src/db/db.ts';
import { createRingStore } from '../../src/vault/ring.store.ts';
import { openRing, opensSlots, type RingStore, renewRing } from '../../src/vault/ring.ts';
import { ANY_DRIVER, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

const CURRENT = statement(`select id from ring_key where purpose = 'vault' and retired_at is null`);
const IDS = statement('select id from ring_key order by id');
const HOUSE = statement(`select id from ring_key where purpose = 'house'`);

describe('Key ring', () => {
  const root = createKeys(randomBytes(32));
  const next = createKeys(randomBytes(32));
  let db: Db;
  let store: RingStore;
  const ids = async (which = IDS) => (await db.query<{ id: bigint }>(which)).map(({ id }) => id);
  before(async () => {
    db = await openTestDb(ANY_DRIVER, {}, migrated());
    store = createRingStore(db);
  });
  after(() => db.close());

  it('Two first starts at once create one ring, with a key for each purpose', async () => {
    const rings = await Promise.all([openRing(store, root), openRing(store, root), openRing(store, root)]);
    assert.equal((await ids()).length, 2);
    const derived = new Set(rings.map(({ keys }) => keys.derive('token').toString('hex')));
    assert.equal(derived.size, 1);
    await openRing(store, root);
    assert.equal((await ids()).length, 2);
  });

  it('New data keys are wrapped by the newest vault key, which a ring that was opened before finds, too', async () => {
    const ring = await openRing(store, root);
    const before = await ring.current();
    assert.deepEqual([before.id], await ids(CURRENT));
    await renewRing(store, root);
    const [renewed = 0n] = await ids(CURRENT);
    assert.notEqual(renewed, before.id);
    const read = await (await openRing(store, root)).byId(renewed);
    assert.ok((await ring.byId(renewed)).secret.equals(read.secret));
    assert.equal((await ring.current()).id, renewed);
    assert.ok((await ring.byId(before.id)).secret.equals(before.secret));
  });

  it('A ring that was opened before a rotation opens a data key that names the new vault key', async () => {
    const ring = await openRing(store, root);
    await renewRing(store, root);
    const [renewed = 0n] = await ids(CURRENT);
    assert.equal((await ring.byId(renewed)).id, renewed);
    await assert.rejects(ring.byId(999_999n), /does not open key 999999 of the ring/);
  });

  it('Rotations at once leave one vault key that is current', async () => {
    const before = (await ids()).length;
    await Promise.all(Array.from({ length: 4 }, () => renewRing(store, root)));
    assert.equal((await ids()).length, before + 4);
    assert.deepEqual(await ids(CURRENT), (await ids()).slice(-1));
  });

  it('Without a next root key, a rotation renews no root; with one, both open every key', async () => {
    assert.deepEqual(await store.roots(), [root.fingerprint]);
    await renewRing(store, root, next);
    assert.deepEqual(await store.roots(), [root.fingerprint, next.fingerprint].sort());
    const [old, later] = [await openRing(store, root), await openRing(store, next)];
    for (const id of await ids()) assert.ok((await later.byId(id)).secret.equals((await old.byId(id)).secret));
    assert.deepEqual(later.keys.derive('token'), old.keys.derive('token'));
    assert.equal((await later.current()).id, (await old.current()).id);
    await assert.rejects(renewRing(store, root), (error: AppError) => error.kind === 'invalid');
    await renewRing(store, root, next);
    await store.keepOnly(next.fingerprint);
    assert.deepEqual(await store.roots(), [next.fingerprint]);
    await assert.rejects(openRing(store, root), /created with another root key/);
    assert.ok((await openRing(store, next)).keys.derive('token').equals(old.keys.derive('token')));
    await renewRing(store, next, root);
    await store.keepOnly(root.fingerprint);
  });

  it('A root key opens its own slots only if there are some and none is damaged', async () => {
    const slots = (await store.slots(root.fingerprint)).map((slot) => ({ ...slot, root: root.fingerprint }));
    const wrapped = Buffer.from(slots[0]?.wrapped ?? assert.fail());
    wrapped[30] = (wrapped[30] ?? 0) ^ 1;
    const foreign = { ringKeyId: 1n, wrapped, root: next.fingerprint };
    assert.equal(opensSlots(root, slots), true);
    assert.equal(opensSlots(root, [foreign, ...slots]), true);
    assert.equal(opensSlots(root, [foreign]), false);
    assert.equal(opensSlots(root, []), false);
    assert.equal(opensSlots(root, [...slots, { ...foreign, root: root.fingerprint }]), false);
  });

  it('A damaged key of the ring stops the start and is named', async () => {
    const [house = 0n] = await ids(HOUSE);
    const flip = statement(
      `update key_slot set wrapped = set_byte(wrapped, 30, get_byte(wrapped, 30) # 1) where ring_key_id = ${house}`,
    );
    await db.query(flip);
    await assert.rejects(
      openRing(store, root),
      (error: AppError) => error.kind === 'internal' && error.message.startsWith(`key ${house} of the ring is damaged`),
    );
    await db.query(flip);
  });

  it('The secrets of the deployment survive the loss of every vault key, which nothing else replaces', async () => {
    const before = (await openRing(store, root)).keys.derive('token');
    await db.query(
      statement(`delete from key_slot where ring_key_id in (select id from ring_key where purpose = 'vault')`),
    );
    const ring = await openRing(store, root);
    assert.deepEqual(ring.keys.derive('token'), before);
    await assert.rejects(
      ring.current(),
      (error: AppError) =>
        error instanceof AppError && error.kind === 'internal' && /current vault key/.test(error.message),
    );
  });
});

describe('What the database says before the first migration', () => {
  it('A database without tables has no ring and is empty', async () => {
    const db = await openTestDb(ANY_DRIVER);
    const store = createRingStore(db);
    assert.deepEqual([await store.hasRing(), await store.isEmpty()], [false, true]);
    await db.close();
  });

  it('A migrated database is empty until it has a ring or an account', async () => {
    const db = await openTestDb(ANY_DRIVER, {}, migrated());
    const store = createRingStore(db);
    assert.deepEqual([await store.hasRing(), await store.isEmpty()], [false, true]);
    await db.query(statement(`insert into account (kind, name) values ('user', 'ann')`));
    assert.deepEqual([await store.hasRing(), await store.isEmpty()], [false, false]);
    await db.query(statement('delete from account'));
    await openRing(store, createKeys(randomBytes(32)));
    assert.deepEqual([await store.hasRing(), await store.isEmpty()], [true, false]);
    assert.equal(
      only(await db.query<{ count: number }>(statement('select count(*)::int as count from key_slot'))).count,
      2,
    );
    await db.close();
  });
});
