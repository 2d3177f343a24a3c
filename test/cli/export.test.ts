import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { cliAs, openCli, openCliProcess } from '../support/server/cli.ts';
import { openTestServer } from '../support/server/server.ts';

it('atrium audit --export writes every entry as a line, oldest first', async () => {
  const atrium = await openTestServer();
  for (let count = 0; count < 60; count++) {
    await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: `role ${count}`, permissions: [] });
  }
  const { code, stdout } = await cliAs(atrium, 'ann')('audit --export');
  const entries = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const listed = JSON.parse((await cliAs(atrium, 'ann')('audit --all --json')).stdout);
  const few = JSON.parse((await cliAs(atrium, 'ann')('audit --limit 3 --json')).stdout);
  await atrium.close();
  assert.equal(code, 0);
  assert.ok(entries.length > 60);
  assert.deepEqual(listed.toReversed(), entries);
  assert.deepEqual(few, listed.slice(0, 3));
});

it('atrium audit verify checks an exported file without a server, and notices every change', async (t) => {
  const atrium = await openTestServer();
  const folder = mkdtempSync(join(tmpdir(), 'atrium-audit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { stdout } = await cliAs(atrium, 'ann')('audit --export');
  const whole = (await cliAs(atrium, 'root')('audit --export --site')).stdout;
  const ocsf = (await cliAs(atrium, 'ann')('audit --export --ocsf')).stdout;
  const csv = (await cliAs(atrium, 'ann')('audit --all -o csv')).stdout;
  await atrium.close();
  const cli = openCli();
  const misused = await cli('audit --ocsf');
  assert.deepEqual([misused.code, misused.stderr.includes('--ocsf is for --export')], [2, true], misused.stderr);
  const verify = async (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return await cli(`audit verify ${join(folder, name)}`);
  };
  const lines = stdout.trimEnd().split('\n');
  const intact = await verify('whole.ndjson', stdout);
  assert.equal(intact.code, 0, intact.stderr);
  assert.match(intact.stdout, new RegExp(`^intact: ${lines.length} entries of organization \\d+, each follows`));
  assert.equal((await verify('site.ndjson', whole)).code, 0);
  const changed = await verify('changed.ndjson', stdout.replace('"name":"ann"', '"name":"eve"'));
  assert.deepEqual([changed.code, /^broken at entry \d+/.test(changed.stdout)], [1, true], changed.stdout);
  const gap = await verify('gap.ndjson', [...lines.slice(0, 1), ...lines.slice(2)].join('\n'));
  assert.equal(gap.code, 1);
  const rest = await verify('rest.ndjson', lines.slice(1).join('\n'));
  assert.match(rest.stdout, /does not begin with the first entry: verify an export without filters/);
  // As a SIEM writes it again: other members first, and spaces.
  const parsed = ocsf
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rewritten = parsed.map(({ unmapped, time, ...event }) => JSON.stringify({ time, ...event, unmapped }, null, 1));
  const copy = await verify('ocsf.ndjson', rewritten.map((line) => line.replace(/\n */g, ' ')).join('\n'));
  assert.equal(copy.stdout, intact.stdout);
  const forged = await verify('forged.ndjson', ocsf.replace('\\"name\\":\\"ann\\"', '\\"name\\":\\"eve\\"'));
  assert.deepEqual([forged.code, /^broken at entry \d+/.test(forged.stdout)], [1, true], forged.stdout);
  const other = await verify('other.txt', 'hello');
  assert.deepEqual([other.code, /is not an export of the audit log/.test(other.stderr)], [2, true]);
  assert.match(csv, /^time,actor,on_behalf_of,action,object_type,object_id,object,summary,request_id\r\n/);
  assert.equal(csv.trimEnd().split('\r\n').length, lines.length + 1);
});

it('atrium audit --export keeps the received lines and exits with 3 when the connection breaks', async () => {
  const server = createServer((_request, reply) => {
    reply.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    reply.write('{"id":1}\n{"id":', () => reply.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const env = { ATRIUM_URL: `http://127.0.0.1:${port}`, ATRIUM_TOKEN: 'secret-token', ATRIUM_ORG: 'acme' };
  const cli = openCliProcess(env);
  const { code, stdout, stderr } = await cli('audit --export');
  server.close();
  assert.equal(stdout, '{"id":1}\n');
  assert.match(stderr, /^atrium: cannot reach http:\/\/127.0.0.1:\d+: ECONNRESET/);
  assert.doesNotMatch(stderr, /secret-token/);
  assert.equal(code, 3);
});

it('atrium profile export writes a file of its own, once a minute, and overwrites none', async (t) => {
  const atrium = await openTestServer();
  const folder = mkdtempSync(join(tmpdir(), 'atrium-profile-'));
  t.after(async () => {
    await atrium.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [file, other] = [join(folder, 'mine.tar.gz'), join(folder, 'other.tar.gz')];
  const { code, stdout, stderr } = await cliAs(atrium, 'cat')(`profile export ${file}`);
  assert.equal(code, 0, stderr);
  const archive = readFileSync(file);
  assert.equal(stdout, `wrote ${archive.length} bytes to ${file}\n`);
  assert.match(gunzipSync(archive).toString('latin1'), /"login":"cat"/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const again = await cliAs(atrium, 'cat')(`profile export ${file}`);
  assert.deepEqual([again.code, again.stderr], [1, `atrium: ${file} exists already\n`]);
  assert.deepEqual(readFileSync(file), archive);
  const soon = await cliAs(atrium, 'cat')(`profile export ${other}`);
  assert.equal(soon.code, 1);
  assert.match(soon.stderr, /your data is exported once a minute/);
  assert.equal(existsSync(other), false, 'no empty file stays');
  const nowhere = await cliAs(atrium, 'cat')(`profile export ${join(folder, 'no', 'folder')}`);
  assert.deepEqual([nowhere.code, /ENOENT/.test(nowhere.stderr)], [1, true], nowhere.stderr);
});
