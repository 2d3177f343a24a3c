import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { openTestServer, TEST_KEY } from '../support/server/server.ts';
import { startFakeOpenFga } from '../support/services/fake-openfga.ts';
import { lacksOpenFga, OPENFGA_VERSION, type OpenFgaProcess, runOpenFga } from '../support/services/openfga-process.ts';
import { allowedTo } from '../support/world/authz.ts';

/** Whoever says who may do what, or depends on it at once. They run as they are, but OpenFGA decides. */
const FILES = [
  'test/api/authz/allowed-batch.test.ts',
  'test/api/authz/allowed-single.test.ts',
  'test/api/authz/escalation.test.ts',
  'test/api/authz/explain-sentences.test.ts',
  'test/api/authz/explain.test.ts',
  'test/api/authz/list-objects.test.ts',
  'test/api/authz/model.test.ts',
  'test/api/authz/owners.test.ts',
  'test/api/authz/query-token.test.ts',
  'test/api/http/freshness.test.ts',
  'test/api/clusters/my-clusters.test.ts',
  'test/api/organizations/members.test.ts',
  'test/api/roles/roles.test.ts',
  'test/contract/matrix.test.ts',
];
const PAIRS = COUNTS.openFgaPairs;
const FAULT_PAIRS = COUNTS.openFgaFaultPairs;
const FAULTS = COUNTS.openFgaFaults;
const running = new Set<ChildProcess>();

describe(`The authorization suite with OpenFGA ${OPENFGA_VERSION} as the engine`, { skip: lacksOpenFga() }, () => {
  let server: OpenFgaProcess;
  before(async () => {
    server = await runOpenFga();
  });
  after(() => {
    for (const child of running) child.kill('SIGKILL');
    server.stop();
  });

  for (const driver of COUNTED_DRIVERS) {
    it(`The store contains what the rows say, and nothing else, on ${driver}`, async () => {
      const atrium = await openTestServer({ driver, env: { OPENFGA_URL: server.url } });
      const verified = (await atrium.instance.features.openFga?.sync(true))?.verified;
      await atrium.close();
      assert.deepEqual([verified?.missing, verified?.surplus], [0, 0]);
      assert.ok(verified !== undefined && verified.tuples > 20);
    });
  }

  it('Rules that are called without a request see what was written before', async () => {
    const quick = await startFakeOpenFga();
    const atrium = await openTestServer({ env: { OPENFGA_URL: quick.url, ATRIUM_KEY: TEST_KEY } });
    const held = await allowedTo(atrium, 'ann', 'cluster', atrium.world.clusters.prod?.id ?? 0n);
    await atrium.close();
    await quick.close();
    assert.ok(held.includes('can_remove'));
  });

  for (const file of FILES) it(`Every test of ${file} passes`, () => runFile(file));

  it(`Another process never answers with stale permissions over ${PAIRS} role changes`, () =>
    runFile('test/api/authz/freshness.test.ts', { TEST_PAIRS: String(PAIRS) }));

  it(`None of three replicas grants what was revoked, in ${FAULT_PAIRS} pairs during ${FAULTS} faults`, () =>
    runFile('test/long/stale.test.ts', { TEST_PAIRS: String(FAULT_PAIRS), TEST_FAULTS: String(FAULTS) }));

  /** In a process of its own, because the setting is read once. */
  async function runFile(file: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
    const env = { ...rest, TEST_OPENFGA_URL: server.url, TEST_SIZE: 'everyday', ...settings };
    const args = ['--test', '--test-reporter=tap', '--test-isolation=none', file];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text = `${text}${chunk}`.slice(-20_000);
      });
    }
    const [code] = await once(child, 'close');
    running.delete(child);
    progress(`${file} ended with ${code}`);
    assert.equal(code, 0, text);
    assert.match(text, /^# pass [1-9]/m);
  }
});
