import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { itLong } from '../support/checks/long.ts';
import { openCliProcess } from '../support/server/cli.ts';
import { ANY_DRIVER, migrated, newPlace } from '../support/server/db.ts';

const run = promisify(execFile);
const program = resolve('bin/atrium.mjs');

/** A Node on this system that is older than the pinned one, if there is one. */
const older = ['/usr/local/bin/node', '/usr/bin/node', 'node'].find((node) => {
  const { stdout, status } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 && Number(stdout.slice(1).split('.')[0]) < 24;
});
const skip = older === undefined && 'no Node older than 24 is installed to hand over from';

describe('bin/atrium.mjs', () => {
  it('bin/atrium.mjs hands over from an older Node to the pinned one', { skip }, async () => {
    const { stdout } = await run(older ?? '', [program, 'version']);
    assert.match(stdout, /^node: +v24\./m);
    const odd = '$(id) & "two words" %PATH%';
    await assert.rejects(
      run(older ?? '', [program, odd]),
      ({ code, stderr }: { code?: number; stderr?: string }) => code === 2 && !!stderr?.includes(JSON.stringify(odd)),
    );
  });

  itLong('bin/atrium.mjs runs server commands with the settings of the server', async () => {
    const { dataDir, databaseUrl = '' } = await newPlace(ANY_DRIVER, migrated());
    const cli = openCliProcess({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
    const secret = await cli('marketplace secret add cloudB');
    assert.equal(secret.code, 0, secret.stderr);
    const [text = '', said] = secret.stdout.split('\n');
    assert.match(said ?? '', /^active on every replica/);
    const retired = await cli('marketplace secret retire cloudB --secret-stdin', { input: `${text}\n` });
    assert.deepEqual([retired.code, retired.stdout], [0, 'retired the secret\n'], retired.stderr);
    const wrong = await cli('marketplace secret add cloudA');
    assert.match(wrong.stderr, /marketplace A has no secret/);
    assert.notEqual(wrong.code, 0);
    assert.deepEqual(readdirSync(cli.home), [], 'no database is created where the command is typed');
  });

  itLong('A secret of a marketplace is read from a file or standard input, and refused if there is none', async () => {
    const { dataDir, databaseUrl = '' } = await newPlace(ANY_DRIVER, migrated());
    const cli = openCliProcess({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
    writeFileSync(`${cli.home}/secret.txt`, 'from a file\r\n');
    const added = await cli('marketplace secret add cloudB --secret-file secret.txt');
    assert.match(added.stdout, /^active on every replica/, 'a secret that is known already is not printed');
    const again = await cli('marketplace secret retire cloudB --secret-file -', { input: 'from a file' });
    assert.deepEqual([again.code, again.stdout], [0, 'retired the secret\n'], again.stderr);
    for (const [line, input, says] of [
      ['retire cloudB --secret-stdin', 'unknown', /no such secret was added here/],
      ['retire cloudB --secret-stdin', '\n', /the secret is empty/],
      ['retire cloudB', '', /this is not a terminal; add --secret-stdin or --secret-file FILE/],
      ['add cloudB --secret-file nowhere.txt', '', /no such file/],
    ] as const) {
      const refused = await cli(`marketplace secret ${line}`, { input });
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, says);
    }
  });

  itLong('bin/atrium.mjs reads files from where npm was started, and settings from the clone', async () => {
    const { dataDir, databaseUrl = '' } = await newPlace(ANY_DRIVER, migrated());
    const cli = openCliProcess({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_CALLER_DIR: '' });
    const caller = `${cli.home}/elsewhere`;
    mkdirSync(caller);
    writeFileSync(`${caller}/secret.txt`, 'from elsewhere');
    writeFileSync(`${caller}/roles.yaml`, 'kind: Nothing\n');
    // The program starts in the folder of the clone, as under npm.
    const env = { ATRIUM_CALLER_DIR: caller };
    const added = await cli('marketplace secret add cloudB --secret-file secret.txt', { env });
    assert.match(added.stdout, /^active on every replica/, added.stderr);
    const saved = await cli('backup b.tar.gz', { env });
    assert.equal(saved.code, 0, saved.stderr);
    assert.deepEqual(readdirSync(caller).sort(), ['b.tar.gz', 'roles.yaml', 'secret.txt']);
    const checked = await cli('restore b.tar.gz --check', { env });
    assert.match(checked.stdout, /b\.tar\.gz is complete/, checked.stderr);
    const refused = await cli('role apply -f roles.yaml', { env: { ...env, ATRIUM_URL: 'http://127.0.0.1:1' } });
    assert.doesNotMatch(refused.stderr, /no such file/);
    assert.notEqual(refused.code, 0);
    assert.deepEqual(readdirSync(cli.home), ['elsewhere']);
  });

  it('bin/atrium.mjs can be run through a symbolic link', async () => {
    const cli = openCliProcess();
    symlinkSync(program, `${cli.home}/atrium`);
    const { stdout } = await run(process.execPath, [`${cli.home}/atrium`, 'version'], { env: { HOME: cli.home } });
    assert.match(stdout, /^program: +v\d/);
  });
});
