import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Graph, readModel } from '../../packages/rebac/src/rebac.ts';
import { createGraphs, type GraphStore, type GraphTuple } from '../../src/authz/graphs.ts';
import type { Listener, Moment } from '../../src/changes/revision.ts';

const MODEL = `model
  schema 1.1
type user
type team
  relations
    define member: [user]
`;
const [ONE, OTHER, THIRD] = [1n, 2n, 3n];

/** The state of an account at a revision: its only member is named after it. */
const at = (revision: bigint): GraphTuple[] => [
  { object: 'team:1', relation: 'member', user: `user:r${revision}`, source: 'team:1' },
];
const memberOf = (graph: Graph) => [...graph.tuplesOf('team:1')].map(({ user }) => user).join();

describe('Moments of graphs', () => {
  it('A graph that was replaced is not queried as of a later moment by those who still hold it', async () => {
    const listeners: Listener[] = [];
    const revisions = {
      latest: 1n,
      isLatest: ({ revision }: Moment) => revision === revisions.latest,
      requireAfter: (needed: bigint, { revision }: Moment) => assert.ok(revision >= needed),
      listen: (listener: Listener) => void listeners.push(listener),
    };
    const slow = Promise.withResolvers<void>();
    let moment = 1n;
    const loads: bigint[] = [];
    const store: GraphStore = {
      load: async (accountId) => {
        loads.push(accountId);
        if (accountId === OTHER) await slow.promise;
        return { revision: moment, stamp: '', count: 1, tuples: at(moment) };
      },
      // Too much has changed by revision 5.
      patch: async (_accountId, since) => ({
        revision: moment,
        stamp: '',
        sources: ['team:1'],
        tuples: at(moment),
        isUseless: since.revision < 5n,
      }),
    };
    const graphs = createGraphs(store, revisions, await readModel(MODEL), 1 << 20);
    const members = (one: Graph, other: Graph) => [memberOf(one), memberOf(other)];
    await graphs.of(ONE);
    const waiting = graphs.together(ONE, OTHER, members);
    // The database is ahead of what this process knows, so the first graph is loaded again although it is not stale.
    moment = 5n;
    assert.deepEqual(await graphs.together(ONE, THIRD, members), ['user:r5', 'user:r5']);
    assert.deepEqual(loads, [ONE, OTHER, THIRD, ONE]);
    moment = 6n;
    for (const listener of listeners) listener.forget({ kind: 'team', id: 1n, organizationId: ONE });
    revisions.latest = 6n;
    slow.resolve();
    assert.deepEqual(await waiting, ['user:r6', 'user:r6']);
  });
});
