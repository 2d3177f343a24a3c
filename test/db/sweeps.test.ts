import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { type Db, openDb, type Query } from '../../src/db/db.ts';
import { createIdempotencyStore } from '../../src/idempotency/idempotency.store.ts';
import { createSessionStore } from '../../src/identity/sessions/sessions.store.ts';
import { createDeliveryLogStore } from '../../src/marketplace/deliveries/delivery-log.store.ts';
import { createOutboxStore } from '../../src/outbox/outbox.store.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { statement } from '../support/server/statement.ts';

const OLD = 2_300;
const YOUNG = 5;
const MONTH_AGO = new Date(Date.now() - 30 * 86_400_000);
const YEAR_AGO = new Date(Date.now() - 400 * 86_400_000);
/** More than a year old first, then a few of today. */
const at = `case when n <= ${OLD} then now() - interval '500 days' else now() end`;
const rows = `generate_series(1, ${OLD + YOUNG}) n`;
const nowhere = () => {
  throw new Error('not part of this test');
};

/** What is filled, what sweeps it, and how many rows are left. */
const SWEEPS: readonly (readonly [table: string, fill: string, sweep: (db: Db) => Promise<unknown>, left?: number])[] =
  [
    [
      'idempotency_key',
      `insert into idempotency_key (account_id, hash, fingerprint, sealed, created_at)
     select 1, int8send(n), '', '', ${at} from ${rows}`,
      (db) => createIdempotencyStore(db).sweep(MONTH_AGO),
    ],
    [
      'session',
      `with who as (insert into account (name, kind) values ('sweeper', 'user') returning id)
     insert into session (hash, account_id, csrf, expires_at)
     select int8send(n), who.id, '', case when n <= ${OLD} then now() - interval '2 hours' else now() + interval '1 day' end
       from who, ${rows}`,
      (db) => createSessionStore(db, nowhere, createQuotas({} as never)).sweep(),
    ],
    ...(['refused', 'done', 'dead'] as const).map(
      (state) =>
        [
          'delivery',
          `insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, source, request_id,
                               last_at, state)
         select 'CloudB', convert_to('${state}' || n, 'UTF8'), '', '', '', '', '', '', ${at}, '${state}' from ${rows}`,
          prune,
        ] as const,
    ),
    [
      'delivery_refusal',
      `insert into delivery_refusal (marketplace, reason, source, day, times, last_at)
     select 'CloudB', 'secret', 's' || n, (${at})::date, 1, ${at} from ${rows}`,
      prune,
    ],
    [
      'marketplace_event',
      `insert into marketplace_event (uid, type, payload, sent_at, dead_at)
     select 'e' || n, 't', '', case when n % 2 = 0 then ${at} end, case when n % 2 = 1 then ${at} end from ${rows}`,
      ({ query }) => createOutboxStore(query, 'marketplace_event').prune(MONTH_AGO, YEAR_AGO),
    ],
    [
      'change',
      `with now as (update revision set value = ${OLD + YOUNG} where id = 1)
     insert into change (revision, kind, id) select n, 'account', n from ${rows}`,
      (db) => createRevisionStore(db).prune(BigInt(YOUNG)),
    ],
  ];

function prune({ query }: Db): Promise<void> {
  return createDeliveryLogStore(query, nowhere).prune(MONTH_AGO, YEAR_AGO);
}

for (const driver of API_DRIVERS) {
  describe(`Sweeps on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openDb({ ...(await newPlace(driver, migrated())), say: () => undefined });
    });
    after(() => db?.close());

    for (const [table, fill, sweep, left = YOUNG] of SWEEPS) {
      const state = /'(refused|done|dead)' from/.exec(fill)?.[1] ?? 'all';
      it(`A backlog of ${table} is deleted in parts of at most a thousand rows (${state}), and what is young stays`, async () => {
        await db.query(statement(`truncate ${table} cascade`));
        await db.query(statement(fill));
        const parts: number[] = [];
        const counting: Query = async (given, values) => {
          const found = await db.query<never>(given, values);
          if (/delete from/.test(given.text)) parts.push(found.length);
          return found;
        };
        await sweep({ ...db, query: counting });
        assert.ok(Math.max(...parts) <= 1000 && Math.max(...parts) > 1, `${parts}`);
        assert.equal(
          parts.reduce((all, one) => all + one, 0),
          OLD,
        );
        const [count] = await db.query<{ n: number }>(statement(`select count(*)::int as n from ${table}`));
        assert.equal(count?.n, left);
      });
    }

    it('The newest pruned revision is known after each part', async () => {
      const [row] = await db.query<{ pruned: bigint; value: bigint }>(statement('select pruned, value from revision'));
      assert.equal(row && row.value - row.pruned, BigInt(YOUNG));
    });
  });
}
