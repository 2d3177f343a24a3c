import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as oneTurn } from 'node:timers/promises';
import { AppError } from '../../src/base/errors.ts';
import { createRevisions, type Moment, type News, type RevisionStore } from '../../src/changes/revision.ts';
import type { Change } from '../../src/changes/write.ts';

/** More turns of the event loop than a query waits for others. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 8; turns++) await oneTurn();
}

/** A database that answers when the test tells it to, with the state at the time of the query. */
function slowStore({ onlyWriter = false } = {}) {
  const asked: { since: Moment | undefined; answer(news?: Partial<News>): void; fail(error: Error): void }[] = [];
  const state = { revision: 5n };
  const store: RevisionStore = {
    onlyWriter,
    news: (since) => {
      const snapshot = { ...state, stamp: 'a', continues: true, changes: [] };
      return new Promise((resolve, reject) => {
        asked.push({ since, answer: (news = {}) => resolve({ ...snapshot, ...news }), fail: reject });
      });
    },
    write: async (work) => {
      const touched: Change[] = [];
      const result = await work(
        Object.assign(async () => [], { later: () => () => [] }),
        (change) => touched.push(change),
        () => undefined,
        () => undefined,
      );
      if (touched.length > 0) state.revision++;
      return { result, revision: touched.length > 0 ? state.revision : undefined };
    },
    renewExpiry: async () => undefined,
    prune: async () => undefined,
  };
  return { store, asked, state };
}

function listening(revisions: ReturnType<typeof createRevisions>) {
  const heard: string[] = [];
  revisions.listen({
    forget: ({ kind, id }) => heard.push(`${kind} ${id}`),
    forgetAll: () => heard.push('everything'),
  });
  return heard;
}

