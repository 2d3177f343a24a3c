import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { progress } from '../support/checks/progress.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { npmTools, run } from '../support/services/foreign-tools.ts';
import { freePort } from '../support/services/ports.ts';
import { EXCEPTIONS } from './mcp/exceptions.ts';

/** The newest release, and the newest that knows the stateless revision. */
const RUNS = [
  ['0.1.16', '2025-06-18'],
  ['0.1.16', '2025-11-25'],
  ['0.2.0-alpha.12', '2025-11-25'],
  ['0.2.0-alpha.12', '2026-07-28'],
] as const;
/** What must be among the checks that pass, so that a suite that finds no server does not look like success. */
const REQUIRED = {
  '2025-06-18': ['server-initialize', 'ping', 'tools-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'localhost-host-rebinding-rejected'],
  '2026-07-28': [
    ...['sep-2575-server-implements-discover', 'sep-2575-http-server-error-jsonrpc-id', 'tools-list'],
    ...['sep-2575-request-meta-invalid-missing-meta', 'sep-2575-http-server-header-mismatch-400'],
    ...['sep-2549-tools-list-caching-hints', 'localhost-host-rebinding-rejected'],
  ],
};

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

describe('The conformance suite of the Model Context Protocol', () => {
  let atrium: TestServer;
  let relay: http.Server;
  let address: string;
  const used = new Set<RegExp>();
  before(async () => {
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    atrium = await openTestServer({ env: { RATE_LIMIT: '0', BASE_URL: address } });
    relay = withToken(atrium.url, String(atrium.world.users.ann?.token)).listen(port, '127.0.0.1');
  });
  after(async () => {
    relay.closeAllConnections();
    relay.close();
    await atrium.close();
  });

  for (const [release, revision] of RUNS) {
    it(`Release ${release} finds nothing wrong in revision ${revision}`, async () => {
      const checks = await checksOf(release, revision);
      const passed = checks.filter(({ status }) => status === 'SUCCESS').map(({ id }) => id);
      assert.deepEqual(
        REQUIRED[revision].filter((id) => !passed.includes(id)),
        [],
        `passed: ${passed.join(', ')}`,
      );
      const failed = checks.filter(({ status }) => status === 'FAILURE');
      const excused = failed.filter(({ errorMessage = '' }) => {
        const exception = EXCEPTIONS.find(({ says }) => says.test(errorMessage));
        if (exception) used.add(exception.says);
        return exception !== undefined;
      });
      progress(`${release}, ${revision}: ${passed.length} checks passed, ${excused.length} do not concern this server`);
      const wrong = failed.filter((check) => !excused.includes(check));
      assert.deepEqual(
        wrong.map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
        [],
      );
    });
  }

  it('Every exception is one that the suite still needs', () => {
    assert.deepEqual(
      EXCEPTIONS.filter(({ says }) => !used.has(says)),
      [],
    );
  });

  async function checksOf(release: string, revision: string): Promise<Check[]> {
    const folder = await npmTools(`mcp-conformance-${release}`, [`@modelcontextprotocol/conformance@${release}`]);
    const program = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const place = temporaryFolder();
    const options = ['--url', `${address}/mcp`, '--suite', 'all', '--spec-version', revision, '-o', place];
    const { output } = await run(process.execPath, [program, 'server', ...options]);
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
    assert.ok(files.length > 0, output.slice(-2000));
    return files.flatMap((file) => JSON.parse(readFileSync(join(place, file), 'utf8')) as Check[]);
  }
});

/** The suite sends no token. */
function withToken(url: string, token: string): http.Server {
  return http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const sent = http.request(`${url}${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.once('error', () => response.destroy());
    request.pipe(sent);
  });
}
