import assert from 'node:assert/strict';
import { it } from 'node:test';
import { byId, idOf, nameOf } from '../../src/authz/object-ref.ts';

it('Objects of one type are sorted by their numbers', () => {
  assert.deepEqual(['team:10', 'team:9', 'team:12', 'team:11', 'team:1'].sort(byId), [
    ...['team:1', 'team:9', 'team:10', 'team:11', 'team:12'],
  ]);
});

it('The name of an object contains its type and its ID', () => {
  assert.equal(nameOf({ type: 'team', id: 4n }), 'team:4');
  assert.equal(idOf('team:4'), 4n);
});
