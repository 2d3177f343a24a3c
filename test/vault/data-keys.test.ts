import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { DataKey } from '../../src/vault/data-key.ts';
import type { RingKey } from '../../src/vault/ring.ts';
import { newSecret } from '../../src/vault/sealing.ts';
import { createVault, type VaultStore } from '../../src/vault/vault.ts';

const UNAVAILABLE = new AppError('unavailable', 'the database does not answer');
const DAMAGED = new AppError('internal', 'key 1 of the ring is damaged');

describe('Data keys', () => {
  const wrapping: RingKey = { id: 1n, secret: newSecret() };
  const ring = { current: async () => wrapping, byId: async () => wrapping };
  let keys: DataKey[];
  /** The IDs of the keys that were read to open a value. */
  let read: bigint[];
  let faults: number;
  let store: VaultStore;
  const vaultWith = (changes: Partial<VaultStore & typeof ring> = {}, maxKeys?: number) =>
    createVault({ ...store, ...changes }, { ...ring, ...changes }, () => void faults++, maxKeys);
  beforeEach(() => {
    [keys, read, faults] = [[], [], 0];
    store = {
      currentKey: async (ownerId) => keys.find((key) => key.ownerId === ownerId),
      key: async (id) => {
        read.push(id);
        return keys.find((key) => key.id === id);
      },
      addKey: async (key) => {
        const added = { ...key, id: BigInt(keys.length + 1) };
        keys.push(added);
        return added;
      },
    };
  });

  it('An owner gets one key at the first value, and it is opened once', async () => {
    const vault = vaultWith();
    const [one, two] = [await vault.seal(7n, 'a', 'first'), await vault.seal(7n, 'b', 'second')];
    assert.equal(keys.length, 1);
    assert.equal((await vault.open(7n, 'a', one)).toString(), 'first');
    assert.deepEqual(read, []);
    const other = vaultWith();
    assert.equal((await other.open(7n, 'a', one)).toString(), 'first');
    assert.equal((await other.open(7n, 'b', two)).toString(), 'second');
    assert.deepEqual(read, [1n]);
  });

  it('At most that many keys are remembered, and the one that was opened first makes room', async () => {
    const sealed = await Promise.all([7n, 8n, 9n].map(async (owner) => await vaultWith().seal(owner, 'a', 'x')));
    const vault = vaultWith({}, 2);
    const open = async (at: number) => await vault.open(BigInt(7 + at), 'a', sealed[at] ?? Buffer.alloc(0));
    for (const at of [0, 1, 0, 1]) await open(at);
    assert.deepEqual(read, [1n, 2n]);
    for (const at of [2, 1, 2]) await open(at);
    assert.deepEqual(read, [1n, 2n, 3n]);
    await open(0);
    await open(2);
    assert.deepEqual(read, [1n, 2n, 3n, 1n]);
  });

  it('A database that does not answer says nothing about a value, so it is no fault of the value', async () => {
    const sealed = await vaultWith().seal(7n, 'a', 'x');
    const unavailable = { key: () => Promise.reject(UNAVAILABLE) };
    await assert.rejects(vaultWith(unavailable).open(7n, 'a', sealed), (error) => error === UNAVAILABLE);
    assert.equal(faults, 0);
  });

  it('A value whose key is damaged or gone is a fault that names the value and counts', async () => {
    const sealed = await vaultWith().seal(7n, 'a', 'x');
    const broken = [
      vaultWith({ byId: () => Promise.reject(DAMAGED) }),
      vaultWith({ key: async () => undefined }),
      vaultWith({ key: () => Promise.reject(new Error('surprise')) }),
    ];
    for (const [index, vault] of broken.entries()) {
      await assert.rejects(vault.open(7n, 'a', sealed), {
        kind: 'internal',
        message: 'the sealed a of account 7 cannot be opened',
      });
      assert.equal(faults, index + 1);
    }
  });

  it('After a rotation new values are sealed with the new key, and old values still open', async () => {
    const vault = vaultWith();
    const old = await vault.seal(7n, 'a', 'x');
    const rotated = vaultWith({ currentKey: async () => undefined });
    const fresh = await rotated.seal(7n, 'a', 'x');
    assert.deepEqual([old.readBigInt64BE(1), fresh.readBigInt64BE(1)], [1n, 2n]);
    assert.equal((await rotated.open(7n, 'a', old)).toString(), 'x');
  });
});
