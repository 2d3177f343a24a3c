import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { bindingName, type RoleName } from '../../src/agent/rbac.ts';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { cliAs } from '../support/server/cli.ts';
import { startServer } from '../support/server/process.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { KUBERNETES_VERSION, lacksKubernetes } from '../support/services/kubernetes-build.ts';
import { type KubernetesProcess, runKubernetes } from '../support/services/kubernetes-process.ts';
import { openRelay, type Relay } from '../support/services/relay.ts';
import { assign, openPlace } from '../support/world/assignments.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AS_OPERATOR = 'admin-token';
/** Generous: what is late is printed, and a busy machine is not a failure. */
const LATE_MS = 10_000;

describe(`The agent in a real cluster ${KUBERNETES_VERSION}`, { skip: lacksKubernetes() }, () => {
  let atrium: TestServer;
  let place: Awaited<ReturnType<typeof openPlace>>;
  let relay: Relay;
  let kube: KubernetesProcess;
  /** The token of its service account, as the API server issued it. */
  let account = '';
  let owner = '';
  let dan = '';
  const running: ((signal?: NodeJS.Signals) => Promise<void>)[] = [];
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
    place = await openPlace(atrium);
    [owner, dan] = [place.owner.name, place.dan.name];
    await place.call('PATCH', `/clusters/${place.prod.id}`, { kubernetes: { auth: 'agent' } });
    relay = await openRelay(atrium.url);
    kube = await runKubernetes({ flags: ['--authorization-mode=RBAC'] });
    const cli = cliAs(atrium, owner, { ATRIUM_ORG: place.org.name });
    const { code, stdout, stderr } = await cli('kube agent prod --image registry.example.com/atrium:0.9.0');
    assert.equal(code, 0, stderr);
    const file = join(kube.folder, 'agent.yaml');
    writeFileSync(file, stdout);
    const applied = await kube.kubectl(AS_OPERATOR, 'apply', '-f', file);
    assert.equal(applied.code, 0, applied.stderr);
    const [secret] = parseAllDocuments(stdout)
      .map((one) => one.toJS())
      .filter(({ kind }) => kind === 'Secret');
    const made = await kube.kubectl(AS_OPERATOR, '-n', 'atrium-system', 'create', 'token', 'atrium-agent');
    assert.equal(made.code, 0, made.stderr);
    account = made.stdout.trim();
    for (const [name, text] of Object.entries({ token: secret.stringData.token, account, 'ca.crt': kube.ca }))
      writeFileSync(join(kube.folder, name), text, { mode: 0o600 });
    await kube.call('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  });
  afterEach(async () => {
    for (const stop of running.splice(0)) await stop();
  });
  after(async () => {
    kube?.stop();
    await relay?.cut().catch(() => undefined);
    await atrium?.close();
  });

  /** The program of the image, with what a pod of the manifest finds in its files. */
  function start(cutOffAfter = '1h'): (signal?: NodeJS.Signals) => Promise<void> {
    const file = (name: string) => join(kube.folder, name);
    const agent = startServer({
      main: 'src/cli.ts',
      args: [
        'agent',
        ...['--server', relay.url, '--cluster', String(place.prod.id), '--token-file', file('token')],
        ...['--kube-server', kube.url, '--kube-token-file', file('account'), '--kube-ca-file', file('ca.crt')],
        ...['--cut-off-after', cutOffAfter],
      ],
    });
    let isOver = false;
    const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
      if (isOver) return;
      isOver = true;
      agent.kill(signal);
      const { code } = await agent.ended;
      if (signal === 'SIGTERM') assert.equal(code, 0, agent.stderr());
    };
    running.push(stop);
    return stop;
  }

  /** What the API server itself decides. */
  async function may(
    user: string,
    verb: string,
    resource: string,
    namespace = '',
    more: object = {},
  ): Promise<boolean> {
    const [name = '', subresource = ''] = resource.split('/');
    const resourceAttributes = { verb, resource: name, subresource, namespace, ...more };
    const { body } = await kube.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    });
    return body.status.allowed;
  }
  const give = async (more: object = {}) => {
    const on = { type: 'cluster', id: place.prod.id };
    return (await assign(place, place.operator.id, { type: 'user', id: Number(place.dan.id) }, on, more)).id;
  };
  const cluster = async () => (await place.call('GET', `/clusters/${place.prod.id}`)).body;
  const ready = () => until(() => may(owner, 'delete', 'nodes'));
  const binding = (role: RoleName) => `${RBAC}/clusterrolebindings/${bindingName(role)}`;

  it('gives what Atrium says, takes it within a second, and reports', async () => {
    start();
    await ready();
    assert.deepEqual(
      [await may(dan, 'get', 'pods', 'shop'), await may(owner, 'create', 'pods/exec', 'shop')],
      [false, true],
    );
    const id = await give({ namespaces: ['sho*'] });
    const began = performance.now();
    await until(() => may(dan, 'create', 'pods/exec', 'shop'));
    const given = performance.now() - began;
    assert.deepEqual(
      [
        await may(dan, 'get', 'pods', 'default'),
        await may(dan, 'get', 'secrets', 'shop'),
        await may(dan, 'list', 'pods'),
      ],
      [false, false, false],
    );
    await place.call('DELETE', place.at(id));
    const took = performance.now();
    await until(async () => !(await may(dan, 'create', 'pods/exec', 'shop')));
    const taken = performance.now() - took;
    progress(`given after ${Math.round(given)} ms, taken after ${Math.round(taken)} ms`);
    assert.ok(given < LATE_MS && taken < LATE_MS, `${given} ms, ${taken} ms`);
    await until(async () => (await cluster()).orchestratorVersion === KUBERNETES_VERSION);
    await until(async () => /created \d+/.test((await cluster()).status.response.message));
  });

  it('ends access to the second, also while it is cut off and after it was restarted', async () => {
    const end = Math.ceil(Date.now() / 1000) * 1000 + 12_000;
    await give({ expires_at: new Date(end).toISOString() });
    const stop = start();
    await until(() => may(dan, 'create', 'pods/exec', 'shop'));
    await until(async () => {
      const { status } = await kube.call('GET', '/api/v1/namespaces/atrium-system/configmaps/atrium-agent-state');
      return status === 200;
    });
    await stop('SIGKILL');
    await relay.cut();
    start();
    await until(async () => !(await may(dan, 'create', 'pods/exec', 'shop')));
    const late = Date.now() - end;
    progress(`ended ${late} ms after the end`);
    assert.ok(late >= 0 && late < LATE_MS, `${late} ms`);
    assert.ok(await may(owner, 'delete', 'nodes'), 'what does not end stays');
    await relay.restore();
  });

  it('takes everything back after the set time, and brings it back', async () => {
    const stop = start();
    await ready();
    await stop('SIGKILL');
    await relay.cut();
    start('6s');
    assert.ok(await may(owner, 'delete', 'nodes'));
    await until(async () => !(await may(owner, 'delete', 'nodes')));
    assert.equal((await kube.call('GET', binding('atrium:administer'))).status, 404);
    await relay.restore();
    await ready();
  });

  it('repairs what is edited by hand', async () => {
    start();
    await ready();
    const mallory = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'mallory' }];
    const { body } = await kube.call('GET', binding('atrium:administer'));
    const edit = (change: object) => kube.call('PUT', binding('atrium:administer'), { ...body, ...change });
    const times: number[] = [];
    const repaired = async () => {
      const began = performance.now();
      await until(async () => (await may(owner, 'delete', 'nodes')) && !(await may('mallory', 'delete', 'nodes')));
      times.push(Math.round(performance.now() - began));
    };
    assert.equal((await edit({ subjects: [...body.subjects, ...mallory] })).status, 200);
    await repaired();
    const now = (await kube.call('GET', binding('atrium:administer'))).body;
    const { labels: _, ...bare } = now.metadata;
    assert.equal((await edit({ ...now, metadata: bare, subjects: mallory })).status, 200);
    await repaired();
    assert.equal((await kube.call('DELETE', binding('atrium:administer'))).status, 200);
    await repaired();
    const role = `${RBAC}/clusterroles/atrium:view`;
    const view = (await kube.call('GET', role)).body;
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    assert.equal((await kube.call('PUT', role, { ...view, rules: all })).status, 200);
    await until(async () => !JSON.stringify((await kube.call('GET', role)).body.rules).includes('"*"'));
    progress(`repaired after ${times.join(', ')} ms`);
  });

  it('knows new kinds of resources', async () => {
    start();
    await ready();
    const created = await kube.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const id = await give({ namespaces: ['shop'] });
    await until(() => may(dan, 'list', 'widgets', 'shop', { group: 'example.com' }));
    assert.equal(await may(dan, 'delete', 'widgets', 'shop', { group: 'example.com' }), false);
    await place.call('DELETE', place.at(id));
  });

  it('says so if its rights are taken away, and goes on when it has them again', async () => {
    start();
    await ready();
    const path = `${RBAC}/clusterroles/atrium-agent`;
    const { body } = await kube.call('GET', path);
    assert.equal((await kube.call('PUT', path, { ...body, rules: [] })).status, 200);
    const id = await give();
    await until(async () => (await cluster()).status.response.phase === 'NotReady');
    assert.match((await cluster()).status.response.message, /forbidden/);
    const { metadata } = (await kube.call('GET', path)).body;
    assert.equal((await kube.call('PUT', path, { ...body, metadata })).status, 200);
    await until(() => may(dan, 'create', 'pods/exec', 'shop'));
    await until(async () => (await cluster()).status.response.phase === 'Active');
    await place.call('DELETE', place.at(id));
  });

  it('survives a restart of the API server', async () => {
    start();
    await ready();
    await kube.restart();
    const id = await give();
    await until(() => may(dan, 'create', 'pods/exec', 'shop'));
    await place.call('DELETE', place.at(id));
  });

  it('may do no more than its manifest says', async () => {
    const as = async (method: string, path: string, body?: object) =>
      (await kube.call(method, path, body, account)).status;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    assert.equal(await as('POST', `${RBAC}/clusterrolebindings`, { metadata: { name: 'mine' }, roleRef }), 403);
    assert.equal(await as('POST', `${RBAC}/clusterroles`, { metadata: { name: 'mine' }, rules: all }), 403);
    assert.equal(await as('GET', '/api/v1/secrets'), 403);
    assert.equal(await as('GET', '/api/v1/namespaces/atrium-system/secrets/atrium-agent'), 403);
    assert.equal(await as('GET', '/api/v1/pods'), 403);
    const { body } = await kube.call('GET', `${RBAC}/clusterrolebindings/cluster-admin`);
    assert.equal(await as('PUT', `${RBAC}/clusterrolebindings/cluster-admin`, body), 403);
    const role = (await kube.call('GET', `${RBAC}/clusterroles/view`)).body;
    assert.equal(await as('PUT', `${RBAC}/clusterroles/view`, { ...role, rules: all }), 403);
  });
});
