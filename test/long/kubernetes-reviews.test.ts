import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { type Governed, openGoverned } from '../support/services/governed-kubernetes.ts';
import { KUBERNETES_VERSION, lacksKubernetes } from '../support/services/kubernetes-build.ts';
import type { KubernetesProcess } from '../support/services/kubernetes-process.ts';
import { lacks } from '../support/services/requirements.ts';
import { addMember, makePerson } from '../support/world/people.ts';
import { leastRelations, randomReview } from '../support/world/random-reviews.ts';

const AT_ONCE = 20;
const skip = lacksKubernetes() || lacks('postgresql');

describe(`What a real API server ${KUBERNETES_VERSION} decides`, { skip }, () => {
  let governed: Governed;
  let kube: KubernetesProcess;
  before(async () => {
    governed = await openGoverned();
    kube = await governed.startApiServer();
  });
  after(async () => {
    kube?.stop();
    await governed?.close();
  });

  it(`answers ${COUNTS.kubernetesReviews} random SubjectAccessReviews as explain does, with seed ${SEED}`, async () => {
    const { place } = governed;
    const random = createRandom(SEED);
    const people = await fillPlace(governed, random);
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
    for (let done = 0; done < COUNTS.kubernetesReviews; done += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      if (done % 1000 === 1000 - AT_ONCE) progress(`${yes + no} of ${COUNTS.kubernetesReviews} reviews, ${yes} yes`);
    }
    progress(`${yes + no} reviews, ${yes} yes, ${differences.length} differences`);
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
});

/** People with random roles on the cluster, its set or the organization, some of them in some namespaces only. */
async function fillPlace({ atrium, place }: Governed, random: ReturnType<typeof createRandom>): Promise<string[]> {
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
