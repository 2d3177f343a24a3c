import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { cliAs } from '../support/server/cli.ts';
import { type Governed, openGoverned } from '../support/services/governed-kubernetes.ts';
import { kubeToken, tokenOf } from '../support/services/kubernetes.ts';
import { KUBERNETES_VERSION, lacksKubernetes } from '../support/services/kubernetes-build.ts';
import { type KubernetesProcess, runKubectl } from '../support/services/kubernetes-process.ts';
import { lacks } from '../support/services/requirements.ts';
import { assign } from '../support/world/assignments.ts';
import { callWith } from '../support/world/robots.ts';

const PODS = '/api/v1/namespaces/shop/pods';
const skip = lacksKubernetes() || lacks('postgresql');

describe(`A real API server ${KUBERNETES_VERSION} that asks`, { skip }, () => {
  let governed: Governed;
  let kube: KubernetesProcess;
  let owner = '';
  let dan = '';
  before(async () => {
    governed = await openGoverned();
    [owner, dan] = [governed.place.owner.name, governed.place.dan.name];
    kube = await governed.startApiServer();
    for (const name of ['shop', 'web']) {
      assert.equal((await kube.call('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201);
    }
  });
  after(async () => {
    kube?.stop();
    await governed?.close();
  });
  afterEach(() => governed.clear());

  const status = async (path: string, token: string) => (await kube.call('GET', path, undefined, token)).status;

  it('lets the owner do everything, and says who they are', async () => {
    const { place } = governed;
    const token = await governed.tokenOf(owner);
    const who = await kube.kubectl(token, 'auth', 'whoami', '-o', 'json');
    assert.equal(who.code, 0, who.stderr);
    const { username, uid, groups, extra } = JSON.parse(who.stdout).status.userInfo;
    assert.deepEqual([username, uid], [owner, `user:${place.owner.id}`]);
    assert.ok(groups.includes(`atrium:${place.org.name}`));
    assert.equal(extra['atrium/token-id'].length, 1);
    const made = await kube.kubectl(token, 'create', 'namespace', 'made');
    assert.equal(made.code, 0, made.stderr);
    const pods = await kube.kubectl(token, 'get', 'pods', '-A');
    assert.equal(pods.code, 0, pods.stderr);
  });

  it('says no with the sentence and the command that asks for it, and yes after exactly that was approved', async () => {
    const { atrium, place } = governed;
    const look = await place.role('somewhere', 'cluster_mgmt view clusters');
    await assign(place, look.id, { type: 'user', id: Number(place.dan.id) }, governed.on, { namespaces: ['web'] });
    const token = await governed.tokenOf(dan);
    const no = await kube.kubectl(token, '-n', 'shop', 'get', 'pods');
    assert.equal(no.code, 1);
    assert.match(no.stderr, /pods is forbidden: User "\S+" cannot list resource "pods"/);
    assert.match(no.stderr, new RegExp(`${dan} cannot view prod in the namespace shop`));
    const [command = ''] = /^atrium request .*$/m.exec(no.stderr) ?? [];
    assert.equal(command, 'atrium request view cluster:prod --namespace shop --for 4h --because …');
    progress(no.stderr.trim().replaceAll('\n', ' / '));
    const asked = await cliAs(atrium, dan, { ATRIUM_ORG: place.org.name })(command.slice('atrium '.length));
    assert.equal(asked.code, 0, asked.stderr);
    const org = `org=${place.org.name}`;
    const { body } = await place.call('GET', `/authz/requests?${org}&state=open`);
    const { id, digest } = (await place.call('GET', `/authz/requests/${body[0].id}?${org}`)).body;
    const approved = await place.call('POST', `/authz/requests/${id}/approve?${org}`, { digest });
    assert.equal(approved.status, 200, approved.text);
    const yes = await kube.kubectl(token, '-n', 'shop', 'get', 'pods');
    assert.equal(yes.code, 0, yes.stderr);
  });

  it('says yes in one namespace and in no other', async () => {
    await governed.give({ namespaces: ['shop'] });
    const token = await governed.tokenOf(dan);
    const yes = await kube.kubectl(token, '-n', 'shop', 'get', 'pods');
    assert.equal(yes.code, 0, yes.stderr);
    for (const line of [
      ['-n', 'default', 'get', 'pods'],
      ['get', 'pods', '-A'],
      ['get', 'nodes'],
      ['-n', 'shop', 'get', 'secrets'],
    ]) {
      assert.equal((await kube.kubectl(token, ...line)).code, 1, line.join(' '));
    }
    const exec = ['auth', 'can-i', 'create', 'pods', '--subresource=exec'];
    assert.equal((await kube.kubectl(token, '-n', 'shop', ...exec)).stdout.trim(), 'yes');
    assert.equal((await kube.kubectl(token, 'get', 'namespace', 'shop')).code, 0);
  });

  it('works with the kubeconfig and the program that atrium writes', async () => {
    const { atrium, place } = governed;
    const [bin, home] = [join(kube.folder, 'bin'), join(kube.folder, 'home')];
    for (const folder of [bin, home]) mkdirSync(folder);
    const set = { endpoint: kube.url, caBundle: kube.ca };
    assert.equal((await place.call('PATCH', `/clusters/${place.prod.id}`, set)).status, 200);
    const cli = cliAs(atrium, owner, { ATRIUM_ORG: place.org.name });
    const { stdout } = await cli('kube config prod --print');
    assert.equal(parse(stdout).users[0].user.exec.command, 'atrium');
    const config = join(kube.folder, 'config');
    writeFileSync(config, stdout);
    writeFileSync(join(bin, 'atrium'), `#!/bin/sh\nexec ${process.execPath} ${resolve('bin/atrium.mjs')} "$@"\n`);
    chmodSync(join(bin, 'atrium'), 0o755);
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      ATRIUM_URL: atrium.url,
      ATRIUM_ORG: place.org.name,
      ATRIUM_TOKEN: atrium.world.users[owner]?.token ?? '',
    };
    const ran = await runKubectl(['--kubeconfig', config, 'get', 'namespaces'], home, env);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /kube-system/);
  });

  it('obeys a revocation with the next request; a watch that is under way goes on', async () => {
    const id = await governed.give();
    const token = await governed.tokenOf(dan);
    const watch = kube.follow(token, '-n', 'shop', 'get', 'configmaps', '-w', '-o', 'name');
    let made = 0;
    const make = async () => {
      const name = `c${++made}`;
      await kube.call('POST', '/api/v1/namespaces/shop/configmaps', { metadata: { name } });
      return `configmap/${name}\n`;
    };
    await until(async () => {
      await make();
      return watch.said() !== '';
    });
    assert.equal(await status(PODS, token), 200);
    await governed.take(id);
    assert.equal(await status(PODS, token), 403);
    const later = await make();
    await until(() => watch.said().includes(later));
    assert.ok(watch.isRunning());
    await watch.end();
    const again = kube.follow(token, '-n', 'shop', 'get', 'configmaps', '-w', '-o', 'name');
    await until(() => !again.isRunning());
    assert.match(again.said(), /forbidden/);
  });

  it('ends access to the second', async () => {
    const end = Math.ceil(Date.now() / 1000) * 1000 + 3_000;
    const token = await governed.give({ expires_at: new Date(end).toISOString() }).then(() => governed.tokenOf(dan));
    let lastYes = 0;
    let firstNo = 0;
    while (firstNo === 0) {
      const began = Date.now();
      const answered = await status(PODS, token);
      if (answered === 200) lastYes = began;
      else firstNo = Date.now();
      assert.ok(Date.now() < end + 60_000, 'it ends');
    }
    progress(
      `the last yes was asked for ${end - lastYes} ms before the end, the first no came ${firstNo - end} ms after`,
    );
    assert.ok(lastYes <= end && lastYes > 0);
    assert.ok(firstNo >= end);
  });

  it('knows robots by their name, and what is assigned to them', async () => {
    const { atrium, place, on } = governed;
    const robot = await place.call('POST', `/orgs/${place.org.name}/robots`, { name: 'ci' });
    const made = await place.call('POST', `/robots/${robot.body.id}/tokens`, { name: 'ci', scopes: ['kube'] });
    assert.equal(made.status, 201, made.text);
    const work = await place.role('worker', 'cluster_mgmt connect to clusters');
    await assign(place, work.id, { type: 'robot_ac', id: robot.body.id }, on, { namespaces: ['shop'] });
    const token = await kubeToken(callWith(atrium, made.body.sha1), place.prod.id);
    const { username, uid, extra } = JSON.parse((await kube.kubectl(token, 'auth', 'whoami', '-o', 'json')).stdout)
      .status.userInfo;
    assert.deepEqual([username, uid], [`${place.org.name}/ci`, `robot_ac:${robot.body.id}`]);
    assert.deepEqual(extra['atrium/robot'], [`${place.org.name}/ci`]);
    assert.equal(await status(PODS, token), 200);
    assert.equal(await status('/api/v1/namespaces/web/pods', token), 403);
    await place.call('DELETE', `/robots/${robot.body.id}/tokens/${made.body.id}`);
    // The API server keeps a good token for ten seconds, and yet authorization knows it immediately.
    assert.ok([401, 403].includes(await status(PODS, token)));
  });

  it('lets in no user whose credential has ended, even if RBAC of the cluster would', async () => {
    const { atrium, place } = governed;
    const binding = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: dan }];
    const bound = await kube.call('POST', binding, { metadata: { name: 'ended' }, roleRef, subjects });
    assert.equal(bound.status, 201);
    await governed.give({ namespaces: ['web'] });
    const credential = await tokenOf(atrium, dan, { scopes: ['kube'] });
    const token = await kubeToken(credential.call, place.prod.id);
    assert.equal(await status(PODS, token), 200, 'RBAC allows what Atrium does not');
    await atrium.instance.identity.tokens.revoke(credential.id);
    const no = await kube.call('GET', PODS, undefined, token);
    assert.ok([401, 403].includes(no.status), JSON.stringify(no.body));
    await kube.call('DELETE', `${binding}/ended`);
  });

  it('accepts no token of another cluster, and none opens anything of Atrium', async () => {
    const { atrium, place } = governed;
    const other = await kubeToken(atrium.as(owner), place.staging.id);
    assert.equal(await status(PODS, other), 401);
    const mine = atrium.world.users[owner]?.token ?? '';
    assert.equal(await status(PODS, mine), 401, 'a token that is not for this cluster');
    const token = await governed.tokenOf(owner);
    for (const path of [
      '/user',
      `/clusters/${place.prod.id}`,
      `/clusters/${place.staging.id}/bindings`,
      '/user/orgs',
    ]) {
      for (const word of ['token', 'Bearer']) {
        const answer = await fetch(`${atrium.url}/api/v1${path}`, { headers: { Authorization: `${word} ${token}` } });
        assert.equal(answer.status, 401, path);
      }
    }
  });
});
