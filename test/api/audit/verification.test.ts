import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CHECKPOINT_EVERY } from '../../../src/audit/verification/verification.ts';
import { appendAudit } from '../../../src/changes/audit-chain.store.ts';
import type { AuditEntry } from '../../../src/changes/audit-entry.ts';
import { type Query, sql } from '../../../src/db/db.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { assertRejected, numbersOf } from '../../support/world/authz.ts';

const ENTRIES = 2 * CHECKPOINT_EVERY + 300;
const NDJSON = { Accept: 'application/x-ndjson' };

for (const driver of COUNTED_DRIVERS) {
  describe(`Verification of a long audit log on ${driver}`, () => {
    let atrium: TestServer;
    let acme: bigint;
    before(async () => {
      atrium = await openTestServer({ driver });
      acme = BigInt(numbersOf(atrium).org('acme'));
      const entry: AuditEntry = {
        actor: { id: 1n, name: 'ann', requestId: 'r' },
        ...{ organizationId: acme, action: 'role.update', objectType: 'role', objectId: 1n, after: { name: 'one' } },
      };
      await atrium.instance.db.transaction((query) =>
        appendAudit(
          query,
          Array.from({ length: ENTRIES }, () => entry),
        ),
      );
    });
    after(() => atrium.close());

    const verify = async (query = '') => {
      const answer = await atrium.as('ann')('GET', `/orgs/acme/audit/verify${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    const run = (text: string) => atrium.instance.db.query<Record<string, bigint>>(statement(text));
    const checkpoints = () => run(`select last_id from audit_checkpoint where organization_id = ${acme} order by 1`);

    it(`The first verification reads everything, and the next one what came after the last checkpoint, on ${driver}`, async (context) => {
      const first = await verify();
      assert.deepEqual(Object.keys(first), ['rows', 'ok', 'first_broken_id', 'segments', 'erased']);
      assert.equal(first.ok, true);
      assert.equal((await checkpoints()).length, 2);
      const { db } = atrium.instance;
      const { query } = db;
      let read = 0;
      const counting: Query = async (given, values) => {
        const found = await query<never>(given, values);
        if (given.name === 'audit.chain') read += found.length;
        return found;
      };
      context.mock.method(db, 'query', counting);
      const second = await verify();
      assert.deepEqual([second.rows, second.ok, second.first_broken_id], [first.rows, true, null]);
      assert.equal(second.checkpoint.rows, 2 * CHECKPOINT_EVERY);
      assert.ok(read < CHECKPOINT_EVERY, `${read} entries were read`);
      assert.deepEqual(await verify('?from=beginning'), first);
      const site = await atrium.as('root')('GET', '/admin/audit/verify?org=acme');
      assert.deepEqual(site.body, second);
      const own = await atrium.as('root')('GET', '/admin/audit/verify');
      assert.deepEqual([own.status, own.body.ok], [200, true], own.text);
    });

    it(`A verification as lines tells its progress, and goes on from there, on ${driver}`, async () => {
      const read = async (query: string) => {
        const answer = await atrium.call('GET', `/api/v1/orgs/acme/audit/verify${query}`, undefined, {
          ...NDJSON,
          Authorization: `token ${atrium.world.users.ann?.token}`,
        });
        assert.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
        return answer.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));
      };
      const lines = await read('?from=beginning');
      const whole = await verify('?from=beginning');
      assert.deepEqual(lines.pop(), whole);
      const cursor = lines.find((line) => line.cursor !== undefined)?.cursor;
      assert.equal(typeof cursor, 'string', 'there was progress');
      assert.deepEqual((await read(`?cursor=${cursor}`)).at(-1), whole);
      assert.deepEqual(await verify(`?cursor=${cursor}`), whole);
      const foreign = await atrium.as('eve')('GET', `/orgs/globex/audit/verify?cursor=${cursor}`);
      assert.equal(foreign.status, 400, 'a cursor belongs to one log');
    });

    it(`An entry that was changed before a checkpoint is named from the beginning only, on ${driver}`, async () => {
      const [{ id = 0n } = {}] = await run(
        `select id from audit where organization_id = ${acme} order by id offset 20 limit 1`,
      );
      await run(`update audit set request_id = 'forged' where id = ${id}`);
      assert.equal((await verify()).ok, true);
      const { ok, first_broken_id: broken } = await verify('?from=beginning');
      assert.deepEqual([ok, broken], [false, Number(id)]);
      await run(`update audit set request_id = 'r' where id = ${id}`);
      assert.equal((await verify('?from=beginning')).ok, true);
    });

    it(`A changed entry of a checkpoint, or a later one, is named by every verification, on ${driver}`, async () => {
      const last = (await checkpoints()).at(-1)?.last_id ?? 0n;
      for (const id of [last, last + 7n]) {
        await run(`update audit set request_id = 'forged' where id = ${id}`);
        for (const query of ['', '?from=beginning']) {
          const { ok, first_broken_id: broken } = await verify(query);
          assert.deepEqual([ok, broken], [false, Number(id)], query);
        }
        await run(`update audit set request_id = 'r' where id = ${id}`);
      }
      assert.equal((await verify()).ok, true);
    });

    it(`A forged checkpoint, and one that contradicts the log, are named by every verification, on ${driver}`, async () => {
      const all = await checkpoints();
      const [first, last] = [all[0], all.at(-1)];
      const at = (row: Record<string, bigint> | undefined) => `organization_id = ${acme} and last_id = ${row?.last_id}`;
      const told = async (query: string) => {
        const { ok, problem, first_broken_id: broken } = await verify(query);
        return [ok, problem, broken];
      };
      await run(`create table kept as select * from audit_checkpoint where ${at(last)}`);
      const restore = () =>
        run(`with gone as (delete from audit_checkpoint where ${at(last)}) select 1`).then(() =>
          run('insert into audit_checkpoint select * from kept'),
        );
      for (const change of [
        'entries = entries + 1',
        `hash = sha256('x')`,
        `signature = '\\x00'`,
        `created_at = now()`,
      ]) {
        await run(`update audit_checkpoint set ${change} where ${at(last)}`);
        for (const query of ['', '?from=beginning']) {
          assert.deepEqual(await told(query), [false, 'checkpoint_forged', Number(last?.last_id)], change);
        }
        await restore();
      }
      // A checkpoint whose entries are gone: the end of the log was cut off.
      await run(`update audit set organization_id = -1 where organization_id = ${acme} and id >= ${last?.last_id}`);
      for (const query of ['', '?from=beginning']) {
        assert.deepEqual(await told(query), [false, 'checkpoint_contradicted', Number(last?.last_id)], query);
      }
      await run(`update audit set organization_id = ${acme} where organization_id = -1`);
      assert.equal((await verify('?from=beginning')).ok, true);
      // A signature of another entry of the same log does not help.
      await run(`update audit_checkpoint set signature = (select signature from kept) where ${at(first)}`);
      assert.deepEqual(await told('?from=beginning'), [false, 'checkpoint_forged', Number(first?.last_id)]);
      await run('drop table kept');
    });
  });
}

describe('Rejected verifications of the audit log', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  for (const [who, path, status, message] of [
    [undefined, '/admin/audit/verify', 401, 'token is required'],
    ['ann', '/admin/audit/verify', 403, 'only site administrators can call this route'],
    ['root', '/admin/audit/verify?org=nowhere', 400, /^org: no account is named/],
    ['ann', '/orgs/acme/audit/verify?cursor=x', 400, /^cursor was not issued by this server/],
    ['ann', '/orgs/acme/audit/verify?from=yesterday', 400, /^from must be/],
  ] as const) {
    it(`GET ${path} by ${who ?? 'an anonymous caller'} is rejected with ${status}`, () =>
      assertRejected(atrium, { ...(who && { who }), send: ['GET', path], status, message }));
  }

  it('A checkpoint of one organization proves nothing about another one', async () => {
    const { db } = atrium.instance;
    const move = sql(
      'test.checkpoint.move',
      `insert into audit_checkpoint (organization_id, last_id, entries, hash, created_at, signature)
       select organization_id, id, 1, hash, now(), decode(repeat('00', 64), 'hex') from audit
        where organization_id = $1 order by id limit 1 returning last_id`,
    );
    const [row] = await db.query<{ last_id: bigint }>(move, [atrium.world.orgs.acme?.id]);
    const { body } = await atrium.as('ann')('GET', '/orgs/acme/audit/verify');
    assert.deepEqual([body.ok, body.problem, body.first_broken_id], [false, 'checkpoint_forged', Number(row?.last_id)]);
  });
});
