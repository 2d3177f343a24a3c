import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GLOBAL } from '../../cli/arguments.ts';
import { CATALOGUE } from '../../cli/catalogue.ts';
import { type Command, isGroup, isOnServer, type Node } from '../../cli/command.ts';
import { read } from '../../cli/parse.ts';
import type { AppError } from '../../src/base/errors.ts';
import { secretSource } from '../../src/marketplace/commands/secret-command.ts';
import { SERVER_COMMANDS } from '../../src/operations/server-commands.ts';
import { openCli, openCliProcess } from '../support/server/cli.ts';

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

const SECRET = /token|password|secret|passphrase|seed/i;
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

  it('No command takes a secret as an option or as an argument, only the name of a file that contains it', async () => {
    for (const { path, command } of await everyCommand()) {
      const options = Object.entries(command.options ?? {}).filter(
        ([name, { value }]) => SECRET.test(name) && !/-(name|than)$/.test(name) && value !== undefined,
      );
      for (const [name, { value }] of options) assert.deepEqual([name, value], ['secret-file', 'FILE'], path.join(' '));
      for (const [name, { about, kind }] of Object.entries(command.args ?? {})) {
        const isReference = /\b(ID|name)\b/.test(about) || kind !== undefined;
        assert.ok(!SECRET.test(name) || isReference, `${path.join(' ')} ${name}`);
      }
    }
  });

  it('A word too many is not repeated by a command that reads a secret', async () => {
    const cli = openCli();
    for (const line of [
      'login http://127.0.0.1:1 Canary0123',
      'login http://127.0.0.1:1 --token-stdin Canary0123',
      'marketplace send cloudB x.json --secret Canary0123',
      'marketplace send cloudB x.json --secret=Canary0123',
    ]) {
      const { code, stdout, stderr } = await cli(line);
      assert.equal(code, 2, line);
      assert.doesNotMatch(stdout + stderr, /Canary/);
    }
  });
});

describe('Server commands', () => {
  it('No server command takes a secret as an option or as an argument', () => {
    for (const [name, { help }] of Object.entries(SERVER_COMMANDS)) {
      for (const { name: option, value } of help.options as readonly { name: string; value?: string }[]) {
        assert.ok(!SECRET.test(option) || value === undefined || value === 'FILE', `${name} ${option}`);
      }
      for (const line of help.usage) assert.doesNotMatch(line, /\b(SECRET|TOKEN|PASSWORD|KEY)\b/, line);
    }
  });

  it('atrium marketplace secret rejects a secret on the command line, wherever it is, and does not repeat it', async () => {
    for (const line of [
      'secret add cloudB Canary0123',
      'secret retire cloudB Canary0123',
      'secret retire Canary0123 cloudB',
      'secret add Canary0123',
      'secret Canary0123',
      'secret retire cloudB --Canary0123',
      'secret retire cloudB -Canary0123',
      'secret retire cloudB --secret Canary0123',
      'secret retire cloudB --secret=Canary0123',
      'secret retire cloudB --secret-stdin=Canary0123',
      'secret retire cloudB -- Canary0123',
      '--Canary0123 secret retire cloudB',
      'secret add cloudB --secret-stdin --secret-file Canary0123',
    ]) {
      assert.throws(
        () => secretSource(line.split(' ')),
        ({ kind, message }: AppError) => kind === 'invalid' && !/canary/i.test(message),
        line,
      );
    }
    const { code, stdout, stderr } = await openCliProcess()(
      'marketplace secret retire cloudB --secret-file Canary0123',
    );
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /cannot read the file with the secret: no such file/);
    assert.doesNotMatch(stderr, /Canary/i);
  });

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
