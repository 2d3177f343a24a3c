import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { writeJson } from '../../src/base/json.ts';
import { ANY_DRIVER, type Driver, temporaryFolder } from '../support/db.ts';
import { describeLong, itLong } from '../support/long.ts';
import { type ServerProcess, startServer, surroundings } from '../support/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server.ts';

const run = promisify(execFile);
const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed';
const ROOT = resolve('.');

interface Guide {
  readonly file: string;
  /** What the examples must have printed, so that a guide without output is noticed. */
  readonly said: readonly RegExp[];
  /** Starts so many processes that only the long suite runs it. */
  readonly isSlow?: boolean;
}

const GUIDES: readonly Guide[] = [
  { file: 'README.md', said: [/"version":"v\d/, /"login":"ann"/, /invalid username, password or token/] },
  {
    file: 'docs/quick-start.md',
    isSlow: true,
    said: [
      /signed in to .* as ann/,
      /yes +ann can_connect cluster:prod/,
      /not yet/,
      /1 to create, 0 to change/,
      /yes +bob can_view cluster:lab/,
      /nothing to change/,
      /lab .*Active/,
      /robot_ac?\.create|robot\.create/,
      /deleted initech/,
    ],
  },
  {
    file: 'docs/clients.md',
    said: [/"login":"ann"/, /"sha1":"atr_/, /idempotency-replayed: true/i, /link: .*rel="next"/i],
  },
  { file: 'docs/authorization.md', said: [/"gains":\[\{/, /"can_edit"/, /"allowed":true/, /"name":"dan"/] },
  {
    file: 'docs/operating.md',
    isSlow: true,
    said: [/^\d+ ok, \d+ warnings, 0 faults$/m, /is complete: \d+ rows/, /^applied .*0001_house\.sql$/m],
  },
];
const MARKETPLACES: Guide = {
  file: 'docs/marketplaces.md',
  said: [/BIND +done +bound +200 +2/, /"notification"/],
};

/** A block that should be rejected has a comment above it. Blocks in other languages are not run. */
const BLOCK = /(<!-- refused -->\n)?```sh\n([\s\S]*?)```/g;

/** Replaces the tools of a clone in a folder that is not one: the same programs, with the settings of the server. */
const PRELUDE = `set -eu
node() { "${process.execPath}" "$@"; }
npm() {
  case "$*" in "run -s atrium -- "*) ;; *) echo "not run here: npm $*" >&2; return 1 ;; esac
  shift 4
  node "${ROOT}/bin/atrium.mjs" "$@"
}
curl() {
  local status=0
  command curl -sS --fail-with-body "$@" || status=$?
  echo
  return $status
}
`;

describe('Guide examples', { skip }, () => {
  examplesWork(ANY_DRIVER, {}, GUIDES);
});

describeLong('Guide examples of a marketplace deployment', { skip }, () => {
  // With the built-in database, the server runs server commands itself, and there are many.
  examplesWork('pglite', { DEPLOYMENT: 'marketplace' }, [MARKETPLACES]);
});

/** One demo server for several guides. They run in this order, as a reader would go through them. */
function examplesWork(driver: Driver, env: Readonly<Record<string, string>>, guides: readonly Guide[]): void {
  const folder = temporaryFolder();
  let settings: Record<string, string> = {};
  let server: ServerProcess;
  let address = '';

  before(async () => {
    const { place, world } = await newDemoPlace(driver);
    symlinkSync(place.dataDir, join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'demo.json'), writeJson({ baseUrl: '', ...world }));
    settings = { DATA_DIR: join(folder, 'data'), DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, ...env };
    server = startServer({ args: ['demo'], env: settings });
    address = await server.listening();
  });
  after(async () => {
    server.kill('SIGTERM');
    await server.ended;
  });

  for (const { file, said, isSlow } of guides) {
    const runs = isSlow ? itLong : it;
    runs(`Every example in ${file} works as pasted against a demo server`, async () => {
      const blocks = [...readFileSync(file, 'utf8').matchAll(BLOCK)].map(([, refused, lines = '']) =>
        refused ? `! (${lines})` : lines,
      );
      assert.ok(blocks.length > 0, `${file} has no example`);
      const examples = blocks.join('\n').replaceAll('http://127.0.0.1:3000', address).replaceAll('/tmp/', `${folder}/`);
      const outside = {
        ...surroundings(),
        ...settings,
        PORT: '0',
        ADMIN_PORT: '0',
        BASE_URL: address,
        HOME: folder,
        XDG_CONFIG_HOME: join(folder, 'config'),
        NO_COLOR: '1',
      };
      const done = await run('bash', ['-c', PRELUDE + examples], { cwd: folder, env: outside }).catch(
        (error: { stdout: string; stderr: string; message: string }) =>
          assert.fail(`${file}: ${error.stdout.slice(-2000)}\n${error.stderr.slice(-2000)}`),
      );
      for (const expected of said) assert.match(done.stdout, expected);
    });
  }
}
