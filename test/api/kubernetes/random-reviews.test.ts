import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer } from '../../support/server/server.ts';
import { accessReview, openKubePlace } from '../../support/services/kubernetes.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { type Asked, leastRelations, randomReview } from '../../support/world/random-reviews.ts';

const REVIEWS = 400;
it(`${REVIEWS} random reviews are what allowed-permissions and the contract say, with seed ${SEED}`, async (t) => {
  const atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
  t.after(() => atrium.close());
  const place = await openKubePlace(atrium);
  const random = createRandom(SEED);
  const on = [{ type: 'cluster', id: place.prod.id }, { type: 'cluster_set', name: 'eu' }, { type: 'organization' }];
  const actions = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'administer clusters'];
  const roles = await Promise.all(actions.map((action, at) => place.role(`level-${at}`, `cluster_mgmt ${action}`)));
  const people: string[] = [place.owner.name];
  for (let count = 0; count < 8; count++) {
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.crew), person.id);
    people.push(person.name);
    for (let some = random.below(3); some > 0; some--) {
      const where = random.pick(on);
      const more =
        where.type !== 'organization' && random.below(2) === 0
          ? { namespaces: [random.pick(['web', 'shop-*', 'kube-system'])] }
          : {};
      const made = await place.call('POST', place.path, {
        role: { id: random.pick(roles).id },
        to: { type: 'user', id: Number(person.id) },
        ...(where.type !== 'organization' && { on: where }),
        ...more,
      });
      assert.ok([201, 409].includes(made.status), made.text);
    }
  }
  let [yes, no] = [0, 0];
  for (let count = 0; count < REVIEWS; count++) {
    const asked = randomReview(random);
    const user = random.pick(people);
    const expected = await isExpected(user, asked);
    const { allowed } = await accessReview(place, { user, resourceAttributes: asked });
    assert.equal(allowed, expected, `${user}: ${JSON.stringify(asked)}`);
    if (expected) yes++;
    else no++;
  }
  assert.ok(yes > REVIEWS / 10 && no > REVIEWS / 10, `${yes} yes, ${no} no`);

  async function isExpected(user: string, asked: Asked): Promise<boolean> {
    const { relations, namespace } = leastRelations(asked);
    const held = await relationsOf(user, namespace);
    return relations.some((relation) => held.includes(relation));
  }

  async function relationsOf(user: string, namespace: string): Promise<string[]> {
    const path = `/authz/objects/cluster/${place.prod.id}/allowed-permissions?org=${place.org.name}&namespace=${namespace}`;
    return (await atrium.as(user)('GET', path)).body.allowedPermissions;
  }
});
