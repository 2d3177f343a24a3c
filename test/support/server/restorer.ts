import { inspect } from '../../../src/operations/backup/inspection.ts';
import { restore } from '../../../src/operations/backup/restore.ts';
import { contentOf, openPlace } from './backup.ts';
import { statement } from './statement.ts';

/**
 * Restores in its own process, over a database to which it first adds an account and whose content it prints. It
 * reports when it is in the middle or about to commit, so that it can be killed there.
 */
const [file = '', stopAt = '', dataDir = '', databaseUrl = ''] = process.argv.slice(2);
const db = await openPlace({ dataDir, ...(databaseUrl && { databaseUrl }) });
await db.query(statement(`insert into account (kind, name) values ('user', 'before-the-restore')`));
process.stdout.write(`${JSON.stringify(await contentOf(db))}\n`);
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
