import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { claimsOf, fileOf } from '../../support/services/bus.ts';
import { numbersOf } from '../../support/world/authz.ts';
import { createCluster, makeOrganization, makePerson } from '../../support/world/people.ts';

for (const driver of COUNTED_DRIVERS) {
  describe(`Clusters with the same UID on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const subjectsOf = async (who: string): Promise<string[]> => {
      const { publish, subscribe } = claimsOf(fileOf((await atrium.as(who)('GET', '/user/bus/credentials')).body));
      return [...new Set([...publish, ...subscribe])];
    };
    const busWords = async (who: string, uid: string) =>
      [...new Set((await subjectsOf(who)).map((subject) => subject.split('.')[1] ?? ''))]
        .filter((word) => word.startsWith(uid))
        .sort();

    it(`A second owner can import a UID and learns nothing about the first, on ${driver}`, async () => {
      const uid = atrium.world.clusters.prod?.uid ?? '';
      const body = { name: 'mine', uid };
      const [{ name: one }, { name: two }] = [await makePerson(atrium), await makePerson(atrium)];
      const { name: org } = await makeOrganization(atrium, one);
      const made = await atrium.as(one)('POST', `/orgs/${org}/clusters`, body);
      const fresh = await atrium.as(one)('POST', `/orgs/${org}/clusters`, { name: 'fresh', uid: randomUUID() });
      assert.deepEqual([made.status, made.body.uid], [201, uid], made.text);
      const rest = ({ body: { id, name, displayName, uid: _uid, createdAt, age, ...same } }: typeof made) => same;
      assert.deepEqual(rest(made), rest(fresh));
      const personal = await atrium.as(two)('POST', '/user/clusters', { ...body, uid: uid.toUpperCase() });
      assert.deepEqual([personal.status, personal.body.uid], [201, uid]);

      // Every view shows the UID, and an edit can send it back.
      const path = `/clusters/${made.body.id}`;
      assert.equal((await atrium.as(one)('GET', path)).body.uid, uid);
      assert.equal((await atrium.as(one)('PATCH', path, { uid, project: 'x' })).status, 200);
      assert.equal((await atrium.as(one)('POST', `${path}/heartbeat`)).status, 204);
      assert.equal((await atrium.as(two)('GET', '/user/clusters')).body[0].uid, uid);
      const entry = (
        await atrium.as(one)('GET', `/orgs/${org}/audit?action=cluster.create&object=cluster:${made.body.id}`)
      ).body;
      assert.equal(entry.items[0].after.uid, uid);
      // What happens to one of them does not happen to the other.
      const prod = await atrium.as('ann')('GET', `/clusters/${atrium.world.clusters.prod?.id}`);
      assert.deepEqual([prod.body.name, prod.body.project], ['prod', '']);

      for (const [who, url] of [
        [one, `/orgs/${org}/clusters`],
        [two, '/user/clusters'],
        ['ann', '/orgs/acme/clusters'],
      ] as const) {
        const again = await atrium.as(who)('POST', url, { name: 'again', uid });
        assert.deepEqual([again.status, again.body.errors?.[0]?.field], [422, 'uid'], again.text);
      }
      assert.equal((await atrium.as(one)('DELETE', path)).status, 204);
      assert.equal((await atrium.as(one)('POST', `/orgs/${org}/clusters`, body)).status, 201);
    });

    it(`A second owner of a UID gets subjects of their own on the bus, never those of the first, on ${driver}`, async () => {
      const [first, second] = [await makePerson(atrium), await makePerson(atrium)];
      const uid = randomUUID();
      const made = await atrium.as(first.name)('POST', '/user/clusters', { name: 'original', uid });
      assert.deepEqual(await busWords(first.name, uid), [uid]);
      const copy = await atrium.as(second.name)('POST', '/user/clusters', { name: 'copy', uid });
      assert.deepEqual(await busWords(second.name, uid), [`${uid}_${second.id}`]);
      assert.deepEqual(await busWords(first.name, uid), [uid]);

      // Neither deleting one nor importing it again gives the subjects of one to the other.
      assert.equal((await atrium.as(first.name)('DELETE', `/clusters/${made.body.id}`)).status, 204);
      assert.deepEqual(await busWords(second.name, uid), [`${uid}_${second.id}`]);
      assert.equal((await atrium.as(first.name)('POST', '/user/clusters', { name: 'back', uid })).status, 201);
      assert.deepEqual(await busWords(first.name, uid), [uid]);
      assert.equal((await atrium.as(second.name)('DELETE', `/clusters/${copy.body.id}`)).status, 204);
      assert.deepEqual(await busWords(second.name, uid), []);
    });

    it(`A member of both owners gets the subjects of both, and keeps only their own after leaving, on ${driver}`, async () => {
      const uid = atrium.world.clusters.staging?.uid ?? '';
      const { name, id } = await makePerson(atrium);
      const viewers = numbersOf(atrium).team('Viewers');
      await atrium.as(name)('POST', '/user/clusters', { name: 'also-mine', uid });
      assert.equal((await atrium.as('ann')('PUT', `/teams/${viewers}/members/${name}`)).status, 204);
      assert.deepEqual(await busWords(name, uid), [uid, `${uid}_${id}`]);
      assert.equal((await atrium.as('ann')('DELETE', `/orgs/acme/members/${name}`)).status, 204);
      assert.deepEqual(await busWords(name, uid), [`${uid}_${id}`]);
    });

    it(`Of several owners who import a UID at the same moment, exactly one gets its plain subjects, on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.importRaces; round++) {
        const uid = randomUUID();
        const people = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
        const answers = await Promise.all(
          people.map(({ name }) => atrium.as(name)('POST', '/user/clusters', { name: 'raced', uid })),
        );
        assert.deepEqual(
          answers.map(({ status, body }) => [status, body.uid]),
          Array(3).fill([201, uid]),
        );
        const words = await Promise.all(people.map(({ name }) => busWords(name, uid)));
        const plain = words.filter(([word]) => word === uid);
        assert.deepEqual([plain.length, new Set(words.flat()).size], [1, 3]);
      }
    });

    it(`A release that knows no shared UIDs still rejects them as it always did, on ${driver}`, async () => {
      const uid = atrium.world.clusters.prod?.uid ?? '';
      const { id: ownerId } = await makePerson(atrium);
      const insert = createCluster(atrium.instance, { ownerId, name: 'old', uid });
      await assert.rejects(insert, { code: '23505', constraint: 'cluster_uid' });
    });
  });
}
