import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exceeds, grantOf, isSame } from '../../src/bus/grants.ts';

const VIEW = ['can_view'];
const ALL = ['can_view', 'can_edit', 'can_remove', 'can_connect'];
const cluster = (id: bigint, relations: readonly string[], ownerId = 1n) => ({ id, ownerId, relations });
const rights = (...clusters: ReturnType<typeof cluster>[]) => grantOf(clusters).rights;

describe('Bus grants', () => {
  it('A grant exceeds the allowed rights when a cluster or a right on it is gone', () => {
    assert.equal(exceeds(rights(cluster(1n, ALL), cluster(2n, VIEW)), rights(cluster(1n, ALL))), true);
    assert.equal(exceeds(rights(cluster(1n, ALL)), rights(cluster(1n, VIEW))), true);
    assert.equal(exceeds(rights(cluster(1n, VIEW)), rights(cluster(1n, ALL), cluster(3n, ALL))), false);
    assert.equal(exceeds([], []), false);
  });

  it('Grants are compared regardless of order and exactly for any ID', () => {
    const last = 2n ** 60n - 1n;
    const one = grantOf([cluster(last, ALL, 9n), cluster(3n, VIEW, 2n), cluster(4n, VIEW, 2n)]);
    const other = grantOf([cluster(4n, VIEW, 2n), cluster(3n, VIEW, 2n), cluster(last, ALL, 9n)]);
    assert.ok(isSame(one.rights, other.rights));
    assert.deepEqual(one.grantedBy, [2n, 9n]);
    assert.ok(!isSame(one.rights, rights(cluster(last, VIEW), cluster(3n, VIEW), cluster(4n, VIEW))));
    assert.equal(exceeds(one.rights, other.rights), false);
  });
});
