import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { startServer } from '../support/process.ts';

it('every command of docs/operating.md works beside a demo server', async () => {
  const { dataDir } = await newPlace('pglite');
  const env = { DATA_DIR: dataDir, PORT: '0', ADMIN_PORT: '0' };
  const server = startServer({ args: ['demo'], env });
  await server.listening();
  const guide = readFileSync('docs/operating.md', 'utf8');
  const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines]) => lines).join('\n');
  const script = blocks
    .replaceAll('npm run --silent atrium --', `"${process.execPath}" src/cli.ts`)
    .replaceAll('/tmp/', `${join(temporaryFolder())}/`);
  assert.ok(script.split('src/cli.ts').length > 4);
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  assert.match(stdout, /^\d+ ok, \d+ warnings, 0 faults$/m);
  assert.match(stdout, /is whole: \d+ rows/);
  assert.match(stdout, /^applied .*0001_house\.sql$/m);
  server.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
});
