import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GLOBAL } from '../../cli/arguments.ts';
import { CATALOGUE } from '../../cli/catalogue.ts';
import { type Command, isGroup, isOnServer, type Node } from '../../cli/command.ts';
import { read } from '../../cli/parse.ts';
import { SERVER_COMMANDS } from '../../src/operations/server-commands.ts';
import { openCli, openCliProcess } from '../support/cli.ts';

async function everyCommand(): Promise<{ path: string[]; command: Command }[]> {
  const walk = (path: string[], node: Node): { path: string[]; command: Command }[] => {
    if (isOnServer(node)) return [];
    if (!isGroup(node)) return [{ path, command: node }];
    return Object.entries(node.commands).flatMap(([name, inner]) => walk([...path, name], inner));
  };
  const found = await Promise.all(
    Object.entries(CATALOGUE).map(async ([name, entry]) => walk([name], await entry.load())),
  );
  return found.flat();
}

const load = async (name: string) => await CATALOGUE[name]?.load();
const names = Object.keys(CATALOGUE);

describe('Commands', async () => {
  for (const { path, command } of await everyCommand()) {
    it(`atrium ${path.join(' ')} has valid examples, and options that do not conflict with global ones`, async () => {
      assert.ok(command.examples.length > 0);
      for (const example of command.examples) {
        const line = example.replace(/^source <\(|\)$/g, '').replace(/ [<>] .*$/, '');
        const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
        assert.equal(words.shift(), 'atrium');
        const found = await read(words, names, load);
        assert.ok(found.what === 'run' && found.command === command, example);
      }
      for (const name of Object.keys(command.options ?? {})) assert.ok(!Object.hasOwn(GLOBAL, name), name);
      assert.match(command.summary, /^[a-z]/);
      const args = Object.values(command.args ?? {});
      assert.ok(!args.slice(0, -1).some((arg) => arg.many || arg.optional), 'only the last argument may be left out');
    });
  }

  it('No command except atrium marketplace send takes a secret as an option', async () => {
    for (const { path, command } of await everyCommand()) {
      const secrets = Object.entries(command.options ?? {}).filter(
        ([name, option]) => /token|password|secret/.test(name) && option.value !== undefined,
      );
      const allowed = path.join(' ') === 'marketplace send' ? ['secret-file', 'secret'] : [];
      assert.deepEqual(
        secrets.map(([name]) => name),
        allowed,
        path.join(' '),
      );
    }
  });
});

describe('Server commands', () => {
  it('Every server command is in the CLI catalogue and in the help', async () => {
    for (const name of Object.keys(SERVER_COMMANDS)) assert.ok(Object.hasOwn(CATALOGUE, name), name);
    const { stdout } = await openCliProcess()('--help');
    for (const name of Object.keys(CATALOGUE)) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
    assert.match(stdout, /On the server's own machine\n( {2}.*\n)* {2}rotate-keys/);
  });
});

describe('Help', () => {
  for (const line of [
    '--help',
    '-h',
    'help',
    '',
    'team --help',
    'help team',
    'team create -h',
    'help robot token create',
  ]) {
    it(`${`atrium ${line}`.trim()} prints help to standard output and exits with 0`, async () => {
      const { code, stdout, stderr } = await openCli()(line);
      assert.equal(code, 0);
      assert.equal(stderr, '');
      assert.match(stdout, /^atrium /);
    });
  }
});
