import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { writeJson } from '../../src/base/json.ts';
import { IS_LONG } from '../counts.ts';
import { describeLong, itLong } from '../support/checks/long.ts';
import { ANY_DRIVER, type Driver, temporaryFolder } from '../support/server/db.ts';
import { type ServerProcess, startServer, surroundings } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

const run = promisify(execFile);
const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed';
const ROOT = resolve('.');
/** A reader may paste a guide again: after a mistake, or on another day. */
const PASTES = IS_LONG ? 2 : 1;
/** Where the program itself keeps its settings and compiled code. */
const OWN_FOLDERS = ['config', '.cache'];

interface Guide {
  readonly file: string;
  /** What the examples must have printed, so that a guide without output is noticed. */
  readonly said: readonly RegExp[];
  /** Files that the reader is meant to keep. */
  readonly keeps?: readonly string[];
  readonly skip?: string | false;
  /** Starts so many processes that only the long suite runs it. */
  readonly isSlow?: boolean;
}

const GUIDES: readonly Guide[] = [
  { file: 'README.md', said: [/"login":"ann"/, /invalid username, password or token/] },
  {
    file: 'docs/quick-start.md',
    isSlow: true,
    said: [
      /signed in to .* as ann/,
      /yes +ann can_connect cluster:prod/,
      /^staging +2$/m,
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
    isSlow: true,
    said: [/"login":"ann"/, /"sha1":"atr_/, /idempotency-replayed: true/i, /link: .*rel="next"/i],
  },
  {
    file: 'docs/authorization.md',
    isSlow: true,
    said: [/"gains":\[\{/, /"can_edit"/, /"allowed":true/, /"name":"dan"/, /"changed_since":\{"total":\d+,/],
  },
  {
    file: 'docs/guardrails.md',
    isSlow: true,
    said: [
      /eve can never connect to prod/,
      /^state: +violated: only 1$/m,
      /^rejected$/m,
      /deleted the guardrail eve stays out/,
    ],
  },
  {
    file: 'docs/operating.md',
    isSlow: true,
    said: [/^\d+ ok, \d+ warnings, 0 faults$/m, /is complete: \d+ rows/, /^applied .*0040_schema\.sql$/m],
    keeps: ['before-upgrade.tar.gz'],
  },
  { file: 'docs/bus.md', isSlow: true, said: [/^user\.\d+\.hello hello from the bus$/m], skip: lacks('nats-server') },
];
const MARKETPLACES: Guide = {
  file: 'docs/marketplaces.md',
  said: [/BIND +done +bound +200 +2/, /"notification"/],
};

/** A block that should be rejected has a comment above it. Blocks in other languages are not run. */
const BLOCK = /(<!-- refused -->\n)?```sh\n([\s\S]*?)```/g;

/** What the blocks above it print, line by line; `…` stands for any text. */
const PRINTED = /<!-- printed -->\n```text\n([\s\S]*?)```/g;

/** Replaces the tools of a clone in a folder that is not one: the same programs, with the settings of the server. */
const PRELUDE = `set -eum
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
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

describe('The texts of the guides', () => {
  it('Every npm run atrium has -s, because otherwise npm prints its own lines into the output', () => {
    const texts = [...globSync('docs/**/*.md'), 'README.md', 'CONTRIBUTING.md', 'src/bus/server-config.ts'];
    assert.ok(texts.length > 20);
    for (const file of texts) assert.doesNotMatch(readFileSync(file, 'utf8'), /npm run atrium --/, file);
  });

  it('Every block of a guide says whether it is run', () => {
    for (const { file } of [...GUIDES, MARKETPLACES]) {
      const fences = readFileSync(file, 'utf8').match(/^ *```.*$/gm) ?? [];
      const openings = fences.filter((_fence, place) => place % 2 === 0);
      const unmarked = openings.filter((fence) => !/^```(sh|text|ts|json|yaml|fga)$/.test(fence));
      assert.deepEqual(unmarked, [], file);
    }
  });
});

/** One demo server for several guides. They run in this order, as a reader would go through them. */
function examplesWork(driver: Driver, env: Readonly<Record<string, string>>, guides: readonly Guide[]): void {
  const folder = temporaryFolder();
  let settings: Record<string, string> = {};
  let server: ServerProcess;
  let address = '';
  let bus = '';

  before(async () => {
    bus = `nats://127.0.0.1:${await freePort()}`;
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const { place, world } = await newDemoPlace(driver);
    symlinkSync(place.dataDir, join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'demo.json'), writeJson({ baseUrl: '', ...world }));
    settings = {
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: place.databaseUrl ?? '',
      ATRIUM_KEY: TEST_KEY,
      ...env,
      BUS_URL: bus,
    };
    server = startServer({ args: ['demo'], env: settings });
    address = await server.listening();
  });
  after(async () => {
    server.kill('SIGTERM');
    await server.ended;
  });

  for (const { file, said, keeps = [], skip: lacking = false, isSlow } of guides) {
    const runs = isSlow ? itLong : it;
    runs(`Every example in ${file} works as pasted against a demo server`, { skip: lacking }, async () => {
      const text = readFileSync(file, 'utf8');
      const printed = [...text.matchAll(PRINTED)].map(([, lines = '']) => patternOf(lines));
      const blocks = [...text.matchAll(BLOCK)].map(([, refused, lines = '']) => (refused ? `! (${lines})` : lines));
      assert.ok(blocks.length > 0, `${file} has no example`);
      const examples = blocks
        .join('\n')
        .replaceAll('http://127.0.0.1:3000', address)
        .replaceAll('nats://127.0.0.1:4222', bus)
        .replaceAll('/tmp/', `${folder}/`);
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
      const before = readdirSync(folder);
      for (let paste = 1; paste <= PASTES; paste++) {
        const done = await run('bash', ['-c', PRELUDE + examples], { cwd: folder, env: outside }).catch(
          (error: { stdout: string; stderr: string; message: string }) =>
            assert.fail(`${file}, paste ${paste}: ${error.stdout.slice(-2000)}\n${error.stderr.slice(-2000)}`),
        );
        for (const expected of paste === 1 ? [...said, ...printed] : []) assert.match(done.stdout, expected);
      }
      const left = readdirSync(folder).filter((name) => !before.includes(name) && !OWN_FOLDERS.includes(name));
      assert.deepEqual(left, keeps, `${file} leaves files behind`);
      for (const name of keeps) rmSync(join(folder, name));
    });
  }
}

function patternOf(printed: string): RegExp {
  const lines = printed.trimEnd().split('\n');
  return new RegExp(`^${lines.map((line) => line.split('…').map(RegExp.escape).join('.*')).join('\\n')}$`, 'm');
}
