import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { openDb } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { runMigrate } from '../../src/operations/commands/migrate-command.ts';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { TEST_KEY } from '../support/server.ts';

/** What `atrium migrate --dry-run` prints for a database that has had this many migrations. */
async function printedAt(count: number): Promise<string[]> {
  const folder = temporaryFolder();
  const files = readdirSync('migrations').filter((name) => /^\d{4}_/.test(name));
  for (const name of files.sort().slice(0, count)) cpSync(join('migrations', name), join(folder, name));
  const place = await newPlace();
  const db = await openDb({ ...place, say: () => undefined });
  await migrate(db, folder, () => undefined).finally(() => db.close());
  const lines: string[] = [];
  const env = { DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY };
  const terminal = { say: (line: string) => void lines.push(line), complain: () => undefined, isTerminal: false };
  await runMigrate(['--dry-run'], readConfig(env), terminal);
  return lines;
}

describe('atrium migrate --dry-run', () => {
  it('Says that servers of the previous release must be stopped if they cannot run on the new schema', async () => {
    const lines = await printedAt(17);
    assert.match(lines[0] ?? '', /^would apply 0018_/);
    const advice = /^stop every server of the previous release first: it cannot run after 0018_\w+\.sql$/;
    assert.match(lines.at(-1) ?? '', advice);
  });

  it('Says nothing of it for a rolling upgrade', async () => {
    const lines = await printedAt(40);
    assert.ok(lines.length > 0);
    for (const line of lines) assert.match(line, /^would apply /);
  });
});
