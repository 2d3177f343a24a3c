import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { openDb } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { runMigrate } from '../../src/operations/commands/migrate-command.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';
import { TEST_KEY } from '../support/server/server.ts';

/** What `atrium migrate --dry-run` prints for a database that has had the first of three migrations. */
async function printed(second: string): Promise<string[]> {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('0001_one.sql', 'create table a (id int); create table ring_key (id int);');
  const place = await newPlace();
  const db = await openDb({ ...place, say: () => undefined });
  await migrate(db, folder, () => undefined).finally(() => db.close());
  write('0002_two.sql', `${second}\nselect 1;`);
  write('0003_three.sql', '-- compatible-from: 1\nselect 1;');
  write('tuples.sql', 'create view tuple as select id from a;');
  const lines: string[] = [];
  const env = { DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY };
  const terminal = { say: (line: string) => void lines.push(line), complain: () => undefined, isTerminal: false };
  await runMigrate(['--dry-run'], readConfig(env), terminal, folder);
  return lines;
}

const STEPS = ['would apply 0002_two.sql', 'would apply 0003_three.sql', 'would apply tuples.sql'];

describe('atrium migrate --dry-run', () => {
  it('Says that servers of the previous release must be stopped if they cannot run on the new schema', async () => {
    const advice = 'stop every server of the previous release first: it cannot run after 0002_two.sql';
    assert.deepEqual(await printed(''), [...STEPS, advice]);
  });

  it('Says nothing of it for a rolling upgrade', async () => {
    assert.deepEqual(await printed('-- compatible-from: 1'), STEPS);
  });
});
