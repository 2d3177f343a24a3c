import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runAgent } from '../../../src/agent/agent.ts';
import { createAtriumClient } from '../../../src/agent/atrium.client.ts';
import { createKubeApi } from '../../../src/agent/kube-api.client.ts';
import { bindingName, LABEL, type RoleName } from '../../../src/agent/rbac.ts';
import { cliAs } from '../../support/server/cli.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FakeKubernetes, type KubeRule, startFakeKubernetes } from '../../support/services/fake-kubernetes.ts';
import { assign, openPlace } from '../../support/world/assignments.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
/** Generous: the lane `kubernetes` measures, this names what is wrong. */
const SOON_MS = 20_000;

interface Options {
  readonly cutOffAfterMs?: number;
  readonly server?: string;
  readonly token?: () => string;
}

describe('The agent of a cluster', () => {
  let atrium: TestServer;
  let place: Awaited<ReturnType<typeof openPlace>>;
  let owner = '';
  let dan = '';
  let kube: FakeKubernetes;
  let rules: KubeRule[];
  let token = '';
  let said: string[] = [];
  const running: (() => Promise<void>)[] = [];
  const prod = () => place.prod.id;
  const call: TestServer['call'] = (...args) => place.call(...args);
  const cluster = async () => (await call('GET', `/clusters/${prod()}`)).body;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    [owner, dan] = [place.owner.name, place.dan.name];
    assert.equal((await call('PATCH', `/clusters/${prod()}`, { kubernetes: { auth: 'agent' } })).status, 200);
    const cli = cliAs(atrium, owner, { ATRIUM_ORG: place.org.name });
    const { code, stdout, stderr } = await cli('kube agent prod --image registry.example.com/atrium:0.9.0');
    assert.equal(code, 0, stderr);
    const manifest = parseAllDocuments(stdout).map((one) => one.toJS());
    const own = (kind: string) => manifest.filter((one) => one.kind === kind);
    rules = [...own('ClusterRole'), ...own('Role')].flatMap((one) => one.rules);
    token = own('Secret')[0].stringData.token;
    kube = await startFakeKubernetes(rules);
  });
  afterEach(async () => {
    for (const stop of running.splice(0)) await stop();
    kube.allow(rules);
    kube.setUp(true);
    assert.deepEqual(kube.rejected.splice(0), [], 'the manifest gives the agent what it needs');
  });
  after(async () => {
    await kube.close();
    await atrium.close();
  });

  function start({
    cutOffAfterMs = 3_600_000,
    server = atrium.url,
    token: read = () => token,
  }: Options = {}): () => Promise<void> {
    said = [];
    const end = new AbortController();
    const api = createKubeApi({ server: new URL(kube.url), ca: undefined, token: () => 'kube-token' });
    const client = createAtriumClient({ server: new URL(server), cluster: String(prod()), token: read });
    const options = { of: `${atrium.url} ${prod()}`, namespace: 'atrium-system', cutOffAfterMs, version: '0.9.0' };
    const done = runAgent({ kube: api, atrium: client, log: (line) => void said.push(line) }, options, end.signal);
    const stop = async () => {
      end.abort();
      await done;
    };
    running.push(stop);
    return stop;
  }

  const at = (role: RoleName, namespace?: string) =>
    namespace === undefined
      ? `clusterrolebindings/${bindingName(role)}`
      : `namespaces/${namespace}/rolebindings/${bindingName(role)}`;
  const users = (role: RoleName, namespace?: string) =>
    kube.binding(at(role, namespace))?.subjects?.map(({ name }) => name) ?? [];
  const isIn = (user: string, role: RoleName, namespace?: string) => users(role, namespace).includes(user);

  async function until(what: string, isSo: () => boolean | Promise<boolean>, ms = SOON_MS): Promise<number> {
    const began = performance.now();
    while (!(await isSo())) {
      const took = performance.now() - began;
      assert.ok(took < ms, `${what}: not after ${Math.round(took)} ms; it said: ${said.join(' | ')}`);
      await new Promise((done) => setTimeout(done, 20));
    }
    return performance.now() - began;
  }

  async function give(permission: string, more: object = {}): Promise<number> {
    const role = await place.role(`r${Math.random()}`.replace('.', ''), `cluster_mgmt ${permission}`);
    const to = { type: 'user', id: Number(place.dan.id) };
    return (await assign(place, role.id, to, { type: 'cluster', id: prod() }, more)).id;
  }
  const take = (id: number) => call('DELETE', place.at(id));

  it('writes what Atrium says, and an asterisk into the role of administrators alone', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:administer'));
    await until('a binding in a namespace', () => isIn(owner, 'atrium:edit', 'default'));
    assert.deepEqual(users('atrium:edit', 'kube-system'), []);
    assert.deepEqual(users('atrium:connect', 'atrium-system'), []);
    for (const [path, { metadata, rules: found }] of kube.objects) {
      if (!path.startsWith(`${RBAC}/`)) continue;
      assert.equal(metadata.labels?.[LABEL.name], LABEL.value, path);
      if (path.includes('/clusterroles/') && metadata.name !== 'atrium:administer') {
        assert.doesNotMatch(JSON.stringify(found?.map(({ nonResourceURLs: _, ...rest }) => rest)), /"\*"/, path);
      }
    }
    await until('a heartbeat', async () => (await cluster()).nodeCount === 3);
    await until('the report', async () => /created \d+/.test((await cluster()).status.response.message));
    const { orchestratorVersion, status } = await cluster();
    assert.deepEqual(
      [orchestratorVersion, status.response.phase, status.response.reason],
      ['v1.36.3', 'Active', 'Agent'],
    );
  });

  it('gives and takes what changes, in the namespaces that are named and in new ones', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:edit', 'default'));
    kube.put('/api/v1/namespaces/shop-1', { metadata: { name: 'shop-1' } });
    const id = await give('connect to clusters', { namespaces: ['shop-*'] });
    await until('access', () => isIn(dan, 'atrium:connect', 'shop-1'));
    assert.deepEqual(users('atrium:connect', 'default').includes(dan), false);
    kube.put('/api/v1/namespaces/shop-2', { metadata: { name: 'shop-2' } });
    await until('access in a new namespace', () => isIn(dan, 'atrium:connect', 'shop-2'));
    await take(id);
    await until('no access', () => !isIn(dan, 'atrium:connect', 'shop-1'));
    await until('none in the new one', () => !isIn(dan, 'atrium:connect', 'shop-2'));
  });

  it('ends what ends to the second, also while it is cut off', async () => {
    const end = new Date(Math.ceil(Date.now() / 1000) * 1000 + 6_000);
    await give('reconfigure clusters', { namespaces: ['default'], expires_at: end.toISOString() });
    const stop = start();
    await until('access', () => isIn(dan, 'atrium:edit', 'default'));
    await until('the state', () => [...kube.objects.keys()].some((path) => path.endsWith('/atrium-agent-state')));
    await stop();
    // Restarted, and Atrium cannot be reached.
    start({ server: 'http://127.0.0.1:9' });
    assert.ok(isIn(dan, 'atrium:edit', 'default'));
    await until('the end', () => !isIn(dan, 'atrium:edit', 'default'), 12_000);
    const late = Date.now() - end.getTime();
    assert.ok(late >= 0 && late < 3_000, `${late} ms after the end`);
    assert.ok(isIn(owner, 'atrium:edit', 'default'), 'what does not end stays');
  });

  it('repairs what others change, and leaves alone what is not its own', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:administer') && isIn(owner, 'atrium:view'));
    const path = `${RBAC}/${at('atrium:administer')}`;
    const right = kube.objects.get(path);
    assert.ok(right);
    const wrongs: [string, () => void, () => boolean][] = [
      [
        'another user',
        () => kube.put(path, { ...right, subjects: [{ name: 'mallory' }] }),
        () => isIn(owner, 'atrium:administer'),
      ],
      [
        'no label',
        () => kube.put(path, { ...right, subjects: [{ name: 'mallory' }], metadata: { name: right.metadata.name } }),
        () => isIn(owner, 'atrium:administer') && kube.objects.get(path)?.metadata.labels !== undefined,
      ],
      ['a deletion', () => kube.remove(path), () => isIn(owner, 'atrium:administer')],
      [
        'a copy with our label',
        () => kube.put(`${RBAC}/clusterrolebindings/copy`, { ...right, metadata: { ...right.metadata, name: 'copy' } }),
        () => !kube.objects.has(`${RBAC}/clusterrolebindings/copy`),
      ],
      [
        'another role',
        () =>
          kube.put(`${RBAC}/clusterroles/atrium:view`, {
            metadata: { name: 'atrium:view' },
            rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
          }),
        () => !JSON.stringify(kube.objects.get(`${RBAC}/clusterroles/atrium:view`)?.rules).includes('"*"'),
      ],
    ];
    kube.put(`${RBAC}/clusterrolebindings/other`, { ...right, metadata: { name: 'other' } });
    for (const [what, change, isRepaired] of wrongs) {
      change();
      await until(what, isRepaired);
    }
    assert.equal(kube.objects.get(`${RBAC}/clusterrolebindings/other`)?.subjects?.length, right.subjects?.length);
    kube.remove(`${RBAC}/clusterrolebindings/other`);
  });

  it('adds new kinds of resources to its roles', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:administer'));
    kube.addResource({ group: 'example.com', name: 'widgets', namespaced: true, verbs: ['get', 'list', 'delete'] });
    kube.put('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com', {
      metadata: { name: 'widgets.example.com' },
    });
    const rule = (role: RoleName) =>
      kube.objects
        .get(`${RBAC}/clusterroles/${role}`)
        ?.rules?.find(({ apiGroups }) => apiGroups?.includes('example.com'));
    await until('the new resource', () => rule('atrium:view') !== undefined);
    assert.deepEqual(rule('atrium:view')?.verbs, ['get', 'list']);
    await until('for editors', () => rule('atrium:edit')?.verbs.includes('delete') ?? false);
  });

  it('keeps its bindings while it is cut off, removes them after the set time, and brings them back', async () => {
    const stop = start();
    await until('the first bindings', () => isIn(owner, 'atrium:edit', 'default'));
    await stop();
    let reads = 'atr_0000000000000000000000000000000000000000';
    // A token that has ended counts as being cut off.
    start({ cutOffAfterMs: 2_500, token: () => reads });
    await until('a word about the token', () => said.some((line) => /Atrium: /.test(line)));
    assert.ok(isIn(owner, 'atrium:edit', 'default'));
    await until('the removal', () => users('atrium:administer').length + users('atrium:view').length === 0);
    await until('a word about it', () => /because it is cut off from Atrium/.test(said.join()));
    reads = token;
    await until('the return', () => isIn(owner, 'atrium:administer'), 15_000);
  });

  it('says so in its heartbeats if its rights are taken away, and goes on when it has them again', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:administer'));
    kube.allow(rules.filter(({ resources }) => !resources?.includes('clusterrolebindings')));
    await give('view clusters');
    await until('the fault', () => said.some((line) => /cannot list clusterrolebindings/.test(line)));
    await until('the report', async () => /cannot list/.test((await cluster()).status.response.message));
    assert.equal((await cluster()).status.response.phase, 'NotReady');
    kube.allow(rules);
    await until('access', () => isIn(dan, 'atrium:view'), 15_000);
    await until('a word about it', () => /lets it work again/.test(said.join()));
    await until('the report', async () => (await cluster()).status.response.phase === 'Active');
    kube.rejected.splice(0);
  });

  it('takes everything back when the cluster is no longer governed by an agent', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:administer'));
    await call('PATCH', `/clusters/${prod()}`, { kubernetes: { auth: 'none' } });
    await until('the removal', () => ![...kube.objects.keys()].some((path) => path.includes('bindings/atrium:')));
    await call('PATCH', `/clusters/${prod()}`, { kubernetes: { auth: 'agent' } });
    await until('the return', () => isIn(owner, 'atrium:administer'));
  });

  it('survives an API server that restarts', async () => {
    start();
    await until('the first bindings', () => isIn(owner, 'atrium:administer'));
    kube.setUp(false);
    kube.cut();
    await until('the fault', () => said.length > 1);
    kube.setUp(true);
    kube.remove(`${RBAC}/${at('atrium:administer')}`);
    await until('the repair', () => isIn(owner, 'atrium:administer'), 15_000);
  });

  it('has a token that opens nothing else', async () => {
    const asked = async (method: string, path: string) => {
      const answer = await fetch(`${atrium.url}/api/v1${path}`, {
        method,
        headers: { Authorization: `token ${token}` },
      });
      return answer.status;
    };
    assert.equal(await asked('GET', `/clusters/${prod()}/bindings`), 200);
    assert.equal(await asked('GET', `/clusters/${place.staging.id}/bindings`), 404);
    assert.equal(await asked('POST', `/clusters/${place.staging.id}/heartbeat`), 404);
    for (const path of [
      `/orgs/${place.org.name}/clusters`,
      `/orgs/${place.org.name}/members`,
      '/user/orgs',
      `/clusters/${prod()}/kubeconfig`,
    ]) {
      assert.ok([401, 403, 404].includes(await asked('GET', path)), path);
    }
    assert.ok([403, 404].includes(await asked('DELETE', `/clusters/${prod()}`)));
  });
});
