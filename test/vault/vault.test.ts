import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { createKeys } from '../../src/base/keys.ts';
import { type Db, sql } from '../../src/db/db.ts';
import { createRingStore } from '../../src/vault/ring.store.ts';
import { openRing } from '../../src/vault/ring.ts';
import { createVaultStore } from '../../src/vault/vault.store.ts';
import { createVault, type Sealed } from '../../src/vault/vault.ts';
import { DRIVERS, migrated, openTestDb } from '../support/server/db.ts';

const SECRET = 'canary-4fd1-secret';
const isFault = (error: unknown) => error instanceof AppError && error.kind === 'internal';

for (const driver of DRIVERS) {
  describe(`Vault on ${driver}`, () => {
    const root = createKeys(randomBytes(32));
    let db: Db;
    let faults = 0;
    const newVault = async (keys = root) =>
      createVault(createVaultStore(db), await openRing(createRingStore(db), keys), () => {
        faults++;
      });
    before(async () => {
      db = await openTestDb(driver, {}, migrated());
    });
    after(() => db.close());

    it(`Sealed values of any length can be opened again, also by another process, on ${driver}`, async () => {
      const vault = await newVault();
      for (const text of ['', SECRET, 'ü\u{1f511}\0', 'x'.repeat(300_000)]) {
        const sealed = await vault.seal(7n, 'credential:a', text);
        assert.ok(!sealed.includes(SECRET));
        assert.equal((await vault.open(7n, 'credential:a', sealed)).toString(), text);
        assert.equal((await (await newVault()).open(7n, 'credential:a', sealed)).toString(), text);
      }
    });

    it(`Sealing a value twice gives different results, and each owner has one key, on ${driver}`, async () => {
      const vault = await newVault();
      const [a, b] = [await vault.seal(7n, 'x', SECRET), await vault.seal(7n, 'x', SECRET)];
      assert.ok(!a.equals(b));
      await Promise.all([vault.seal(8n, 'x', SECRET), (await newVault()).seal(8n, 'x', SECRET)]);
      const keys = sql(
        'test.keys',
        'select owner_id, wrapped from data_key where owner_id in (7, 8) order by owner_id',
      );
      const rows = await db.query<{ owner_id: bigint; wrapped: Buffer }>(keys);
      assert.deepEqual(
        rows.map((row) => row.owner_id),
        [7n, 8n],
      );
    });

    it(`A data key that another one replaced under its ID, after a failover, is not used on ${driver}`, async () => {
      const owner = 4711n;
      const vault = await newVault();
      const lost = await vault.seal(owner, 'x', SECRET);
      const id = lost.readBigInt64BE(1);
      await db.query(sql('test.loseKey', 'delete from data_key where id = $1'), [id]);
      await db.query(sql('test.sameId', `select setval(pg_get_serial_sequence('data_key', 'id'), $1, false)`), [id]);
      // Another server creates the key of the owner, and it gets the same ID.
      const other = await newVault();
      const theirs = await other.seal(owner, 'x', SECRET);
      const ours = await vault.seal(owner, 'x', SECRET);
      assert.deepEqual([ours.readBigInt64BE(1), theirs.readBigInt64BE(1)], [id, id]);
      assert.equal((await other.open(owner, 'x', ours)).toString(), SECRET);
      assert.equal((await vault.open(owner, 'x', theirs)).toString(), SECRET);
      await assert.rejects(other.open(owner, 'x', lost), isFault);
    });

    it(`Every flipped bit and every truncation of a sealed value is detected on ${driver}`, async () => {
      const vault = await newVault();
      const sealed = await vault.seal(7n, 'credential:a', SECRET);
      const before = faults;
      let tried = 0;
      for (let bit = 0; bit < sealed.length * 8; bit++, tried++) {
        const flipped = Buffer.from(sealed);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        await assert.rejects(vault.open(7n, 'credential:a', flipped), isFault, `bit ${bit}`);
      }
      for (let length = 0; length < sealed.length; length++, tried++) {
        await assert.rejects(vault.open(7n, 'credential:a', sealed.subarray(0, length)), isFault);
      }
      assert.equal(faults - before, tried);
    });

    it(`A sealed value cannot be opened for another owner, name or kind on ${driver}`, async () => {
      const vault = await newVault();
      const sealed = await vault.seal(7n, 'credential:a', SECRET);
      await vault.seal(8n, 'credential:a', SECRET);
      const elsewhere: readonly (readonly [bigint, string, Sealed])[] = [
        [8n, 'credential:a', sealed],
        [0n, 'credential:a', sealed],
        [7n, 'credential:b', sealed],
        [7n, 'bus:a', sealed],
      ];
      for (const [owner, identity, value] of elsewhere) {
        await assert.rejects(vault.open(owner, identity, value), (error: AppError) => {
          assert.ok(isFault(error));
          assert.ok(!`${error.message}${error.cause}`.includes(SECRET));
          return true;
        });
      }
    });

    it(`A data key that was moved to another owner is detected on ${driver}`, async () => {
      const sealed = await (await newVault()).seal(9n, 'x', SECRET);
      await db.query(sql('test.steal', 'update data_key set owner_id = 10 where owner_id = 9'));
      await assert.rejects((await newVault()).open(10n, 'x', sealed), isFault);
    });

    it(`A root key other than the one the database was created with is rejected on ${driver}`, async () => {
      await assert.rejects(newVault(createKeys(randomBytes(32))), /created with another root key/);
    });

    it(`Derived keys stay the same across restarts on ${driver}`, async () => {
      const one = await openRing(createRingStore(db), root);
      const two = await openRing(createRingStore(db), root);
      assert.deepEqual(one.keys.derive('token'), two.keys.derive('token'));
      assert.notDeepEqual(one.keys.derive('token'), root.derive('token'));
    });
  });
}
