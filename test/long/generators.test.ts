import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacksProgram, lacksPython, mustRun, npmTools, pythonTools } from '../support/services/foreign-tools.ts';

const HERE = resolve('test/long/generators');
const DOCUMENT = resolve('openapi/atrium.json');
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1';
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'mypy==2.4.1', 'ruff==0.17.4'];
const NPM_PACKAGES = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@24.19.2'];

/** The operations that every client calls. What a generator calls them follows from the document. */
const CALLED = {
  USER: '/api/v1/user',
  PERMISSIONS: '/api/v1/authz/roles/available_permissions',
  ORGANIZATION: '/api/v1/orgs/{org}',
} as const;

/** Each operation takes some 165 lines with its schemas. Ten errors for each would take twice as many. */
const MAX_GO_CODE_OF_OPERATION = 175;

/** What generators say about the document, although nothing is wrong with it, and why. */
const HARMLESS = [
  // The generator's own note on every document of this version.
  /OpenAPI 3\.1 support is still in beta/,
  // Responses of any form, such as rendered charts, are an Object in Java.
  /Object \(reserved word\) cannot be used as model name/,
  // Its own documentation shows no example for a body that is a list.
  /Ignoring complex example on request body/,
];

/** Clients that others generate from the document: each is generated, compiled, and used against a server. */
describe('Generated clients', () => {
  let atrium: TestServer;
  let expected: string[];
  before(async () => {
    atrium = await openTestServer();
    const { body } = await atrium.as('ann')('GET', '/authz/roles/available_permissions?org=acme');
    expected = ['user ann', `permissions ${body.permissions.length}`, 'refusal 404 organization_not_found'];
  });
  after(() => atrium.close());

  const environment = () => ({
    ...process.env,
    BASE_URL: atrium.url,
    ANN_TOKEN: atrium.world.users.ann?.token ?? '',
    GOFLAGS: '-buildvcs=false -mod=mod',
  });
  const assertCalls = (output: string) => {
    const lines = output.split('\n').filter((line) => /^(user|permissions|refusal) /.test(line));
    assert.deepEqual(lines, expected, output.slice(-2000));
  };

  it('oapi-codegen generates a client for Go that compiles and works', {
    skip: lacksProgram('go', 'version'),
  }, async () => {
    const place = temporaryFolder();
    const options = { cwd: place, env: environment() };
    const warnings = await mustRun(
      'go',
      ['run', OAPI_CODEGEN, '-generate', 'types,client', '-package', 'main', '-o', join(place, 'client.go'), DOCUMENT],
      { env: environment() },
    );
    assertHarmless(warnings.replaceAll(/^go: .*$/gm, ''));
    const code = codeLines(readFileSync(join(place, 'client.go'), 'utf8'));
    const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Document;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods)).length;
    assert.ok(code < MAX_GO_CODE_OF_OPERATION * operations, `${code} lines of Go for ${operations} operations`);
    writeFileSync(join(place, 'main.go'), filled('calls.go.txt', { operation: pascal }));
    await mustRun('go', ['mod', 'init', 'calls'], options);
    await mustRun('go', ['mod', 'tidy'], options);
    assertCalls(await mustRun('go', ['run', '.'], options));
  });

  it('openapi-python-client generates a client that mypy accepts and that works', { skip: lacksPython() }, async () => {
    const place = temporaryFolder();
    const bin = await pythonTools('generators', PYTHON_PACKAGES);
    const env = { ...environment(), PATH: `${bin}:${process.env.PATH}` };
    const config = join(HERE, 'python.yaml');
    const output = await mustRun(
      join(bin, 'openapi-python-client'),
      ['generate', '--path', DOCUMENT, '--config', config, '--meta', 'none', '--output-path', join(place, 'atrium')],
      { cwd: place, env },
    );
    assert.doesNotMatch(output, /WARNING|ERROR/, output.slice(0, 4000));
    writeFileSync(join(place, 'calls.py'), filled('calls.py.txt', { operation: snake, tag: snake }));
    const settings = ['--config-file', join(HERE, 'mypy.ini'), '--cache-dir', join(place, '.mypy')];
    await mustRun(join(bin, 'mypy'), [...settings, 'atrium', 'calls.py'], { cwd: place, env });
    assertCalls(await mustRun(join(bin, 'python'), ['calls.py'], { cwd: place, env }));
  });

  it('OpenAPI Generator generates a client for Java that compiles and works', { skip: lacksMaven() }, async () => {
    const place = temporaryFolder();
    mkdirSync(join(place, 'src/main/java'), { recursive: true });
    copyFileSync(join(HERE, 'pom.xml'), join(place, 'pom.xml'));
    const calls = filled('Calls.java.txt', { operation: (id) => id, tag: pascal });
    writeFileSync(join(place, 'src/main/java/Calls.java'), calls);
    const args = ['-B', '-ntp', `-Ddocument=${DOCUMENT}`];
    const output = await mustRun('mvn', [...args, 'compile', 'exec:java'], { cwd: place, env: environment() });
    assertHarmless(
      output
        .split('\n')
        .filter((line) => /^\[(WARNING|ERROR)\]/.test(line))
        .join('\n'),
    );
    assertCalls(output);
  });

  it('openapi-typescript generates types that the compiler accepts, and openapi-fetch works with them', async () => {
    const place = temporaryFolder();
    const tools = await npmTools('generators', NPM_PACKAGES);
    const node = (file: string, ...args: string[]) =>
      mustRun(process.execPath, [join(tools, 'node_modules', file), ...args], { cwd: place, env: environment() });
    cpSync(join(tools, 'package.json'), join(place, 'package.json'));
    cpSync(join(tools, 'node_modules'), join(place, 'node_modules'), { recursive: true });
    const output = await node('openapi-typescript/bin/cli.js', DOCUMENT, '-o', join(place, 'api.d.ts'));
    assert.doesNotMatch(output, /warn|error/i);
    copyFileSync(join(HERE, 'calls.ts.txt'), join(place, 'calls.ts'));
    const flags = ['--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', '--noEmit'];
    await node('typescript/bin/tsc', ...flags, '--allowImportingTsExtensions', 'calls.ts', 'api.d.ts');
    assertCalls(await mustRun(process.execPath, ['calls.ts'], { cwd: place, env: environment() }));
  });
});

function lacksMaven(): string | false {
  return lacksProgram('javac') || lacksProgram('mvn');
}

function assertHarmless(output: string): void {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !HARMLESS.some((known) => known.test(line)));
  assert.deepEqual(lines, []);
}

/** Lines that are neither empty nor a comment. */
function codeLines(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(\/\/|$)/.test(line)).length;
}

interface Spelling {
  readonly operation: (id: string) => string;
  readonly tag?: (tag: string) => string;
}

/** The file, with the names of operations as the generator spells them. */
function filled(file: string, { operation, tag = (text) => text }: Spelling): string {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Document;
  return Object.entries(CALLED).reduce(
    (text, [word, path]) => {
      const { operationId, tags } = paths[path]?.get ?? { operationId: '', tags: [] };
      return text.replaceAll(`@${word}@`, operation(operationId)).replaceAll(`@${word}_TAG@`, tag(tags[0] ?? ''));
    },
    readFileSync(join(HERE, file), 'utf8'),
  );
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: { operationId: string; tags: readonly string[] } }>>;
}

function pascal(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function snake(text: string): string {
  return text.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
