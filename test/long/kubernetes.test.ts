import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { until } from '../support/checks/until.ts';
import { cliAs } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { kubeToken } from '../support/services/kubernetes.ts';
import { KUBERNETES_VERSION, lacksKubernetes } from '../support/services/kubernetes-build.ts';
import { ISSUER, type KubernetesProcess, runKubectl, runKubernetes } from '../support/services/kubernetes-process.ts';
import { openRelay, type Relay } from '../support/services/relay.ts';
import { assign, openPlace } from '../support/world/assignments.ts';
import { addMember, makePerson } from '../support/world/people.ts';
import { leastRelations, randomReview } from '../support/world/random-reviews.ts';
import { callWith } from '../support/world/robots.ts';

type Place = Awaited<ReturnType<typeof openPlace>>;
const FOLDER = '/etc/kubernetes/atrium';

/** The flags and files of `atrium kube server-config`, as an operator would use them. */
async function serverConfig(atrium: TestServer, place: Place, relay: Relay, failurePolicy = 'NoOpinion') {
  const cli = cliAs(atrium, place.owner.name, { ATRIUM_ORG: place.org.name });
  const { code, stdout, stderr } = await cli('kube server-config prod');
  assert.equal(code, 0, stderr);
  const here = (text: string) => text.replaceAll(`${FOLDER}/`, '{folder}/');
  const [tokens, access, authorization] = parseAllDocuments(stdout).map((one) => one.toJS());
  const [, webhook] = authorization.authorizers;
  webhook.webhook.failurePolicy = failurePolicy;
  const ca = Buffer.from(relay.ca ?? '').toString('base64');
  const relayed = (config: { clusters: { cluster: object }[] }) => {
    for (const { cluster } of config.clusters) Object.assign(cluster, { 'certificate-authority-data': ca });
    return stringify(config, { lineWidth: 0 }).replaceAll(atrium.url, relay.url);
  };
  const flags = [...stdout.matchAll(/^# (--\S+=\S+)$/gm)].map(([, flag = '']) => here(flag).replace('ISSUER', ISSUER));
  assert.equal(flags.length, 5);
  const files = { 'token-review.yaml': relayed(tokens), 'access-review.yaml': relayed(access) };
  return { flags, files, authorization: stringify(authorization) };
}

async function startGoverned(atrium: TestServer, place: Place, relay: Relay, failurePolicy?: string) {
  const { flags, files, authorization } = await serverConfig(atrium, place, relay, failurePolicy);
  // The file names the other by its path, which is known once the folder is.
  return await runKubernetes({ flags, files: { ...files, 'authorization.yaml': authorization }, paths: FOLDER });
}

describe(`A real API server ${KUBERNETES_VERSION} that asks`, { skip: lacksKubernetes() }, () => {
  let atrium: TestServer;
  let place: Place;
  let relay: Relay;
  let kube: KubernetesProcess;
  let owner = '';
  let dan = '';
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
    place = await openPlace(atrium);
    [owner, dan] = [place.owner.name, place.dan.name];
    const set = await place.call('PATCH', `/clusters/${place.prod.id}`, { kubernetes: { auth: 'webhook' } });
    assert.equal(set.status, 200, set.text);
    relay = await openRelay(atrium.url, 'tls');
    kube = await startGoverned(atrium, place, relay);
    for (const name of ['shop', 'web']) {
      assert.equal((await kube.call('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201);
    }
  });
  after(async () => {
    kube?.stop();
    await relay?.cut().catch(() => undefined);
    await atrium?.close();
  });

  const tokenOf = (name: string) => kubeToken(atrium.as(name), place.prod.id);
  const on = () => ({ type: 'cluster', id: place.prod.id });
  const to = (id: bigint) => ({ type: 'user', id: Number(id) });
  const give = async (more: object = {}) => (await assign(place, place.operator.id, to(place.dan.id), on(), more)).id;
  const take = async (id: number) => {
    assert.equal((await place.call('DELETE', place.at(id))).status, 204);
  };
  const status = async (path: string, token: string) => (await kube.call('GET', path, undefined, token)).status;
  afterEach(async () => {
    const { body } = await place.call('GET', `${place.path}&to=user:${place.dan.id}`);
    for (const { id } of body as { id: number }[]) await place.call('DELETE', place.at(id));
  });
  const PODS = '/api/v1/namespaces/shop/pods';

  it('lets the owner do everything, and says who they are', async () => {
    const token = await tokenOf(owner);
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

  it('says no with the sentence and the command, then yes in one namespace and in no other', async () => {
    const viewer = await assign(
      place,
      (await place.role('somewhere', 'cluster_mgmt view clusters')).id,
      to(place.dan.id),
      on(),
      { namespaces: ['web'] },
    );
    const token = await tokenOf(dan);
    const no = await kube.kubectl(token, '-n', 'shop', 'get', 'pods');
    assert.equal(no.code, 1);
    assert.match(no.stderr, /pods is forbidden: User "\S+" cannot list resource "pods"/);
    assert.match(no.stderr, new RegExp(`${dan} cannot view prod in the namespace shop`));
    progress(no.stderr.trim().replaceAll('\n', ' / '));
    const given = await give({ namespaces: ['shop'] });
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
    assert.equal(
      (await kube.kubectl(token, '-n', 'shop', 'auth', 'can-i', 'create', 'pods', '--subresource=exec')).stdout.trim(),
      'yes',
    );
    assert.equal((await kube.kubectl(token, 'get', 'namespace', 'shop')).code, 0);
    await take(given);
    await take(viewer.id);
  });

  it('works with the kubeconfig and the program that atrium writes', async () => {
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
    const id = await give();
    const token = await tokenOf(dan);
    const watch = kube.follow(token, '-n', 'shop', 'get', 'configmaps', '-w', '-o', 'name');
    await until(async () => {
      await kube.call('POST', '/api/v1/namespaces/shop/configmaps', { metadata: { name: `c${Date.now()}` } });
      return watch.said() !== '';
    });
    assert.equal(await status(PODS, token), 200);
    await take(id);
    assert.equal(await status(PODS, token), 403);
    assert.ok(watch.isRunning());
    await watch.end();
    const again = kube.follow(token, '-n', 'shop', 'get', 'configmaps', '-w', '-o', 'name');
    await until(() => !again.isRunning());
    assert.match(again.said(), /forbidden/);
  });

  it('ends access to the second', async () => {
    const end = Math.ceil(Date.now() / 1000) * 1000 + 3_000;
    await give({ expires_at: new Date(end).toISOString() });
    const token = await tokenOf(dan);
    let lastYes = 0;
    let firstNo = 0;
    while (firstNo === 0) {
      const began = Date.now();
      const answered = await status(PODS, token);
      if (answered === 200) lastYes = began;
      else firstNo = Date.now();
      assert.ok(Date.now() < end + 5_000, 'it ends');
    }
    progress(
      `the last yes was asked for ${end - lastYes} ms before the end, the first no came ${firstNo - end} ms after`,
    );
    assert.ok(lastYes <= end && lastYes > 0);
    assert.ok(firstNo >= end && firstNo - end < 1_000, `${firstNo - end} ms`);
  });

  it('knows robots by their name, and what is assigned to them', async () => {
    const robot = await place.call('POST', `/orgs/${place.org.name}/robots`, { name: 'ci' });
    const made = await place.call('POST', `/robots/${robot.body.id}/tokens`, { name: 'ci', scopes: ['kube'] });
    assert.equal(made.status, 201, made.text);
    const work = await place.role('worker', 'cluster_mgmt connect to clusters');
    await assign(place, work.id, { type: 'robot_ac', id: robot.body.id }, on(), { namespaces: ['shop'] });
    const token = await kubeToken(callWith(atrium, made.body.sha1), place.prod.id);
    const { username, uid, extra } = JSON.parse((await kube.kubectl(token, 'auth', 'whoami', '-o', 'json')).stdout)
      .status.userInfo;
    assert.deepEqual([username, uid], [`${place.org.name}/ci`, `robot_ac:${robot.body.id}`]);
    assert.deepEqual(extra['atrium/robot'], [`${place.org.name}/ci`]);
    assert.equal(await status(PODS, token), 200);
    assert.equal(await status('/api/v1/namespaces/web/pods', token), 403);
    await place.call('DELETE', `/robots/${robot.body.id}/tokens/${made.body.id}`);
    // The API server keeps a good token for ten seconds, and yet authorization knows at once.
    assert.ok([401, 403].includes(await status(PODS, token)));
  });

  it('accepts no token of another cluster, and none opens anything of Atrium', async () => {
    const other = await kubeToken(atrium.as(owner), place.staging.id);
    assert.equal(await status(PODS, other), 401);
    const mine = atrium.world.users[owner]?.token ?? '';
    assert.equal(await status(PODS, mine), 401, 'a token that is not for this cluster');
    const token = await tokenOf(owner);
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

  it(`answers ${COUNTS.kubernetesReviews} random SubjectAccessReviews as explain does, with seed ${SEED}`, async () => {
    const random = createRandom(SEED);
    const people = await fillPlace(atrium, place, random);
    const explained = new Map<string, boolean>();
    const differences: string[] = [];
    let [yes, no] = [0, 0];
    const one = async (): Promise<void> => {
      const user = random.pick(people);
      const asked = randomReview(random);
      const [{ body }, expected] = [
        await kube.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes: asked },
        }),
        await isExpected(user, asked),
      ];
      if (body.status.allowed !== expected) differences.push(`${user}: ${JSON.stringify(asked)} ${expected}`);
      if (expected) yes++;
      else no++;
    };
    for (let done = 0; done < COUNTS.kubernetesReviews; done += 20) {
      await Promise.all(Array.from({ length: 20 }, one));
      if (done % 1000 === 980) progress(`${done + 20} of ${COUNTS.kubernetesReviews} reviews, ${yes} yes`);
    }
    assert.deepEqual(differences, []);
    assert.ok(Math.min(yes, no) > COUNTS.kubernetesReviews / 20, `${yes} yes, ${no} no`);

    async function isExpected(user: string, asked: ReturnType<typeof randomReview>): Promise<boolean> {
      const { relations, namespace } = leastRelations(asked);
      for (const relation of relations) if (await explains(user, relation, namespace)) return true;
      return false;
    }

    async function explains(user: string, relation: string, namespace: string): Promise<boolean> {
      const key = `${user} ${relation} ${namespace}`;
      const known = explained.get(key);
      if (known !== undefined) return known;
      const path = `/authz/objects/cluster/${place.prod.id}/explain?org=${place.org.name}&relation=${relation}&user=${user}&namespace=${namespace}`;
      const answer = await place.call('GET', path);
      assert.equal(answer.status, 200, answer.text);
      explained.set(key, answer.body.allowed);
      return answer.body.allowed;
    }
  });

  it('goes on after a restart of the API server', async () => {
    const id = await give();
    const token = await tokenOf(dan);
    await kube.restart();
    assert.equal(await status(PODS, token), 200);
    await take(id);
    assert.equal(await status(PODS, token), 403);
  });

  for (const policy of ['NoOpinion', 'Deny'] as const) {
    it(`while Atrium is killed under load, ${policy} leaves ${policy === 'Deny' ? 'nothing' : 'RBAC'} to users`, async () => {
      const governed = policy === 'NoOpinion' ? kube : await startGoverned(atrium, place, relay, policy);
      let isLoaded = true;
      let isCut = false;
      try {
        // Break glass: the same user, bound in the cluster itself.
        const bound = await governed.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
          metadata: { name: 'break-glass' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: dan }],
        });
        assert.equal(bound.status, 201);
        // Dan may see the cluster, or there is no token for him, but nothing in the namespace that is asked about.
        await give({ namespaces: ['web'] });
        const [ours, theirs] = [await tokenOf(owner), await tokenOf(dan)];
        const ask = (token: string) => governed.call('GET', '/api/v1/namespaces/default/configmaps', undefined, token);
        assert.equal((await ask(ours)).status, 200);
        const answers: number[] = [];
        const load = Array.from({ length: 4 }, async () => {
          while (isLoaded) answers.push((await ask(ours)).status);
        });
        await until(() => answers.length > 40);
        isCut = true;
        await relay.cut();
        const before = answers.length;
        const reviewed = (user: string) =>
          governed.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: { user, resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'shop' } },
          });
        assert.equal((await reviewed(owner)).body.status?.allowed ?? false, false, 'the owner is not bound there');
        assert.equal((await reviewed(dan)).body.status?.allowed ?? false, policy === 'NoOpinion');
        // Who the token belongs to cannot be asked, either; the administrator of the cluster is not asked about.
        assert.equal((await governed.call('GET', '/api/v1/namespaces')).status, 200);
        await until(() => answers.length > before);
        assert.ok(
          answers.slice(before + 4).every((one) => one !== 200),
          'nobody gets through that only Atrium allows',
        );
        await relay.restore();
        isCut = false;
        await until(async () => (await ask(ours)).status === 200);
        isLoaded = false;
        await Promise.all(load);
        assert.equal((await ask(theirs)).status, 200, 'RBAC still says yes');
        await governed.call('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/break-glass');
        assert.equal((await ask(theirs)).status, 403);
      } finally {
        isLoaded = false;
        if (isCut) await relay.restore();
        if (governed !== kube) governed.stop();
      }
    });
  }
});

async function fillPlace(atrium: TestServer, place: Place, random: ReturnType<typeof createRandom>): Promise<string[]> {
  const places = [
    { type: 'cluster', id: place.prod.id },
    { type: 'cluster_set', name: 'eu' },
    { type: 'organization' },
  ];
  const actions = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'administer clusters'];
  const roles = await Promise.all(actions.map((action, at) => place.role(`random-${at}`, `cluster_mgmt ${action}`)));
  const people = [place.owner.name];
  for (let count = 0; count < 12; count++) {
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.crew), person.id);
    people.push(person.name);
    for (let some = random.below(3); some > 0; some--) {
      const on = random.pick(places);
      const isWhole = on.type === 'organization';
      const isSome = !isWhole && random.below(2) === 0;
      const made = await place.call('POST', place.path, {
        role: { id: random.pick(roles).id },
        to: { type: 'user', id: Number(person.id) },
        ...(!isWhole && { on }),
        ...(isSome && { namespaces: [random.pick(['web', 'shop-*', 'kube-system'])] }),
      });
      assert.ok([201, 409].includes(made.status), made.text);
    }
  }
  return people;
}
