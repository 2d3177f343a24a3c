import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { matchGolden } from '../support/checks/golden.ts';
import { until } from '../support/checks/until.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { get, startServer } from '../support/server/process.ts';
import { newDemoPlace, openTestServer, TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';

const PROGRAM = `
import { createClient, writeJson } from '@atrium/client';
const client = createClient({ baseUrl: process.argv[2] ?? '', token: process.argv[3] ?? '' });
const user = await client.call('GET /user');
const id: bigint = user.id;
// @ts-expect-error there is no such operation
const wrong = () => client.call('GET /nothing');
console.log(writeJson({ id, login: user.login, isFunction: typeof wrong === 'function' }));
`;
const COMPILER = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  },
  include: ['program.ts'],
};

/** Uses what is built, so the two packages are made one after the other. */
describe('The packages', () => {
  const folder = temporaryFolder();
  const home = temporaryFolder();
  // The machine says where the registry is and whom to trust. What npm says about this run would lead it to the clone.
  const ofMachine = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|INIT_CWD$|TEST_|NODE_OPTIONS$)/.test(name),
  );
  const environment = { ...Object.fromEntries(ofMachine), XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
  const run = async (command: string, args: readonly string[], cwd = folder) =>
    (await promisify(execFile)(command, args, { cwd, env: environment, maxBuffer: 64 * 1024 * 1024, timeout: 600_000 }))
      .stdout;
  const pack = async (source: string): Promise<{ file: string; files: string[] }> => {
    const [packed] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', folder], source)) as [
      { filename: string; files: { path: string }[] },
    ];
    return { file: join(folder, packed.filename), files: packed.files.map(({ path }) => path) };
  };
  /** Every folder with the kinds of its files: enough to see that something is missing or does not belong there. */
  const listOf = (files: readonly string[]) =>
    `${[...new Set(files.map((path) => path.replace(/^((?:dist|console\/dist|migrations)\/(?:.*\/)?).*(?=\.)/, '$1*')))]
      .sort()
      .join('\n')}\n`;

  before(() => writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}'));

  it('@atrium/client is packed with its types, installs alone, and calls a server from a typed program', async () => {
    const { file, files } = await pack(resolve('client'));
    matchGolden('test/long/packed-client.txt', listOf(files));
    await run('npm', ['install', '--no-audit', '--offline', file]);
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER));
    await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder]);
    const served = await openTestServer();
    const { id, token } = served.world.users.ann ?? {};
    const said = await run(process.execPath, ['program.js', served.url, token ?? '']);
    assert.equal(said, `{"id":${id},"login":"ann","isFunction":true}\n`);
    await served.close();
  });

  // Two tests, because a busy machine takes minutes for each.
  let atrium = '';

  it('atrium is packed without sources', async () => {
    const { file, files } = await pack(resolve('.'));
    matchGolden('test/long/packed-atrium.txt', listOf(files));
    atrium = file;
  });

  it('The packed atrium installs, serves, and runs its commands', async () => {
    assert.notEqual(atrium, '', 'it was not packed');
    await run('npm', ['install', '--no-audit', '--prefer-offline', atrium]);
    const root = join(folder, 'node_modules', 'atrium');
    const sbom = JSON.parse(readFileSync(join(root, 'dist', 'sbom.cdx.json'), 'utf8')) as { components: unknown[] };
    assert.ok(sbom.components.length > 50);
    const { place } = await newDemoPlace('pglite');
    const adminPort = await freePort();
    const env = {
      ...{ DATA_DIR: place.dataDir, ATRIUM_KEY: TEST_KEY, NODE_ENV: 'production' },
      ADMIN_PORT: String(adminPort),
    };
    const server = startServer({ main: join(root, 'dist', 'main.js'), env });
    const address = await server.listening();
    await until(async () => (await get(`http://127.0.0.1:${adminPort}/readyz`)).status === 200);
    assert.equal((await get(`${address}/api/v1/version`)).status, 200);
    assert.match(await (await get(`${address}/`)).text(), /id="atrium"/);
    assert.match(await run('npx', ['--no-install', 'atrium', 'version']), /^program: +v\d/);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  });
});
