import assert from 'node:assert/strict';
import { it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { createRandom } from '../../support/checks/random.ts';
import { openTestServer } from '../../support/server/server.ts';
import { assign, pair } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { openRequestPlace } from '../../support/world/requests.ts';

const ACTIONS = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'remove clusters'];
const RELATIONS = ['can_connect', 'can_edit', 'can_remove'];

it('In a random world, each named approver can approve what is requested, nobody else can, and it ends', async (t) => {
  const random = createRandom();
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  let approvals = 0;
  for (let round = 0; round < COUNTS.randomRequests; round++) {
    const place = await openRequestPlace(atrium);
    const { as, org, prod, dan, cat, lead, owner, request, requests, call } = place;
    const people = [dan, cat, lead, owner];
    for (const team of ['Editors', 'Viewers']) {
      const one = await makePerson(atrium);
      await addMember(atrium.instance, BigInt(org.team(team)), one.id);
      people.push(one);
    }
    for (const name of ['one', 'two', 'three']) {
      const actions = [
        'cluster_mgmt view clusters',
        ...random.some(ACTIONS.slice(1), 0.5).map((one) => `cluster_mgmt ${one}`),
      ];
      const more = random.chance(0.5) ? ['org_mgmt assign roles'] : [];
      const made = await call('POST', `/authz/roles?org=${org.name}`, {
        name,
        permissions: [...actions, ...more].map(pair),
      });
      assert.equal(made.status, 201, made.text);
      const person = random.pick(people);
      const on = random.chance(0.5) ? undefined : { type: 'cluster', id: prod.id };
      await assign(place, made.body.id, { type: 'user', id: Number(person.id) }, on);
    }
    const held = async (name: string) => await allowedTo(atrium, name, 'cluster', prod.id, org.name);
    for (const asker of [dan, cat]) {
      for (const relation of RELATIONS) {
        if ((await held(asker.name)).includes(relation)) continue;
        const object = { type: 'cluster', id: prod.id };
        const body = { relation, object, for: 'PT1H', reason: 'x' };
        const explained = await as(asker.name)(
          'GET',
          `/authz/objects/cluster/${prod.id}/explain?org=${org.name}&relation=${relation}`,
        );
        let made = await as(asker.name)('POST', requests, body);
        assert.equal(made.status === 201, (explained.body.requestable?.approvers ?? 0) > 0, made.text + explained.text);
        if (made.status !== 201) {
          assert.deepEqual([made.status, made.body.reason], [422, 'not_requestable'], made.text);
          continue;
        }
        const seen = await as(owner.name)('GET', request(made.body.id));
        const names: string[] = seen.body.approvers.map(({ name }: { name: string }) => name);
        assert.ok(!names.includes(asker.name));
        for (const { name } of people) {
          if (names.includes(name)) continue;
          const tried = await as(name)('POST', request(made.body.id, 'approve'), { digest: made.body.digest });
          assert.ok([403, 404].includes(tried.status), `${name} ${tried.text}`);
        }
        for (const name of names) {
          if (made.body.state !== 'open') made = await as(asker.name)('POST', requests, body);
          const path = request(made.body.id, 'approve');
          const approved = await as(name)('POST', path, { digest: made.body.digest });
          assert.equal(approved.status, 200, `${name} ${approved.text}`);
          made = approved;
          assert.ok((await held(asker.name)).includes(relation));
          const ended = await as(asker.name)('POST', request(made.body.id, 'end'));
          assert.equal(ended.status, 200, ended.text);
          assert.ok(!(await held(asker.name)).includes(relation));
          approvals++;
        }
      }
    }
  }
  t.diagnostic(`${approvals} approvals`);
  assert.ok(approvals > 0);
});
