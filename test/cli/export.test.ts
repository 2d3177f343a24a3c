import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { cliAs, openCliProcess } from '../support/cli.ts';
import { openTestServer } from '../support/server.ts';

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
