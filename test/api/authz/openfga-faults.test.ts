import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { readConfig } from '../../../src/base/config/config.ts';
import { openFgaIn } from '../../../src/operations/commands/openfga-command.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { sharedServer } from '../../support/server/shared-server.ts';
import { checksIn, startFakeOpenFga } from '../../support/services/fake-openfga.ts';
import { freePort } from '../../support/services/ports.ts';
import { allowedTo, makeHolder } from '../../support/world/authz.ts';

const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };
const KEY = 'a-preshared-key';
const isCheck = (path: string) => path.endsWith('/batch-check');
const isWrite = (path: string) => path.endsWith('/write');

async function printed({ instance }: TestServer, ...words: string[]): Promise<string[]> {
  const lines: string[] = [];
  await openFgaIn(words)(instance, (line) => lines.push(line));
  return lines;
}

describe('Decisions of an OpenFGA server that fails', () => {
  let fga: Awaited<ReturnType<typeof startFakeOpenFga>>;
  let atrium: TestServer;
  let admin: string;
  let holder: Awaited<ReturnType<typeof makeHolder>>;
  before(async () => {
    fga = await startFakeOpenFga();
    const port = await freePort();
    admin = `http://127.0.0.1:${port}`;
    const env = { OPENFGA_URL: fga.url, OPENFGA_API_TOKEN: KEY, ADMIN_PORT: String(port) };
    atrium = await openTestServer({ env });
    holder = await makeHolder(atrium, [EDIT]);
  });
  afterEach(() => {
    fga.state.meddle = undefined;
  });
  after(async () => {
    await atrium.close();
    await fga.close();
  });

  const path = () => `/authz/objects/cluster/${atrium.world.clusters.prod?.id}/allowed-permissions?org=acme` as const;
  const held = () => allowedTo(atrium, holder.name, 'cluster', atrium.world.clusters.prod?.id ?? 0n);
  const sync = async () => await atrium.instance.features.openFga?.sync(true);
  const readyz = async () => (await fetch(`${admin}/readyz`)).text();

  async function setRole(permissions: readonly object[]): Promise<void> {
    const body = { permissions, teamIDs: [holder.teamId] };
    const answer = await atrium.as('ann')('PUT', `/authz/roles/${holder.roleId}?org=acme`, body);
    assert.equal(answer.status, 200, answer.text);
  }

  it('The server decides: what it grants is granted, and what it denies is denied', async () => {
    assert.deepEqual(await held(), ['can_view', 'can_edit']);
    const always = (allowed: boolean) => {
      fga.state.meddle = ({ path, body, reply, proceed }) => {
        if (!isCheck(path)) return proceed();
        const isFence = (object: string) => object.startsWith('publication:');
        const answers = checksIn(body).map((one) => [
          one.correlation_id,
          { allowed: allowed || isFence(one.tuple_key.object) },
        ]);
        reply.send(200, { result: Object.fromEntries(answers) });
      };
    };
    always(false);
    assert.deepEqual(await held(), []);
    assert.equal((await atrium.as('ann')('GET', `/authz/roles/${holder.roleId}?org=acme`)).status, 403);
    always(true);
    assert.ok((await held()).includes('can_remove'));
  });

  it('A question is answered with 503 and Retry-After if an answer of the server cannot be trusted', async () => {
    const faults: Readonly<Record<string, (body: string) => [number, unknown]>> = {
      'an error': () => [500, { code: 'internal_error', message: 'words of the server' }],
      'no JSON': () => [200, 'words of the server'],
      'a list': () => [200, []],
      'no result': () => [200, {}],
      'an answer too few': () => [200, { result: { 0: { allowed: true } } }],
      'an error in one answer': (body) => [200, { result: { ...JSON.parse(body), 1: { error: { message: 'no' } } } }],
      'an answer that is a text': (body) => [200, { result: { ...JSON.parse(body), 1: { allowed: 'true' } } }],
      'more than a mebibyte': () => [200, `{"result":"${'x'.repeat(1_100_000)}"}`],
      'a redirect': () => [307, {}],
      'a rejection of our key': () => [401, { code: 'bearer_token_missing' }],
    };
    for (const [what, fault] of Object.entries(faults)) {
      fga.state.meddle = ({ path, body, reply, proceed }) => {
        if (!isCheck(path)) return proceed();
        const granted = checksIn(body).map((one) => [one.correlation_id, { allowed: true }]);
        reply.send(...fault(JSON.stringify(Object.fromEntries(granted))));
      };
      const answer = await atrium.as(holder.name)('GET', path());
      assert.equal(answer.status, 503, what);
      assert.equal(answer.headers.get('retry-after'), '1', what);
      assert.equal(answer.body.reason, 'unavailable', what);
      assert.ok(!answer.text.includes('words of the server'), what);
    }
  });

  it('A server that does not answer within three seconds gives 503, and readiness says why', async () => {
    assert.equal(await readyz(), 'ready\n');
    const open: (() => void)[] = [];
    fga.state.meddle = ({ reply }) => open.push(reply.drop);
    const [answer, ready] = await Promise.all([atrium.as(holder.name)('GET', path()), readyz()]);
    assert.equal(answer.status, 503);
    assert.equal(ready, 'OpenFGA does not answer\n');
    fga.state.meddle = ({ reply }) => reply.send(500, {});
    for (const drop of open) drop();
    assert.equal(await readyz(), 'OpenFGA cannot be used: it answered 500\n');
    fga.state.meddle = undefined;
    assert.equal(await readyz(), 'ready\n');
    assert.deepEqual(await held(), ['can_view', 'can_edit']);
  });

  it('A server that lacks the last write is not believed, and a new store takes the place of the old one', async () => {
    const before = fga.stores.size;
    const { tuples } = fga.latest();
    const old = new Map(tuples);
    await setRole([]);
    assert.deepEqual(await held(), []);
    tuples.clear();
    for (const [key, tuple] of old) tuples.set(key, tuple);
    assert.deepEqual(await held(), []);
    assert.equal(fga.stores.size, before + 1);
    await setRole([EDIT]);
    assert.deepEqual(await held(), ['can_view', 'can_edit']);
  });

  it('A server that lost its store gets a new one', async () => {
    const [id = ''] = [...fga.stores.keys()].slice(-1);
    const lost = fga.latest();
    fga.stores.delete(id);
    fga.stores.set(`${id} that was lost`, lost);
    assert.deepEqual(await held(), ['can_view', 'can_edit']);
    assert.ok((await sync())?.verified?.tuples);
  });

  it('A write whose confirmation was lost is not lost, and neither is one that never arrived', async () => {
    for (const [arrives, permissions] of [
      [true, []],
      [false, [EDIT]],
    ] as const) {
      let isOver = false;
      fga.state.meddle = ({ path, body, reply, proceed }) => {
        if (!isWrite(path) || isOver) return proceed();
        isOver = true;
        if (arrives) fga.write(fga.latest(), body);
        reply.drop();
      };
      await setRole(permissions);
      const interrupted = await atrium.as(holder.name)('GET', path());
      assert.equal(interrupted.status, 503);
      assert.deepEqual(await held(), permissions.length === 0 ? [] : ['can_view', 'can_edit']);
      assert.deepEqual(await sync(), { changes: 0, verified: { ...(await sync())?.verified, missing: 0, surplus: 0 } });
    }
  });

  it('A write that was overtaken has no effect when it arrives at last', async () => {
    let late: object | undefined;
    fga.state.meddle = ({ path, body, reply, proceed }) => {
      if (!isWrite(path) || late !== undefined) return proceed();
      late = body;
      reply.drop();
    };
    await setRole([EDIT, { namespace: 'cluster_mgmt', action: 'remove clusters' }]);
    assert.equal((await atrium.as(holder.name)('GET', path())).status, 503);
    assert.ok((await held()).includes('can_remove'));
    await setRole([]);
    assert.deepEqual(await held(), []);
    const { tuples } = fga.latest();
    const before = [...tuples.keys()];
    assert.deepEqual(fga.write(fga.latest(), { ...late }), [400, { code: 'write_failed_due_to_invalid_input' }]);
    assert.deepEqual([...tuples.keys()], before);
    await setRole([EDIT]);
  });

  it('Answers that a change has overtaken do not count', async () => {
    assert.deepEqual(await held(), ['can_view', 'can_edit']);
    let isOver = false;
    fga.state.meddle = ({ path, body, reply, proceed }) => {
      if (!isCheck(path) || isOver) return proceed();
      isOver = true;
      // The answer is from before the change, and arrives after it.
      const granted = checksIn(body).map((one) => [one.correlation_id, { allowed: true }]);
      void revoke().then(() => reply.send(200, { result: Object.fromEntries(granted) }));
    };
    // On a slow machine, all that may take longer than a question waits.
    let answer = await atrium.as(holder.name)('GET', path());
    for (let tries = 0; answer.status === 503 && tries < 5; tries++)
      answer = await atrium.as(holder.name)('GET', path());
    assert.deepEqual([answer.status, answer.body.allowedPermissions], [200, []]);
    await setRole([EDIT]);

    async function revoke(): Promise<void> {
      const actor = { id: atrium.world.users.ann?.id ?? 0n, name: 'ann', requestId: 'test' };
      const setting = { organizationId: atrium.world.orgs.acme?.id ?? 0n, actor };
      const input = { permissions: [], teamIds: [BigInt(holder.teamId)] };
      await atrium.instance.features.roles.update(setting, BigInt(holder.roleId), input, () => undefined);
      await atrium.instance.features.openFga?.sync(false);
    }
  });

  it('Verification removes what somebody else wrote, and writes what they deleted', async () => {
    const { tuples } = fga.latest();
    const stolen = [...tuples].find(([key]) => key.includes(`role:`) && key.includes(' assignee ')) ?? assert.fail();
    tuples.delete(stolen[0]);
    const forged = { user: 'user:1', relation: 'owner', object: `cluster:1/1` };
    tuples.set(fga.keyOf(forged), forged);
    const verified = (await sync())?.verified;
    assert.deepEqual([verified?.missing, verified?.surplus], [1, 1]);
    assert.ok(tuples.has(stolen[0]) && !tuples.has(fga.keyOf(forged)));
    assert.deepEqual((await sync())?.verified, { ...verified, missing: 0, surplus: 0 });
  });

  it('Many who publish at once in one process do not take all connections from each other', async () => {
    const verified = await Promise.all(Array.from({ length: 6 }, () => sync()));
    for (const one of verified) assert.deepEqual([one?.verified?.missing, one?.verified?.surplus], [0, 0]);
  });

  it('The command sync prints what it published, compared and repaired', async () => {
    assert.deepEqual(await printed(atrium, 'sync'), ['everything was published already']);
    const { tuples } = fga.latest();
    const forged = { user: 'user:1', relation: 'owner', object: 'cluster:1/1' };
    tuples.set(fga.keyOf(forged), forged);
    const ours = tuples.size - 2;
    const repaired = [
      'everything was published already',
      `compared ${ours} tuples: 0 were missing and 1 were not ours`,
      'the store is repaired; find out who else writes to it',
    ];
    assert.deepEqual(await printed(atrium, 'sync', '--verify'), repaired);
    // The server publishes by itself, too, and on a busy machine it may have been faster.
    let said = '';
    for (let tries = 0; tries < 6 && !said.startsWith('published'); tries++) {
      await setRole(tries % 2 === 0 ? [] : [EDIT]);
      said = (await printed(atrium, 'sync')).join();
    }
    assert.match(said, /^published \d+ changed tuples$/);
  });

  it('Settings that cannot work are rejected at the start', () => {
    const refused: readonly [Readonly<Record<string, string>>, RegExp][] = [
      [{ OPENFGA_URL: 'http://me:secret@fga:8080' }, /OPENFGA_URL must not contain a user or a password/],
      [{ OPENFGA_URL: 'grpc://fga:8081' }, /OPENFGA_URL must be a URL that starts with http/],
      [
        { OPENFGA_URL: 'http://fga:8080', DATABASE_URL: 'postgres://db/atrium', DATABASE_POOL: '1' },
        /OPENFGA_URL needs a DATABASE_POOL of at least 2/,
      ],
    ];
    for (const [env, message] of refused) assert.throws(() => readConfig(env), message);
    assert.equal(readConfig({ OPENFGA_URL: 'http://fga:8080/', DATABASE_POOL: '1' }).OPENFGA_URL, 'http://fga:8080');
  });

  it('The command rejects unknown subcommands, and a server without OPENFGA_URL', async () => {
    for (const words of [[], ['drop']]) {
      await assert.rejects(printed(atrium, ...words), /subcommand.*, for example: atrium openfga sync --verify/);
    }
    const other = await sharedServer();
    if (other.instance.config.OPENFGA_URL !== undefined) return;
    await assert.rejects(printed(other, 'sync'), /no OpenFGA server is used; set OPENFGA_URL to use one/);
  });

  it('The key is sent with every call and never logged', async () => {
    assert.deepEqual([...fga.authorizations], [`Bearer ${KEY}`]);
    assert.ok(!atrium.logged().includes(KEY));
    assert.ok(atrium.logged().includes('OpenFGA'));
  });
});
