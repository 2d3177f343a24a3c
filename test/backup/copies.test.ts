import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { newCopy, removeAbandonedCopies } from '../../src/operations/backup/copies.ts';
import { temporaryFolder } from '../support/server/db.ts';

const HOUR = 3_600_000;

describe('Database copies for backups', () => {
  it('Only abandoned backup copies are removed from the data directory', async () => {
    const dataDir = temporaryFolder();
    const { folder } = await newCopy(dataDir, async (place) => mkdirSync(place));
    const foreign = ['backup-2026', 'backup-abcdef', '.atrium-backup-copy-abc123', '.atrium-backup-copy-of-mine'];
    for (const name of foreign) {
      mkdirSync(join(dataDir, name));
      writeFileSync(join(dataDir, name, 'precious'), 'x');
    }
    // A link with one of our names to a folder outside the data directory.
    const { folder: elsewhere } = await newCopy(temporaryFolder(), async (place) => mkdirSync(place));
    symlinkSync(elsewhere, join(dataDir, '.atrium-backup-copy-LINKED'));
    const past = new Date(Date.now() - HOUR);
    for (const name of readdirSync(dataDir)) utimesSync(join(dataDir, name), past, past);
    utimesSync(folder, new Date(), new Date());

    removeAbandonedCopies(dataDir, Date.now());
    assert.ok(existsSync(folder), 'somebody may still come for it');
    removeAbandonedCopies(dataDir, Date.now() + HOUR);
    assert.deepEqual(readdirSync(dataDir).sort(), [...foreign, '.atrium-backup-copy-LINKED'].sort());
    for (const name of foreign) assert.deepEqual(readdirSync(join(dataDir, name)), ['precious']);
    assert.ok(existsSync(join(elsewhere, 'pglite')));
  });

  it('A backup copy is kept while it is being written, however long that takes', async () => {
    const dataDir = temporaryFolder();
    const { folder } = await newCopy(dataDir, async (place) => {
      mkdirSync(place);
      removeAbandonedCopies(dataDir, Date.now() + HOUR);
      assert.ok(existsSync(place));
    });
    assert.deepEqual(readdirSync(dataDir), [basename(folder)]);
  });

  it('A failed backup copy leaves nothing behind', async () => {
    const dataDir = temporaryFolder();
    const failing = newCopy(dataDir, async () => Promise.reject(new Error('disk full')));
    await assert.rejects(failing, /disk full/);
    assert.deepEqual(readdirSync(dataDir), []);
  });
});
