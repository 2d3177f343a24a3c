import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { type Graph, type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { createGraphs, type GraphStore, type Graphs, type GraphTuple, type Patch } from '../../src/authz/graphs.ts';
import type { Listener, Revisions } from '../../src/changes/revision.ts';
import { PLATFORM } from '../../src/changes/write.ts';

const MODEL = `model
  schema 1.1
type user
type team
  relations
    define member: [user]
`;
const [ONE, OTHER, THIRD] = [1n, 2n, 3n];

const memberOf = (graph: Graph | undefined) => graph && [...graph.tuplesOf('team:1')].map(({ user }) => user).join();

describe('Graphs in memory', () => {
  let model: Model;
  let listeners: Listener[];
  let revisions: { latest: bigint } & Pick<Revisions, 'isLatest' | 'requireAfter' | 'listen'>;
  /** What was read from the database, such as `load 1`. */
  let read: string[];
  /** The revision of the database; each account has one member, who is named after it. */
  let moment: bigint;
  let patch: Partial<Patch>;
  let graphs: Graphs;
  const tuples = (accountId: bigint): GraphTuple[] => [
    { object: 'team:1', relation: 'member', user: `user:${accountId}-${moment}`, source: 'team:1' },
  ];
  const store: GraphStore = {
    load: async (accountId) => {
      read.push(`load ${accountId}`);
      return { revision: moment, stamp: '', count: 1, tuples: tuples(accountId) };
    },
    patch: async (accountId, since) => {
      read.push(`patch ${accountId} since ${since.revision}`);
      return {
        revision: moment,
        stamp: '',
        sources: ['team:1'],
        tuples: tuples(accountId),
        isUseless: false,
        ...patch,
      };
    },
  };
  before(async () => {
    model = await readModel(MODEL);
  });
  beforeEach(() => open());

  function open(maxBytes = 1 << 20, changes: Partial<GraphStore> = {}): void {
    [listeners, read, moment, patch] = [[], [], 1n, {}];
    revisions = {
      latest: 1n,
      isLatest: ({ revision }) => revision === revisions.latest,
      requireAfter: () => undefined,
      listen: (listener) => void listeners.push(listener),
    };
    graphs = createGraphs({ ...store, ...changes }, revisions, model, maxBytes);
  }

  /** The database moves on, and this process hears of it. */
  function change(organizationId: bigint | null): void {
    moment += 1n;
    for (const listener of listeners) {
      listener.forget({ kind: 'team', id: 1n, ...(organizationId !== null && { organizationId }) });
    }
    revisions.latest = moment;
  }

  it('A graph is loaded once, also for requests at the same time, and is known without waiting from then on', async () => {
    assert.equal(graphs.now(ONE), undefined);
    const [first, second] = await Promise.all([graphs.of(ONE), graphs.of(ONE)]);
    assert.equal(first, second);
    assert.equal(graphs.now(ONE), first);
    assert.equal(await graphs.of(ONE), first);
    assert.deepEqual(read, ['load 1']);
    assert.equal(graphs.count(), 1);
  });

  it('A change makes the graph of its organization stale, and no other one', async () => {
    for (const account of [ONE, OTHER]) await graphs.of(account);
    change(ONE);
    assert.equal(graphs.now(ONE), undefined);
    assert.equal(memberOf(graphs.now(OTHER)), 'user:2-1');
    assert.equal(memberOf(await graphs.of(ONE)), 'user:1-2');
    assert.equal(memberOf(graphs.now(ONE)), 'user:1-2');
    assert.deepEqual(read, ['load 1', 'load 2', 'patch 1 since 1']);
    assert.equal(graphs.bytes(), (await graphs.of(ONE)).bytes + (await graphs.of(OTHER)).bytes);
    change(null);
    assert.ok(graphs.now(ONE) && graphs.now(OTHER));
    change(THIRD);
    assert.ok(graphs.now(ONE) && graphs.now(OTHER));
  });

  it('A change of the platform makes all graphs stale', async () => {
    for (const account of [ONE, OTHER]) await graphs.of(account);
    change(PLATFORM);
    assert.deepEqual([graphs.now(ONE), graphs.now(OTHER)], [undefined, undefined]);
  });

  it('If changes were missed, everything is loaded again, and nothing counts for the total', async () => {
    for (const account of [ONE, OTHER]) await graphs.of(account);
    assert.ok(graphs.bytes() > 0);
    for (const listener of listeners) listener.forgetAll();
    assert.deepEqual([graphs.count(), graphs.bytes()], [0, 0]);
    await graphs.of(ONE);
    assert.deepEqual(read, ['load 1', 'load 2', 'load 1']);
  });

  it('A patch that is useless is not used: another graph takes the place of the old one, which stays as it was', async () => {
    const old = await graphs.of(ONE);
    const { bytes } = graphs;
    const before = bytes();
    patch = { isUseless: true };
    change(ONE);
    const fresh = await graphs.of(ONE);
    assert.notEqual(fresh, old);
    assert.deepEqual([memberOf(old), memberOf(fresh)], ['user:1-1', 'user:1-2']);
    assert.deepEqual(read, ['load 1', 'patch 1 since 1', 'load 1']);
    assert.deepEqual([graphs.count(), bytes()], [1, before]);
  });

  it('A patch replaces what it names and nothing else', async () => {
    const both = (accountId: bigint) => [
      ...tuples(accountId),
      { object: 'team:2', relation: 'member', user: 'user:kept', source: 'team:2' },
    ];
    open(1 << 20, { load: async (accountId) => ({ revision: moment, stamp: '', count: 2, tuples: both(accountId) }) });
    const graph = await graphs.of(ONE);
    change(ONE);
    patch = { tuples: [] };
    assert.equal(await graphs.of(ONE), graph);
    assert.deepEqual(memberOf(graph), '');
    assert.equal([...graph.tuplesOf('team:2')].length, 1);
  });

  it('A refresh that was under way before a change is not enough for whoever asks after it', async () => {
    const slow = Promise.withResolvers<void>();
    open(1 << 20, {
      load: async (accountId) => {
        const loaded = await store.load(accountId);
        const found = { ...loaded, tuples: [...loaded.tuples] };
        await slow.promise;
        return found;
      },
    });
    const early = graphs.of(ONE);
    change(ONE);
    const late = graphs.of(ONE);
    slow.resolve();
    assert.equal(await early, await late);
    assert.equal(memberOf(await late), 'user:1-2');
    assert.deepEqual(read, ['load 1', 'patch 1 since 1']);
  });

  it('Beyond the maximum of bytes, the graphs that were not used for longest are dropped', async () => {
    await graphs.of(ONE);
    const size = graphs.bytes();
    open(2 * size);
    await graphs.of(ONE);
    await graphs.of(OTHER);
    assert.deepEqual([graphs.count(), graphs.bytes()], [2, 2 * size]);
    assert.ok(graphs.now(ONE), 'used again');
    await graphs.of(THIRD);
    assert.deepEqual([graphs.count(), graphs.bytes()], [2, 2 * size]);
    assert.equal(graphs.now(OTHER), undefined);
    assert.ok(graphs.now(ONE) && graphs.now(THIRD));
    assert.deepEqual(graphs.counts, { loads: 3, drops: 1 });
    open(1);
    await graphs.of(ONE);
    assert.ok(graphs.now(ONE), 'the graph in use is kept, however large it is');
    await graphs.of(OTHER);
    assert.deepEqual([graphs.count(), graphs.bytes(), graphs.now(ONE)], [1, size, undefined]);
  });

  it('Two graphs are known together only if both are exact as of one moment', async () => {
    assert.equal(graphs.togetherNow(ONE, OTHER), undefined);
    await graphs.of(ONE);
    assert.equal(graphs.togetherNow(ONE, OTHER), undefined);
    await graphs.of(OTHER);
    assert.deepEqual(graphs.togetherNow(ONE, OTHER)?.map(memberOf), ['user:1-1', 'user:2-1']);
    change(OTHER);
    assert.equal(graphs.togetherNow(ONE, OTHER), undefined);
    assert.equal(graphs.togetherNow(OTHER, ONE), undefined);
    const members = (one: Graph, other: Graph) => [memberOf(one), memberOf(other)];
    assert.deepEqual(await graphs.together(ONE, OTHER, members), ['user:1-1', 'user:2-2']);
    assert.deepEqual(graphs.togetherNow(ONE, OTHER)?.map(memberOf), ['user:1-1', 'user:2-2']);
  });

  it('If the database is ahead of this process, the older of two graphs is read again', async () => {
    await graphs.of(ONE);
    moment = 5n;
    const members = (one: Graph, other: Graph) => [memberOf(one), memberOf(other)];
    assert.deepEqual(await graphs.together(ONE, OTHER, members), ['user:1-5', 'user:2-5']);
    assert.deepEqual(await graphs.together(OTHER, ONE, members), ['user:2-5', 'user:1-5']);
    assert.deepEqual(
      read.filter((one) => one.startsWith('load')),
      ['load 1', 'load 2'],
    );
  });

  it('A patch that names nothing keeps the graph exact from where it was', async () => {
    patch = { sources: [], tuples: [] };
    await graphs.of(ONE);
    moment = 2n;
    await graphs.of(OTHER);
    // When the first graph is read again, it is exact from revision 1 to 3, so it goes with one of revision 2.
    moment = 3n;
    const members = (one: Graph, other: Graph) => [memberOf(one), memberOf(other)];
    assert.deepEqual(await graphs.together(ONE, OTHER, members), ['user:1-1', 'user:2-2']);
  });

  it('A patch that names one source makes the graph exact from there on, not from where it was', async () => {
    await graphs.of(ONE);
    moment = 2n;
    await graphs.of(OTHER);
    moment = 3n;
    const members = (one: Graph, other: Graph) => [memberOf(one), memberOf(other)];
    assert.deepEqual(await graphs.together(ONE, OTHER, members), ['user:1-3', 'user:2-3']);
  });

  it('Every tuple of the graph in use is read', async () => {
    const sources: string[] = [];
    await graphs.eachTuple(ONE, ({ source }) => sources.push(source));
    assert.deepEqual(
      sources,
      [...(await graphs.of(ONE)).tuples()].map(({ source }) => source),
    );
    assert.ok(sources.includes('team:1'));
  });

  it('The tuples of a graph are read out of it once, until it changes', async () => {
    const tuplesNow = async () => {
      const found: GraphTuple[] = [];
      await graphs.eachTuple(ONE, (tuple) => found.push(tuple));
      return found;
    };
    const [first] = await tuplesNow();
    assert.equal((await tuplesNow())[0], first);
    const graph = await graphs.of(ONE);
    graph.replaceSource('team:1', [{ object: 'team:1', relation: 'member', user: 'user:new' }]);
    assert.deepEqual(
      (await tuplesNow()).map(({ user }) => user),
      ['user:new'],
    );
  });
});
