import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { lacksPython, pythonTools, run } from '../support/services/foreign-tools.ts';
import { openMarketplace } from '../support/world/marketplace.ts';

/** To repeat a run: SCHEMATHESIS_SEED=<its seed> npm run test:long -- schemathesis */
const SEED = process.env.SCHEMATHESIS_SEED ?? '42';
const PACKAGES = ['schemathesis==4.32.5', 'hypothesis==6.170.15'];
const EXCEPTIONS = resolve('test/long/schemathesis/exceptions.py');
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
  'negative_data_rejection',
  'positive_data_acceptance',
  'missing_required_header',
  'unsupported_method',
  'allow_header_conformance',
];
const PROGRESS_MS = 60_000;
/** Only in hosted deployments. */
const ELSEWHERE = ['/api/v1/user/hosted-token', '/.well-known/jwks.json'];
/** Its response does not end by itself. It has its own tests. */
const ENDLESS = ['/api/v1/events'];
/** Everybody has another view of the same server. The first ones are the most telling. */
const PEOPLE = ['root', 'ann', 'nobody'].slice(0, COUNTS.schemathesisPeople);

interface Report {
  readonly operations: { readonly selected: number; readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
}

describe(`The API as Schemathesis sees it, with seed ${SEED}`, { skip: lacksPython() }, () => {
  let total = 0;

  for (const person of PEOPLE) {
    it(`Every response to what it sends as ${person} is as documented`, async (test) => {
      const place = temporaryFolder();
      // Each has a server of their own: root deletes people and tokens, and the next one would be nobody.
      const atrium = await openMarketplace({
        env: { RATE_LIMIT: '0', AUTH_FAILURES: '1000000', CLOUD_A_ALLOW: '127.0.0.1', LOG_LEVEL: 'error' },
      });
      test.after(() => atrium.close());
      const bin = await pythonTools('schemathesis', PACKAGES);
      const token = atrium.world.users[person]?.token;
      const used = join(place, 'used.txt');
      const report = join(place, 'report.json');
      const args = [
        ...['run', resolve('openapi/atrium.json'), '--url', atrium.url, '--seed', SEED, '--workers', '1'],
        ...['--phases', 'examples,coverage,fuzzing', '--max-examples', String(COUNTS.schemathesisExamples)],
        ...['--checks', CHECKS.join(','), '--continue-on-failure', '--no-shrink', '--no-color', '--warnings', 'off'],
        ...['--generation-database', 'none', '--report', 'json', '--report-json-path', report],
        ...[...ELSEWHERE, ...ENDLESS].flatMap((path) => ['--exclude-path', path]),
        ...(token === undefined ? [] : ['--header', `Authorization: token ${token}`]),
      ];
      const began = performance.now();
      const told = () => progress(`as ${person} for ${Math.round((performance.now() - began) / 1000)} s`);
      const timer = setInterval(told, PROGRESS_MS);
      const { output } = await run(join(bin, 'st'), args, {
        cwd: place,
        env: { ...process.env, SCHEMATHESIS_HOOKS: EXCEPTIONS, EXCEPTIONS_USED: used, PERSON: person },
      }).finally(() => clearInterval(timer));
      assert.ok(existsSync(report), output.slice(-4000));
      const { operations, test_cases: cases, failures, errors } = JSON.parse(readFileSync(report, 'utf8')) as Report;
      total += cases.generated;
      progress(`${cases.generated} cases as ${person}; exceptions: ${tally(used)}`);
      assert.deepEqual({ failures, errors }, { failures: [], errors: [] }, output.slice(0, 20_000));
      assert.equal(operations.tested, operations.selected);
      // Whoever is no longer signed in has tested nothing but that.
      if (token !== undefined) assert.equal((await atrium.as(person)('GET', '/user')).status, 200);
    });
  }

  it(`It has tried at least ${COUNTS.schemathesisCases} cases`, () => {
    process.stdout.write(`# ${total} cases of Schemathesis, with seed ${SEED}\n`);
    assert.ok(total >= COUNTS.schemathesisCases, `only ${total} cases`);
  });
});

/** How often each exception was needed, such as `lenient_paging 30`. */
function tally(file: string): string {
  const names = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const counts = Map.groupBy(names, (name) => name);
  return [...counts].map(([name, all]) => `${name} ${all.length}`).join(', ') || 'none';
}
