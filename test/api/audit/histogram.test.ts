import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAuditSearch } from '../../../src/audit/audit-search.store.ts';
import { spansOf } from '../../../src/audit/spans.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { assertRejected, numbersOf } from '../../support/world/authz.ts';

const FILL = `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                    request_id, previous_hash, hash)
   select timestamptz '2026-01-05T00:00:00Z' + n * interval '1 hour', $1, n % 3 + 900, 'x',
          case when n % 2 = 0 then 'thing.make' else 'thing.mend' end, 'thing', n % 5 + 1, null, null, 'r', '\\x00', '\\x00'
     from generate_series(0, 239) n`;
const TEN_DAYS = 'since=2026-01-05T00:00:00Z&until=2026-01-15T00:00:00Z';

for (const driver of API_DRIVERS) {
  describe(`The histogram of an audit log on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
      await atrium.instance.db.query(statement(FILL), [numbersOf(atrium).org('acme')]);
    });
    after(() => atrium.close());

    const histogram = async (query: string, who = 'ann', path = '/orgs/acme/audit') => {
      const { status, body, text } = await atrium.as(who)('GET', `${path}/histogram?${query}`);
      assert.equal(status, 200, text);
      return body;
    };
    const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);

    it(`Whole spans cover the range, and their counts are those of the entries on ${driver}`, async () => {
      const { counts, ...span } = await histogram(TEN_DAYS);
      const range = { since: '2026-01-05T00:00:00Z', until: '2026-01-15T00:00:00Z' };
      assert.deepEqual(span, { ...range, span_seconds: 21_600 });
      assert.deepEqual(
        counts,
        Array.from({ length: 40 }, () => 6),
      );

      const day = await histogram('since=2026-01-05T10:21:00Z&until=2026-01-05T13:00:01Z');
      assert.deepEqual([day.since, day.until, day.span_seconds], ['2026-01-05T10:20:00Z', '2026-01-05T13:05:00Z', 300]);
      // What is before the time asked for does not count, though its span does.
      const places = day.counts.flatMap((count: number, place: number) => (count > 0 ? [[place, count]] : []));
      assert.deepEqual(places, [
        [8, 1],
        [20, 1],
        [32, 1],
      ]);
    });

    it(`Each filter and pair of filters counts what the page of entries with it has on ${driver}`, async () => {
      for (const filter of [
        'actor=900',
        'action=thing.make',
        'action=thing.',
        'action=nothing.',
        'object=thing',
        'object=thing:3',
        'object=thing:3&action=thing.make',
        'actor=901&action=thing.',
        'actor=901&object=thing:2',
      ]) {
        const { items } = (await atrium.as('ann')('GET', `/orgs/acme/audit?limit=200&${TEN_DAYS}&${filter}`)).body;
        const more = items.length === 200 ? 40 : 0;
        assert.equal(sum((await histogram(`${TEN_DAYS}&${filter}`)).counts), items.length + more, filter);
      }
    });

    it(`Without a range it is that of the last 30 days, up to now on ${driver}`, async () => {
      const made = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'counted' });
      assert.equal(made.status, 201);
      const { since, until, span_seconds, counts } = await histogram('action=team.create');
      assert.equal(span_seconds, 86_400);
      assert.equal((Date.parse(until) - Date.parse(since)) / 86_400_000, counts.length);
      assert.ok(counts.length === 30 || counts.length === 31, counts.length);
      const { items } = (await atrium.as('ann')('GET', '/orgs/acme/audit?limit=200&action=team.create')).body;
      assert.deepEqual([sum(counts), counts.at(-1)], [items.length, items.length]);
    });

    it(`The whole deployment, one organization of it, and a log without entries are counted on ${driver}`, async () => {
      assert.deepEqual((await histogram(`${TEN_DAYS}&org=acme`, 'root', '/admin/audit')).counts, Array(40).fill(6));
      assert.deepEqual((await histogram(TEN_DAYS, 'root', '/admin/audit')).counts, Array(40).fill(6));
      assert.equal(sum((await histogram(TEN_DAYS, 'eve', '/orgs/globex/audit')).counts), 0);
      assert.deepEqual((await histogram('since=2026-01-05T00:00:00Z&until=2026-01-04T00:00:00Z')).counts, []);
    });

    it(`What is more than can be counted is left out, from a time that the answer tells, on ${driver}`, async () => {
      const { countSpans } = createAuditSearch(atrium.instance.db);
      const [since, until] = [new Date('2026-01-05T00:00:00Z'), new Date('2026-01-15T00:00:00Z')];
      const search = { organizationId: BigInt(numbersOf(atrium).org('acme')), since, until };
      for (const filter of [{}, { actionPrefix: 'thing.' }, { action: 'thing.make', actorId: 900n }]) {
        const { counts, reached } = await countSpans({ ...search, ...filter }, spansOf(since, until), 24);
        const most = 'actorId' in filter ? 12 : 24;
        assert.ok(sum([...counts.values()]) <= most, JSON.stringify([...counts]));
        assert.ok(reached !== undefined && reached.getTime() >= until.getTime() - 72 * 3_600_000, String(reached));
      }
      assert.equal((await countSpans(search, spansOf(since, until), 241)).reached, undefined);
    });

    it(`It is rejected for callers who may not read the log, and for questions that mean nothing on ${driver}`, async () => {
      const send = ['GET', '/orgs/acme/audit/histogram'] as const;
      await assertRejected(atrium, { send, status: 401, message: 'token is required' });
      assert.equal((await atrium.as('dan')(...send)).status, 403);
      assert.equal((await atrium.as('eve')(...send)).status, 404);
      assert.equal((await atrium.as('ann')('GET', '/admin/audit/histogram')).status, 403);
      for (const query of ['since=yesterday', 'object=cluster:x', 'actor=nobody-here']) {
        assert.equal((await atrium.as('ann')('GET', `/orgs/acme/audit/histogram?${query}`)).status, 400, query);
      }
    });
  });
}

describe('The spans of a range', () => {
  it('Any range has at most a hundred, each of them whole, and the shortest that do', () => {
    const [first, last] = [Date.UTC(1970, 0, 1), Date.UTC(9999, 11, 31)];
    for (let length = 1000; length < last - first; length *= 3) {
      const since = new Date(Math.max(first, Date.UTC(2026, 4, 17, 3, 2, 1) - length));
      const until = new Date(Math.min(last, since.getTime() + length));
      const { seconds, origin, first: number, count } = spansOf(since, until);
      const begin = (origin + number * seconds) * 1000;
      assert.ok(count >= 1 && count <= 100, `${count} spans of ${seconds} s for ${length} ms`);
      assert.ok(begin <= since.getTime() && begin + seconds * 1000 > since.getTime(), `${length}: begins`);
      assert.ok(begin + count * seconds * 1000 >= until.getTime(), `${length}: ends`);
    }
    assert.equal(
      new Date((spansOf(new Date('2026-01-01'), new Date('2027-01-01')).origin + 7 * 86_400) * 1000).getUTCDay(),
      1,
    );
  });
});
