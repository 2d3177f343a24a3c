import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createKeys } from '../../src/base/keys.ts';
import type { Slot } from '../../src/vault/ring.ts';
import { findRootKey, type RootKeyStore, rejectEmptyDatabase } from '../../src/vault/root-key.ts';
import { newSecret, sealWith, secretOf } from '../../src/vault/sealing.ts';

const KEY = randomBytes(32);

/** What a database says that has a ring for this root key, or none. */
function database({ ring, isEmpty = ring === undefined }: { ring?: Buffer; isEmpty?: boolean }): RootKeyStore {
  const keys = ring && createKeys(ring);
  const slots: Slot[] = keys
    ? [{ ringKeyId: 1n, purpose: 'house', isCurrent: true, wrapped: wrap(keys.derive('ring')) }]
    : [];
  return {
    hasRing: async () => ring !== undefined,
    isEmpty: async () => isEmpty,
    slots: async (root) => (root === keys?.fingerprint ? slots : []),
  };
}

function wrap(key: Buffer): Buffer {
  return sealWith(secretOf(key), 1n, 'ring key', newSecret().export());
}

function folder(files: Readonly<Record<string, Buffer>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'atrium-root-key-'));
  for (const [name, key] of Object.entries(files)) writeFileSync(join(path, name), `${key.toString('base64')}\n`);
  return path;
}

describe('Finding the root key', () => {
  it('A key file belongs to a database that is not empty; otherwise it is rejected', async () => {
    const dataDir = folder({ 'atrium.key': KEY });
    const { keys, keep } = await findRootKey(database({ ring: KEY }), undefined, dataDir);
    assert.equal(keys.fingerprint, createKeys(KEY).fingerprint);
    keep();
    assert.ok(!existsSync(join(dataDir, 'atrium.key.new')));
    await assert.rejects(findRootKey(database({}), undefined, dataDir), /atrium\.key is the key of a deployment/);
    // Accounts without a ring: a database of an early release, whose ring is created now.
    await findRootKey(database({ isEmpty: false }), undefined, dataDir);
  });

  it('A configured key starts a new deployment whatever the folder holds, and is written nowhere', async () => {
    const dataDir = folder();
    const { keys, keep } = await findRootKey(database({}), KEY, dataDir);
    keep();
    assert.equal(keys.fingerprint, createKeys(KEY).fingerprint);
    assert.ok(!existsSync(join(dataDir, 'atrium.key')));
    const other = folder({ 'atrium.key': randomBytes(32) });
    assert.equal((await findRootKey(database({}), KEY, other)).keys.fingerprint, keys.fingerprint);
  });

  it('A folder without a key file is no reason to reject an empty database', async () => {
    await rejectEmptyDatabase(database({}), folder());
    await rejectEmptyDatabase(database({ ring: KEY }), folder({ 'atrium.key': KEY }));
    await assert.rejects(rejectEmptyDatabase(database({}), folder({ 'atrium.key': KEY })), /database is empty/);
  });

  it('A new deployment gets a new key, which becomes the key file when the database knows it', async () => {
    const dataDir = folder();
    const { keys, keep } = await findRootKey(database({}), undefined, dataDir);
    assert.ok(!existsSync(join(dataDir, 'atrium.key')));
    keep();
    const kept = Buffer.from(readFileSync(join(dataDir, 'atrium.key'), 'utf8'), 'base64');
    assert.equal(createKeys(kept).fingerprint, keys.fingerprint);
  });

  it('A proposed key is accepted if it opens the ring of the database, and rejected otherwise', async () => {
    const right = folder({ 'atrium.key.new': KEY });
    const { keys } = await findRootKey(database({ ring: KEY }), undefined, right);
    assert.equal(keys.fingerprint, createKeys(KEY).fingerprint);
    const missing = /the root key of this database is missing/;
    await assert.rejects(findRootKey(database({ ring: randomBytes(32) }), undefined, right), missing);
    await assert.rejects(findRootKey(database({ ring: KEY }), undefined, folder()), missing);
  });
});