/** Whether a promise is settled, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  await turn();
  const open = Symbol();
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(open)])) !== open;
}

describe('Revisions', () => {
  it('Concurrent requests share one revision query', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const wave = Array.from({ length: 100 }, () => revisions.current());
    await turn();
    assert.equal(asked.length, 1);
    asked[0]?.answer();
    await Promise.all(wave);
    assert.equal(revisions.queries, 1);
    assert.equal(revisions.latest, 5n);
  });

  it('A revision query waits briefly for further requests, but not when there is only one', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const coming = [revisions.current(), revisions.current()];
    for (let turns = 0; asked.length === 0 && turns < 20; turns++) {
      await oneTurn();
      if (asked.length === 0) coming.push(revisions.current());
    }
    assert.equal(asked.length, 1);
    assert.ok(coming.length > 4 && coming.length < 10, `${coming.length} shared it`);
    asked[0]?.answer();
    await Promise.all(coming);
    const alone = revisions.current();
    await oneTurn();
    assert.equal(asked.length, 2, 'whoever is alone does not wait');
    asked[1]?.answer();
    await alone;
  });

  it('A callback that throws does not keep the other callbacks of a revision query from running', async (t) => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const called: string[] = [];
    const later = globalThis.setImmediate;
    const surfaced = new Promise((resolve) => {
      t.mock.method(globalThis, 'setImmediate', (run: () => void) =>
        later(() => {
          try {
            run();
          } catch (fault) {
            resolve(fault);
          }
        }),
      );
    });
    revisions.whenCurrent(() => {
      called.push('first');
      throw new Error('of one caller');
    });
    revisions.whenCurrent(() => {
      called.push('second');
      revisions.whenCurrent((error) => called.push(`third ${error}`));
    });
    await turn();
    asked[0]?.answer();
    assert.match(String(await surfaced), /of one caller/);
    assert.deepEqual(called, ['first', 'second']);
    await turn();
    assert.equal(asked.length, 2);
    asked[1]?.fail(new Error('no database'));
    await turn();
    assert.deepEqual(called, ['first', 'second', 'third Error: no database']);
  });

  it('A request never uses a revision query that began before the request arrived', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const early = revisions.current();
    await turn();
    const late = [revisions.current(), revisions.current()];
    asked[0]?.answer();
    await early;
    assert.equal(await isSettled(late[0] as Promise<void>), false);
    await turn();
    assert.equal(asked.length, 2);
    asked[1]?.answer({ revision: 6n });
    await Promise.all(late);
    assert.equal(revisions.latest, 6n);
    assert.equal(revisions.queries, 2);
  });

  it('At most one revision query is in progress at a time', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const all: Promise<void>[] = [];
    for (let wave = 0; wave < 10; wave++) {
      all.push(revisions.current(), revisions.current());
      await turn();
    }
    assert.equal(asked.length, 1);
    asked[0]?.answer();
    await turn();
    await turn();
    asked[1]?.answer();
    await Promise.all(all);
    assert.equal(revisions.queries, 2);
  });

  it('Listeners receive the changes since the last revision query before any request proceeds', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const heard = listening(revisions);
    const first = revisions.current();
    await turn();
    asked[0]?.answer();
    await first;
    heard.length = 0;
    const second = revisions.current().then(() => [...heard]);
    await turn();
    assert.deepEqual(asked[1]?.since, { revision: 5n, stamp: 'a' });
    asked[1]?.answer({
      revision: 7n,
      changes: [
        { kind: 'account', id: 1n },
        { kind: 'team', id: 2n },
      ],
    });
    assert.deepEqual(await second, ['account 1', 'team 2']);
  });

  it('Listeners discard everything when the history of the database does not continue the known one', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const heard = listening(revisions);
    const first = revisions.current();
    await turn();
    asked[0]?.answer({ revision: 5n });
    await first;
    assert.deepEqual(
      heard.splice(0),
      ['everything'],
      'what was remembered before the first reading is of no known moment',
    );
    const second = revisions.current();
    await turn();
    asked[1]?.answer({ revision: 900n, continues: false, changes: [{ kind: 'account', id: 1n }] });
    await second;
    assert.deepEqual(heard, ['everything']);
  });

  it('Only what was read at exactly the latest moment counts as such', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    assert.equal(revisions.isLatest({ revision: 5n, stamp: 'a' }), false, 'before the first query');
    const first = revisions.current();
    await turn();
    asked[0]?.answer();
    await first;
    const cases = [
      [{ revision: 5n, stamp: 'a' }, true],
      [{ revision: 5n, stamp: 'b' }, false],
      [{ revision: 4n, stamp: 'a' }, false],
      [{ revision: 6n, stamp: 'a' }, false],
    ] as const;
    for (const [moment, isLatest] of cases) assert.equal(revisions.isLatest(moment), isLatest);
  });

  it('What was read in another history than the latest revision is rejected', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const first = revisions.current();
    await turn();
    asked[0]?.answer();
    await first;
    const refusal = { kind: 'unavailable', message: /returned to an earlier state/ };
    revisions.requireAfter(5n, { revision: 5n, stamp: 'a' });
    revisions.requireAfter(5n, { revision: 6n, stamp: 'c' });
    assert.throws(() => revisions.requireAfter(5n, { revision: 5n, stamp: 'b' }), refusal);
    assert.throws(() => revisions.requireAfter(5n, { revision: 4n, stamp: 'z' }), refusal);
  });

  it('A failed revision query fails the requests that waited for it and no later ones', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const waiting = [revisions.current(), revisions.current(), revisions.current()];
    await turn();
    const next = revisions.current();
    asked[0]?.fail(new Error('the database is gone'));
    for (const one of waiting) await assert.rejects(one, /the database is gone/);
    await turn();
    asked[1]?.answer();
    await next;
    assert.equal(revisions.latest, 5n);
  });

  it('A failed revision query loses no changes', async () => {
    const { store, asked } = slowStore();
    const revisions = createRevisions(store);
    const heard = listening(revisions);
    const steps: [(index: number) => void, RegExp | undefined][] = [
      [(at) => asked[at]?.answer(), undefined],
      [(at) => asked[at]?.fail(new Error('lost')), /lost/],
      [(at) => asked[at]?.answer({ revision: 6n, changes: [{ kind: 'token', id: 9n }] }), undefined],
    ];
    for (const [index, [step, failure]] of steps.entries()) {
      const reading = revisions.current();
      await turn();
      step(index);
      if (failure) await assert.rejects(reading, failure);
      else await reading;
    }
    assert.deepEqual(asked[2]?.since, { revision: 5n, stamp: 'a' });
    assert.deepEqual(heard, ['everything', 'token 9']);
  });

  it('The only writer queries the revision again only after a write of its own', async () => {
    const { store, asked, state } = slowStore({ onlyWriter: true });
    const revisions = createRevisions(store);
    const first = revisions.current();
    await turn();
    asked[0]?.answer();
    await first;
    for (let request = 0; request < 100; request++) await revisions.current();
    assert.equal(revisions.queries, 1);

    await revisions.write(async () => 'nothing touched');
    await revisions.current();
    assert.equal(revisions.queries, 1);

    await revisions.write(async (_query, touch) => touch({ kind: 'account', id: 1n }));
    assert.equal(state.revision, 6n);
    const after = revisions.current();
    await turn();
    asked[1]?.answer();
    await after;
    assert.equal(revisions.queries, 2);
    await revisions.current();
    assert.equal(revisions.queries, 2);
  });

  it('The only writer answers requests that arrive in the same few turns together, and one that is alone in the next', async () => {
    const { store, asked } = slowStore({ onlyWriter: true });
    const revisions = createRevisions(store);
    const first = revisions.current();
    await turn();
    asked[0]?.answer();
    await first;

    const heard: string[] = [];
    revisions.whenCurrent(() => heard.push('alone'));
    assert.equal(heard.at(0), undefined, 'other requests of this turn are read first');
    await oneTurn();
    assert.deepEqual(heard, ['alone']);

    revisions.whenCurrent(() => heard.push('early'));
    revisions.whenCurrent(() => heard.push('early, too'));
    await oneTurn();
    assert.deepEqual(heard, ['alone'], 'a turn that brought more requests is followed by another');
    revisions.whenCurrent(() => heard.push('late'));
    await turn();
    assert.deepEqual(heard, ['alone', 'early', 'early, too', 'late']);
    assert.equal(asked.length, 1);
  });

  it('The only writer asks again once something has expired by its clock, and knows the next time from the answer', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1000 });
    const { store, asked } = slowStore({ onlyWriter: true });
    const revisions = createRevisions(store);
    const first = revisions.current();
    await turn();
    asked[0]?.answer({ nextExpiry: 2000 });
    await first;
    t.mock.timers.setTime(1999);
    await revisions.current();
    assert.equal(asked.length, 1, 'nothing has expired yet');
    t.mock.timers.setTime(2000);
    const second = revisions.current();
    assert.equal(await isSettled(second), false);
    assert.equal(asked.length, 2);
    asked[1]?.answer({ nextExpiry: undefined });
    await second;
    t.mock.timers.setTime(9e9);
    await revisions.current();
    assert.equal(asked.length, 2, 'nothing else expires');
  });

  it('What has expired is removed in pieces by each expirer, and then the next time is looked up', async () => {
    const { store, asked } = slowStore();
    const done: string[] = [];
    const revisions = createRevisions({
      ...store,
      news: async (since, expire) => {
        await expire();
        return await store.news(since, expire);
      },
      renewExpiry: async () => void done.push('renewed'),
    });
    const left = { roles: 1, members: 1200 };
    for (const kind of ['roles', 'members'] as const) {
      revisions.addExpirer(async (_query, _touch, _record, max) => {
        const found = Math.min(max, left[kind]);
        left[kind] -= found;
        done.push(`${found} ${kind}`);
        return found;
      });
    }
    const wait = revisions.current();
    await turn();
    asked[0]?.answer();
    await wait;
    assert.deepEqual(done, ['1 roles', '500 members', '500 members', '200 members', 'renewed']);
  });

  it('If what has expired cannot be removed, everybody who waits gets an error that it is unavailable', async () => {
    const { store } = slowStore();
    const revisions = createRevisions({
      ...store,
      news: async (_since, expire) => await expire().then(() => assert.fail()),
    });
    revisions.addExpirer(() => Promise.reject(new AppError('conflict', 'no')));
    const message = 'what has expired could not be removed';
    await Promise.all([1, 2].map(() => assert.rejects(revisions.current(), { kind: 'unavailable', message })));
  });
});
