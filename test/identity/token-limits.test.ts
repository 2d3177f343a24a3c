import assert from 'node:assert/strict';
import { it } from 'node:test';
import { limitsCover, listedIds, reachesInto, shownIds } from '../../src/identity/tokens/token-limits.ts';

const [ACME, BETA] = [1n, 2n];
const ofAcme = { organizations: [{ id: ACME, name: 'acme' }], objects: [] };
const cluster = { type: 'cluster' as const, id: 30n, name: 'c', ownerId: ACME };
const ofCluster = { organizations: [], objects: [cluster] };
const ofTeamOfBeta = { organizations: [], objects: [{ type: 'team' as const, id: 40n, name: 't', ownerId: BETA }] };

it('Only a token without limits covers one without limits', () => {
  assert.equal(limitsCover(undefined, undefined), true);
  assert.equal(limitsCover(undefined, ofAcme), true);
  assert.equal(limitsCover(ofAcme, undefined), false);
  assert.equal(limitsCover({ organizations: [], objects: [] }, undefined), false);
});

it('Limits cover others if they reach each organization and each object of them', () => {
  assert.equal(limitsCover(ofAcme, ofAcme), true);
  assert.equal(limitsCover(ofAcme, ofCluster), true);
  assert.equal(limitsCover(ofCluster, ofCluster), true);
  assert.equal(limitsCover(ofCluster, ofAcme), false);
  assert.equal(limitsCover(ofAcme, ofTeamOfBeta), false);
  assert.equal(limitsCover(ofAcme, { ...ofAcme, objects: ofTeamOfBeta.objects }), false);
});

it('Limits list objects of one type and, if asked, of one owner', () => {
  const both = { organizations: [], objects: [...ofCluster.objects, ...ofTeamOfBeta.objects] };
  assert.deepEqual([listedIds(both, 'cluster'), listedIds(both, 'team')], [[30n], [40n]]);
  assert.deepEqual([listedIds(both, 'cluster', ACME), listedIds(both, 'cluster', BETA)], [[30n], []]);
  assert.deepEqual(listedIds(undefined, 'cluster'), []);
  assert.deepEqual([shownIds(both, 'cluster', ACME), shownIds(ofAcme, 'cluster', ACME)], [[30n], undefined]);
});

it('Limits reach into an organization that they name, or of which they name an object', () => {
  assert.deepEqual(
    [ofAcme, ofCluster, ofTeamOfBeta, undefined].map((limits) => reachesInto(limits, ACME)),
    [...[true, true, false, true]],
  );
});
