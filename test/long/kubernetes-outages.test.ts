import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { type FailurePolicy, type Governed, openGoverned } from '../support/services/governed-kubernetes.ts';
import { KUBERNETES_VERSION, lacksKubernetes } from '../support/services/kubernetes-build.ts';
import type { KubernetesProcess } from '../support/services/kubernetes-process.ts';
import { lacks } from '../support/services/requirements.ts';

const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const CLIENTS = 4;
/** An access review is given up after three seconds; a token review is tried again until then and longer. */
const GIVEN_UP_MS = 60_000;
const skip = lacksKubernetes() || lacks('postgresql');

describe(`A real API server ${KUBERNETES_VERSION} during outages`, { skip }, () => {
  let governed: Governed;
  let owner = '';
  let dan = '';
  const started: KubernetesProcess[] = [];
  before(async () => {
    governed = await openGoverned();
    [owner, dan] = [governed.place.owner.name, governed.place.dan.name];
  });
  afterEach(async () => {
    for (const one of started.splice(0)) one.stop();
    await governed.clear();
  });
  after(() => governed?.close());

  async function start(policy?: FailurePolicy): Promise<KubernetesProcess> {
    const kube = await governed.startApiServer(policy);
    started.push(kube);
    return kube;
  }

  it('goes on after a restart of the API server', async () => {
    const kube = await start();
    const id = await governed.give();
    const token = await governed.tokenOf(dan);
    const status = async () => (await kube.call('GET', CONFIGMAPS, undefined, token)).status;
    assert.equal(await status(), 200);
    await kube.restart();
    assert.equal(await status(), 200);
    await governed.take(id);
    assert.equal(await status(), 403);
  });

  for (const policy of ['NoOpinion', 'Deny'] as const) {
    it(`while Atrium is killed under load, ${policy} leaves ${policy === 'Deny' ? 'nothing' : 'RBAC'} to users`, async () => {
      const kube = await start(policy);
      // Break glass: the same user, bound in the cluster itself.
      const bound = await kube.call('POST', BINDINGS, {
        metadata: { name: 'break-glass' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: dan }],
      });
      assert.equal(bound.status, 201);
      // Dan may see the cluster, or there is no token for him, but nothing in the namespace that is asked about.
      await governed.give({ namespaces: ['web'] });
      const [ours, theirs] = [await governed.tokenOf(owner), await governed.tokenOf(dan)];
      const ask = async (token: string) => (await kube.call('GET', CONFIGMAPS, undefined, token)).status;
      const reviewed = async (user: string): Promise<boolean> => {
        const { body } = await kube.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes: { verb: 'list', resource: 'configmaps', namespace: 'default' } },
        });
        return body.status?.allowed ?? false;
      };
      assert.equal(await ask(ours), 200);
      let isLoaded = true;
      const answers: { readonly began: number; readonly ms: number; readonly status: number }[] = [];
      const load = Array.from({ length: CLIENTS }, async () => {
        while (isLoaded) {
          const began = performance.now();
          const status = await ask(ours);
          answers.push({ began, ms: performance.now() - began, status });
        }
      });
      try {
        await until(() => answers.length > 40);
        await governed.kill();
        const dead = performance.now();
        assert.equal(await reviewed(owner), false, 'the owner is not bound there');
        assert.equal(await reviewed(dan), policy === 'NoOpinion');
        // The administrator of the cluster is not asked about.
        const began = performance.now();
        assert.equal((await kube.call('GET', '/api/v1/namespaces')).status, 200);
        const whole = performance.now() - began;
        const during = () => answers.filter((one) => one.began > dead);
        await until(() => during().length >= CLIENTS * 2);
        const [many, slowest] = [during(), Math.max(...during().map(({ ms }) => ms))];
        assert.deepEqual(new Set(many.map(({ status }) => status)).has(200), false, 'only Atrium allows the owner');
        assert.ok(slowest < GIVEN_UP_MS, `${slowest} ms`);
        await governed.revive();
        const back = performance.now();
        await until(async () => (await ask(ours)) === 200);
        progress(
          `${policy}: ${many.length} requests meanwhile got ${[...new Set(many.map(({ status }) => status))].join(', ')}, ` +
            `the slowest after ${Math.round(slowest)} ms, an administrator of the cluster after ${Math.round(whole)} ms, ` +
            `${Math.round(performance.now() - back)} ms until users get in again`,
        );
      } finally {
        isLoaded = false;
        await Promise.all(load);
      }
      assert.equal(await ask(theirs), 200, 'RBAC says yes besides');
      assert.equal((await kube.call('DELETE', `${BINDINGS}/break-glass`)).status, 200);
      assert.equal(await ask(theirs), 403);
    });
  }
});
