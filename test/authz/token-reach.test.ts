import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ObjectRef } from '../../src/authz/object-ref.ts';
import { createTokenReach } from '../../src/authz/token-reach.ts';

const [ACME, BETA] = [1n, 2n];
const OWNERS: Readonly<Record<string, bigint>> = { 'team:10': ACME, 'cluster:20': ACME, 'cluster:30': BETA };
const findReach = createTokenReach({
  ownerOf: async (type, id) => {
    assert.ok(['team', 'cluster'].includes(type), `a ${type} has no owner`);
    return OWNERS[`${type}:${id}`];
  },
});
const ofAcme = { organizations: [{ id: ACME, name: 'acme' }], objects: [] };
const ofCluster = {
  organizations: [],
  objects: [{ type: 'cluster' as const, id: 30n, name: 'c', ownerId: BETA }],
};

it('A token without limits reaches everything around an object, whoever owns it', async () => {
  assert.equal(await findReach(undefined, ACME, { type: 'cluster', id: 30n }), 'organization');
});

it('A token that is limited to an organization reaches the organization and what it owns, and nothing else', async () => {
  const reached: readonly (readonly [ObjectRef, string])[] = [
    [{ type: 'organization', id: ACME }, 'organization'],
    [{ type: 'team', id: 10n }, 'organization'],
    [{ type: 'cluster', id: 20n }, 'organization'],
    [{ type: 'organization', id: BETA }, 'nothing'],
    [{ type: 'cluster', id: 30n }, 'nothing'],
    [{ type: 'cluster', id: 99n }, 'nothing'],
    [{ type: 'user', id: ACME }, 'nothing'],
    [{ type: 'role', id: ACME }, 'nothing'],
  ];
  for (const [object, expected] of reached) {
    assert.equal(await findReach(ofAcme, ACME, object), expected, `${object.type} ${object.id}`);
  }
});

it('A token that is limited to an object reaches the object alone', async () => {
  assert.equal(await findReach(ofCluster, BETA, { type: 'cluster', id: 30n }), 'object');
  assert.equal(await findReach(ofCluster, BETA, { type: 'cluster', id: 31n }), 'nothing');
  assert.equal(await findReach(ofCluster, BETA, { type: 'team', id: 30n }), 'nothing');
});

it('An object that the limits name is reached from an organization that they name, whoever owns it', async () => {
  const both = { ...ofCluster, organizations: ofAcme.organizations };
  assert.equal(await findReach(both, ACME, { type: 'cluster', id: 30n }), 'organization');
});
