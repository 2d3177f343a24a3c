import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { startServer } from '../support/process.ts';

const run = promisify(execFile);
const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed';

it('every example of docs/clients.md works against a demo server', { skip }, async () => {
  const folder = temporaryFolder();
  const { databaseUrl = '' } = await newPlace('postgres');
  const server = startServer({ args: ['demo'], env: { DATA_DIR: join(folder, 'data'), DATABASE_URL: databaseUrl } });
  const address = await server.listening();
  const guide = readFileSync('docs/clients.md', 'utf8');
  const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines]) => lines);
  const examples = blocks.join('\n').replaceAll('http://127.0.0.1:3000', address);
  assert.ok(examples.split('\ncurl ').length > 10);
  const script = `set -eu\nnode() { "${process.execPath}" "$@"; }\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${examples}`;
  const { stdout } = await run('bash', ['-c', script], { cwd: folder });
  assert.match(stdout, /"login":"ann"/);
  assert.match(stdout, /"sha1":"atr_/);
  assert.match(stdout, /link: .*rel="next"/i);
  server.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
});
