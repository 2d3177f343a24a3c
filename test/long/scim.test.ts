import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { progress } from '../support/checks/progress.ts';
import { DRIVERS, temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacksPython, pythonTools, run } from '../support/services/foreign-tools.ts';
import { newScimToken } from '../support/world/scim.ts';

const PACKAGES = ['scim2-tester==0.5.2', 'scim2-client[httpx2]==0.13.2', 'scim2-models==0.12.3'];

/** Random values come from one seed, so that a run can be repeated: SCIM_SEED=7 npm run test:long -- scim */
const SEED = process.env.SCIM_SEED ?? '42';
const PROGRAM = 'test/long/scim/check.py';

interface Check {
  readonly status: string;
  readonly title: string;
  readonly reason: string;
}

for (const driver of DRIVERS) {
  describe(`SCIM on ${driver} as scim2-tester sees it, with seed ${SEED}`, { skip: lacksPython() }, () => {
    let atrium: TestServer;
    before(async () => {
      // Its addresses are in domains that it makes up.
      atrium = await openTestServer({ driver, env: { SCIM_DOMAINS: 'acme:*', RATE_LIMIT: '0' } });
    });
    after(() => atrium.close());

    it(`Every check of scim2-tester passes on ${driver}`, async () => {
      const bin = await pythonTools('scim2', PACKAGES);
      const token = await newScimToken(atrium, 'acme', 'ann');
      const folder = temporaryFolder();
      const secret = join(folder, 'token');
      writeFileSync(secret, token, { mode: 0o600 });
      const args = [PROGRAM, `${atrium.url}/scim/v2`, secret, SEED];
      const { code, output } = await run(join(bin, 'python'), args);
      assert.equal(code, 0, output.slice(-4000));
      const checks = JSON.parse(output.slice(output.indexOf('['))) as readonly Check[];
      const counts = Map.groupBy(checks, ({ status }) => status);
      const tally = [...counts].map(([status, all]) => `${status} ${all.length}`).join(', ');
      progress(`scim2-tester on ${driver}: ${tally}`);
      const bad = checks.filter(({ status }) => !['SUCCESS', 'COMPLIANT', 'ACCEPTABLE', 'SKIPPED'].includes(status));
      assert.deepEqual(bad, []);
      assert.ok((counts.get('SUCCESS')?.length ?? 0) >= 30, tally);
    });
  });
}
