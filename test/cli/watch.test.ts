import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CATALOGUE } from '../../cli/catalogue.ts';
import { isGroup } from '../../cli/command.ts';
import { read } from '../../cli/parse.ts';
import type { Screen } from '../../cli/screen.ts';
import { createSession } from '../../cli/session.ts';
import { watch } from '../../cli/watch.ts';
import { ApiError } from '../../client/errors.ts';
import { type Cli, cliAs, openCli } from '../support/server/cli.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

type Step = () => Promise<unknown> | undefined;

describe('Watching', () => {
  let atrium: TestServer;
  let ann: ReturnType<TestServer['as']>;
  let cli: Cli;
  before(async () => {
    atrium = await openTestServer();
    ann = atrium.as('ann');
    cli = cliAs(atrium, 'ann');
  });
  after(() => atrium.close());

  const signedIn = () => ({
    ATRIUM_URL: atrium.url,
    ATRIUM_TOKEN: atrium.world.users.ann?.token ?? '',
    ATRIUM_ORG: 'acme',
  });

  /** Runs the command line until no step is left. A step happens whenever the command waits for its next look. */
  async function watched(line: string, steps: readonly Step[], { env = signedIn(), width }: Options = {}) {
    const out: string[] = [];
    const said: string[] = [];
    const waited: number[] = [];
    const plain = (text: string) => text;
    const screen = {
      style: { width, bold: plain, dim: plain, good: plain, bad: plain },
      write: (text: string) => void out.push(text),
      writeDocument: (text: string) => void out.push(text),
      note: (text: string) => void said.push(text),
    } as unknown as Screen;
    const load = async (name: string) => await CATALOGUE[name]?.load();
    const found = await read([...line.split(' '), '--watch'], Object.keys(CATALOGUE), load);
    assert.ok(found.what === 'run', line);
    const session = createSession(found.values.global, { HOME: temporaryFolder(), ...env }, screen);
    const left = [...steps];
    const end = new Error('no step is left');
    const pause = async (ms: number) => {
      const step = left.shift();
      if (!step) throw end;
      waited.push(ms);
      await step();
    };
    const look = () => found.command.run(session, found.values as never);
    const ending = await watch(session, { ...found.command.watch, look, pause }).catch((error: unknown) => error);
    if (ending !== end && !(ending instanceof ApiError)) throw ending;
    return { out, said, waited, ending };
  }
  interface Options {
    readonly env?: Record<string, string>;
    readonly width?: number;
  }

  const createTeam = (name: string) => async () => {
    const made = await ann('POST', '/orgs/acme/teams', { name, permission: 'read' });
    assert.equal(made.status, 201, made.text);
  };
  const teamId = async (name: string) =>
    (await ann('GET', '/orgs/acme/teams')).body.find((team: { name: string }) => team.name === name).id;
  const editTeam = (name: string, body: object) => async () => {
    assert.equal((await ann('PATCH', `/teams/${await teamId(name)}`, body)).status, 200);
  };
  const deleteTeam = (name: string) => async () => {
    assert.equal((await ann('DELETE', `/teams/${await teamId(name)}`)).status, 204);
  };
  const nothing = () => undefined;

  it('A list is printed once, and then each row that is added, changed or removed', async () => {
    const { out, waited } = await watched('team list', [
      nothing,
      createTeam('night'),
      editTeam('night', { description: 'Awake' }),
      deleteTeam('night'),
    ]);
    const [title = '', ...rows] = out;
    assert.match(title, /^CHANGE {3} *ID +NAME /);
    assert.deepEqual(
      rows.map((row) => row.replaceAll(/\s+/g, ' ').replaceAll(/\d+/g, '#')).slice(-3),
      ['added # night read # # ', 'changed # night read # # Awake', 'removed # night read # # Awake'].map((row) =>
        row.trimEnd(),
      ),
    );
    assert.equal(rows.filter((row) => row.startsWith('         ')).length, rows.length - 3);
    assert.deepEqual(waited, [5000, 5000, 5000, 5000]);
  });

  it('With -o json each change is a document on a line of its own', async () => {
    const { out } = await watched('team list --json id,name --interval 60', [
      createTeam('dawn'),
      editTeam('dawn', { description: 'This field is not printed' }),
      deleteTeam('dawn'),
    ]);
    const documents = out.map((line) => JSON.parse(line));
    assert.ok(documents.length > 3 && documents.slice(0, -2).every(({ change }) => change === 'added'));
    assert.deepEqual(
      documents.slice(-2).map(({ change, object }) => [change, Object.keys(object), object.name]),
      [
        ['added', ['id', 'name'], 'dawn'],
        ['removed', ['id', 'name'], 'dawn'],
      ],
    );
  });

  it('With -o yaml each change is a document, and with -o name a name', async () => {
    const yaml = await watched('team list -o yaml', [createTeam('dusk'), deleteTeam('dusk')]);
    assert.match(yaml.out.at(-2) ?? '', /^---\nchange: added\nobject:\n(.*\n)* {2}name: dusk\n/);
    assert.match(yaml.out.at(-1) ?? '', /^---\nchange: removed\n/);
    const names = await watched('team list -o name', [createTeam('dusk'), deleteTeam('dusk')]);
    assert.equal(names.out.at(-1), 'dusk');
    assert.equal(names.out.filter((name) => name === 'dusk').length, 1);
  });

  it('Details are printed again as a whole when something in them changes', async () => {
    await createTeam('noon')();
    const { out } = await watched('team show noon', [nothing, editTeam('noon', { description: 'Lunch' }), nothing]);
    const text = out.join('\n');
    assert.equal(text.match(/^name: +noon$/gm)?.length, 2);
    assert.equal(text.match(/^description: +Lunch$/gm)?.length, 1);
    await deleteTeam('noon')();
  });

  it('An answer of can is printed when it changes', async () => {
    const change = (method: string) => async () => {
      const id = await teamId('Editors');
      assert.equal((await ann(method, `/teams/${id}/members/eve`)).status, 204);
    };
    const before = await ann('GET', '/orgs/acme/members/eve');
    assert.equal(before.status, 404, 'eve should not be a member yet');
    const { out } = await watched('can eve view org:acme', [nothing, change('PUT'), nothing, change('DELETE')]);
    const answers = out.filter((line) => line !== '').map((line) => line.split(' ')[0]);
    assert.ok(answers.length > 1 && new Set(answers).size === 2, out.join('\n'));
  });

  it('The audit log continues with what is new, the newest at the bottom, and says if it may have missed some', async () => {
    const { out, said } = await watched('audit --limit 2', [
      createTeam('eins'),
      async () => {
        for (const name of ['zwei', 'drei', 'vier']) await createTeam(name)();
      },
    ]);
    assert.equal(out.length, 1 + 2 + 1 + 2);
    assert.deepEqual(
      out.slice(3).map((line) => line.match(/^added .* team\.create +ann created the team (\w+)/)?.[1]),
      ['eins', 'drei', 'vier'],
    );
    assert.deepEqual(said, ['more than 2 are new, so some may be missing here; use a larger --limit']);
    for (const name of ['eins', 'zwei', 'drei', 'vier']) await deleteTeam(name)();
  });

  it('Heartbeats that report nothing new are not printed', async () => {
    const [prod] = (await ann('GET', '/orgs/acme/clusters')).body;
    const beat = (phase: string) => async () => {
      assert.equal((await ann('POST', `/clusters/${prod.id}/heartbeat`, { phase })).status, 204);
    };
    const { out } = await watched('cluster list --json name,status', [
      beat('Active'),
      beat('Active'),
      beat('NotReady'),
    ]);
    const changed = out.map((line) => JSON.parse(line)).filter(({ change }) => change === 'changed');
    assert.deepEqual(
      changed.map(({ object }) => object.status.response.phase),
      ['Active', 'NotReady'],
    );
    const text = await watched('cluster list', [beat('NotReady'), beat('NotReady')]);
    assert.equal(text.out.filter((line) => line.startsWith('changed')).length, 0);
  });

  it('A terminal is painted anew whenever something changes', async () => {
    const { out } = await watched('team list', [nothing, createTeam('paint'), deleteTeam('paint')], { width: 80 });
    const paintings = out.filter((line) => line.startsWith('\u001b[H\u001b[2J'));
    assert.equal(paintings.length, 3);
    assert.equal(out.filter((line) => line.includes(' paint ')).length, 1);
    assert.ok(!out.some((line) => line.includes('added')));
  });

  it('What is watched ends with the error of the server if it is deleted', async () => {
    await createTeam('brief')();
    const { ending } = await watched(`team show ${await teamId('brief')}`, [deleteTeam('brief')]);
    assert.ok(ending instanceof ApiError && ending.status === 404);
  });

  it('A busy server is asked again after the time that it names, and one that is away ever more rarely', async () => {
    const answers = [200, 429, 503, 0, 0, 200];
    const busy = createServer((request, response) => {
      const status = answers.shift() ?? 200;
      if (status === 0) return void request.socket.destroy();
      const headers = { 'Content-Type': 'application/json', ...(status === 200 ? {} : { 'Retry-After': '90' }) };
      response.writeHead(status, headers);
      response.end(status === 200 ? '[]' : '{"message":"too many requests","reason":"rate_limited"}');
    });
    busy.listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const env = { ...signedIn(), ATRIUM_URL: `http://127.0.0.1:${(busy.address() as AddressInfo).port}` };
    const { out, said, waited } = await watched('team list --interval 10', Array(6).fill(nothing), { env });
    assert.deepEqual(out, ['none']);
    assert.deepEqual(waited, [10_000, 90_000, 90_000, 40_000, 60_000, 10_000]);
    assert.match(said[0] ?? '', /^too many requests; looking again in 90 s$/);
    assert.match(said[2] ?? '', /^cannot reach .*; looking again in 40 s$/);
    busy.closeAllConnections();
    busy.close();
  });

  it('A watch ends with 130 after Ctrl-C, and everything printed so far has arrived', async () => {
    const args = [resolve('bin/atrium.mjs'), 'team', 'list', '--watch', '-o', 'json', '--interval', '1'];
    const env = { PATH: process.env.PATH ?? '', HOME: temporaryFolder(), ...signedIn() };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8');
    const printed = (part: string) =>
      new Promise<void>((done) => {
        const hear = () => text.includes(part) && done();
        child.stdout.on('data', hear);
        hear();
      });
    child.stdout.on('data', (chunk: string) => {
      text += chunk;
    });
    await printed('"Owners"');
    await createTeam('late')();
    await printed('"late"');
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    assert.equal(code, 130);
    await deleteTeam('late')();
  });

  it('atrium events prints what changed since an event, a line for each change, or as JSON', async () => {
    const first = JSON.parse((await cli('events --org acme --once --json')).stdout);
    assert.deepEqual([first.event, typeof first.revision], ['ready', 'number']);
    await createTeam('eventful')();
    const id = await teamId('eventful');
    const { stdout: out } = await cli(`events --org acme --once --since ${first.id}`);
    assert.match(out, new RegExp(`^\\d+  ready\n\\d+  team:${id} of acme  team.create\n$`));
    const data = (await cli(`events --org acme --once --since ${first.id} -o json`)).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { revision, changes } = data.at(-1) ?? {};
    const event = `${revision}-0`;
    assert.deepEqual(changes, [{ kind: 'team', id, organization: 'acme', event, type: 'team.create' }]);
    assert.match((await cli('events --org acme --once --since nonsense')).stdout, /\n\d+ {2}reset: position\n$/);
    const refused = await cli('events --org globex --once');
    assert.deepEqual([refused.code, refused.stderr], [1, 'atrium: Must be an organization member\n']);
  });

  it('Wrong uses of --watch are explained', async () => {
    for (const [line, says] of [
      ['team list --interval 3', /--interval is only for --watch/],
      ['team list --watch --interval 0.5', /--interval must be a number of seconds from 1 to 3600/],
      ['team list --watch --interval soon', /--interval must be a number of seconds/],
      ['audit --watch --export', /--watch is for the list of entries/],
      ['audit actions --watch', /unknown option "--watch"/],
      ['team create x --watch', /unknown option "--watch"/],
    ] as const) {
      const { code, stdout, stderr } = await cli(line);
      assert.deepEqual([code, stdout], [2, ''], line);
      assert.match(stderr, says);
    }
    const first = await cli('team show nothing --watch');
    assert.equal(first.code, 1);
  });

  it('Every list of things that others can change accepts --watch', async () => {
    const help = await openCli()('cluster list --help');
    assert.match(help.stdout, /-w, --watch +print the result, then each change of it, until Ctrl-C/);
    for (const [name, { load }] of Object.entries(CATALOGUE)) {
      const node = await load();
      if (!isGroup(node) || ['context', 'email', 'follow'].includes(name)) continue;
      const { list } = node.commands;
      if (list && !isGroup(list) && 'run' in list) assert.ok(list.watch, `${name} list`);
    }
  });
});
