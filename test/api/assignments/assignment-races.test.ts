import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace } from '../../support/world/assignments.ts';
import { addMember } from '../../support/world/people.ts';

describe('Concurrent changes of assignments', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres' });
  });
  after(() => atrium.close());

  it('Assignments, their role, their team and their members change at the same moment, and none waits for another in a circle', async () => {
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const place = await openPlace(atrium);
      const { call, path, at, operator, org, dan, prod } = place;
      const team = { type: 'team', id: place.crew };
      const [whole, onProd] = [
        await assign(place, operator.id, team),
        await assign(place, operator.id, team, { type: 'cluster', id: prod.id }),
      ];
      const role = `/authz/roles/${operator.id}?org=${org.name}`;
      await addMember(atrium.instance, BigInt(org.team('Viewers')), dan.id);
      const answers = await Promise.all([
        call('PATCH', at(whole.id), { reason: 'one' }),
        call('PUT', role, { teamIDs: [place.crew, org.team('Viewers')] }),
        call('DELETE', at(whole.id)),
        call('PUT', role, { teamIDs: [org.team('Viewers')] }),
        call('POST', path, { role: { id: operator.id }, to: { type: 'user', name: dan.name }, on: team }),
        call('DELETE', `/teams/${place.crew}/members/${dan.name}`),
        call('DELETE', `/teams/${org.team('Viewers')}/members/${dan.name}`),
        call('PATCH', at(onProd.id), { reason: 'two' }),
        call('POST', path, { role: { id: operator.id }, to: team, on: { type: 'cluster_set', name: 'eu' } }),
        call('DELETE', `/teams/${place.crew}`),
        call('DELETE', `/orgs/${org.name}/clusters/${prod.name}`),
      ]);
      for (const answer of answers) assert.ok(answer.status < 500, answer.text);
      const gone = (await call('GET', path)).body.filter((one: { to: { id: number } }) => one.to.id === place.crew);
      assert.deepEqual(gone, [], 'what was assigned to the deleted team is gone with it');
      const kept = (await call('GET', path)).body.filter((one: { to: { name: string } }) => one.to.name === dan.name);
      assert.deepEqual(kept, [], 'what was assigned to a user who left is gone with their membership');
    }
  });
});
