import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import type { RevisionStore } from '../../src/changes/revision.ts';
import type { Change, WriteGuard } from '../../src/changes/write.ts';
import { type Db, only } from '../../src/db/db.ts';
import { countTrips } from '../support/checks/trips.ts';
import { DRIVERS, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

const INSERT = statement(`insert into account (kind, name) values ('organization', $1)`);
const NAMES = statement(`select name from account where kind = 'organization' order by id`);
const MOMENT = statement('select value as revision, stamp from revision');
const ACME: Change = { kind: 'account', id: 1n, organizationId: 1n };
const GUARDRAIL: Change = { kind: 'guardrail', id: 1n, organizationId: 1n };

/** A process with a guard that remembers what it was asked about. */
function openProcess(db: Db) {
  const asked: bigint[] = [];
  const guard: WriteGuard =
    async () =>
    async ({ revision }) => {
      asked.push(revision);
    };
  const store = createRevisionStore(db, [guard]);
  return { store, asked };
}

async function put({ store }: { store: RevisionStore }, name: string, change: Change = ACME) {
  const { revision } = await store.write(async (query, touch) => {
    query.later(INSERT, [name]);
    touch(change);
  });
  return revision;
}

for (const driver of DRIVERS) {
  describe(`Guards of writes on ${driver}`, () => {
    async function open() {
      const db = await openTestDb(driver, {}, migrated());
      const moment = async () => only(await db.query<{ revision: bigint; stamp: string }>(MOMENT));
      const names = async () => (await db.query<{ name: string }>(NAMES)).map(({ name }) => name);
      return { db, moment, names };
    }

    it('No guard is asked before the first guardrail, and revisions follow each other', async (t) => {
      const { db, moment } = await open();
      t.after(() => db.close());
      const one = openProcess(db);
      const { revision } = await moment();
      assert.deepEqual(
        [await put(one, 'a'), await put(one, 'b'), await put(one, 'c')],
        [revision + 1n, revision + 2n, revision + 3n],
      );
      assert.deepEqual(one.asked, []);
    });

    it('From the first guardrail on, a guard is asked about every write, also in the process that created it', async (t) => {
      const { db } = await open();
      t.after(() => db.close());
      const one = openProcess(db);
      await put(one, 'a');
      const created = await put(one, 'b', GUARDRAIL);
      const later = await put(one, 'c');
      assert.deepEqual(one.asked, [created, later]);
    });

    it('A process that has heard of the first guardrail asks its guard', async (t) => {
      const { db, moment } = await open();
      t.after(() => db.close());
      const [one, other] = [openProcess(db), openProcess(db)];
      await put(one, 'a');
      const before = await moment();
      await put(other, 'b', GUARDRAIL);
      const { changes } = await one.store.news(before, async () => undefined);
      assert.deepEqual(changes, [GUARDRAIL]);
      const revision = await put(one, 'c');
      assert.deepEqual(one.asked, [revision]);
    });

    it('A process that has not heard of it yet cannot get past it: the write is refused, and the next one is guarded', async (t) => {
      const { db, moment, names } = await open();
      t.after(() => db.close());
      const [one, other] = [openProcess(db), openProcess(db)];
      await put(one, 'a');
      await put(other, 'b', GUARDRAIL);
      const before = [await names(), await moment()];
      await assert.rejects(put(one, 'c'), (error) => {
        assert.ok(error instanceof AppError);
        assert.deepEqual([error.kind, error.detail.retryAfter], ['unavailable', 1]);
        assert.equal(error.message, 'another change was made at the same time');
        return true;
      });
      assert.deepEqual([await names(), await moment()], before);
      const revision = await put(one, 'c');
      assert.deepEqual(one.asked, [revision]);
    });

    if (driver === 'postgres') {
      it('What a guard does before the row of the revision is locked keeps no other write waiting', async (t) => {
        const { db } = await open();
        t.after(() => db.close());
        const begun = Promise.withResolvers<void>();
        const ended = Promise.withResolvers<void>();
        const asked: bigint[] = [];
        const slow = createRevisionStore(db, [
          async () => {
            begun.resolve();
            await ended.promise;
            return async ({ revision }) => void asked.push(revision);
          },
        ]);
        const first = put({ store: slow }, 'first', GUARDRAIL);
        await begun.promise;
        const second = await put(openProcess(db), 'second');
        ended.resolve();
        const revision = await first;
        assert.deepEqual([revision, asked], [(second ?? 0n) + 1n, [revision]]);
      });

      it('A write that asks nothing is one trip to PostgreSQL, and two if there may be guardrails', async (t) => {
        const { db } = await open();
        t.after(() => db.close());
        const one = openProcess(db);
        const trips = await countTrips(t, db);
        await put(one, 'a');
        assert.equal(trips(), 2);
        await put(one, 'b');
        assert.equal(trips(), 1);
        await put(one, 'c', GUARDRAIL);
        assert.equal(trips(), 2);
        await put(one, 'd');
        assert.equal(trips(), 2);
      });
    }
  });
}
