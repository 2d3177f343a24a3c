import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/services/postgres.ts';
import { measureCold, rowsOfCold } from './authz/cold.ts';
import { createStealMeter } from './support/server.ts';

/** npm run bench -- cold: the first answers about large organizations, in several new processes. */
const write = (line: string) => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
try {
  const stolen = createStealMeter();
  const rows = rowsOfCold(await measureCold(await postgres.createDatabase(), folder));
  write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  write(`medians; ${(100 * stolen()).toFixed(1)} % taken by the host.\n`);
  write('| what | measured | spread | target |\n|---|---|---|---|');
  for (const row of rows) write(`| ${row.join(' | ')} |`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
