import { inspect } from '../../src/backup/inspection.ts';
import { restore } from '../../src/backup/restore.ts';
import { openDb } from '../../src/db/db.ts';

/** Restores in a process of its own, and says when it is in the middle of it or about to commit: so that it can be killed there. */
const [file = '', stopAt = '', dataDir = '', databaseUrl] = process.argv.slice(2);
const db = await openDb({ dataDir, databaseUrl: databaseUrl || undefined, say: () => undefined });
const { manifest } = await inspect(file);
await restore({
  db,
  file,
  manifest,
  replace: true,
  migrationsFolder: 'migrations',
  say: () => undefined,
  onProgress: ({ table }) => stop(table),
  beforeCommit: () => stop('commit'),
});
await db.close();

function stop(place: string): void {
  if (place !== stopAt) return;
  process.stdout.write('here\n');
  // Nothing more happens in this process until it is killed.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
