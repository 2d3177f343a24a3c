import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { chainFaults, linesOf } from '../../support/checks/chain.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  assertRejected,
  makeHolder,
  makeRole,
  numbersOf,
  orgPermission,
  type Rejected,
} from '../../support/world/authz.ts';

const FORGE = sql(
  'test.audit.forge',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                      request_id, previous_hash, hash)
   values ($1, $2, $3, 'somebody', $4, $5, $6, $7::json, null, 'forged', '\\x00', '\\x00')`,
);

for (const driver of API_DRIVERS) {
  describe(`Audit log on ${driver}`, () => {
    let atrium: TestServer;
    let id: ReturnType<typeof numbersOf>;
    const read = async (query = '', who = 'ann', base = '/orgs/acme/audit'): Promise<Answer> => {
      const answer = await atrium.as(who)('GET', `${base}${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };
    const actions = ({ body }: Answer) => body.items.map((one: { action: string }) => one.action);

    before(async () => {
      atrium = await openTestServer({ driver });
      id = numbersOf(atrium);
      const { body: role } = await makeRole(atrium, { name: 'Kept' });
      const path = `/authz/roles/${role.id}?org=acme`;
      await atrium.as('root')('PUT', path, { description: 'changed' }, { 'X-Request-Id': 'the-change' });
      await atrium.as('ann')('DELETE', path);
      await makeRole(atrium, { name: 'Elsewhere' }, 'globex', 'eve');
    });
    after(() => atrium.close());

    it(`The audit log lists actor, action, object, before and after, newest first, on ${driver}`, async () => {
      const { body, text, headers } = await read();
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
      assert.deepEqual(actions({ body } as Answer).slice(0, 3), ['role.delete', 'role.update', 'role.create']);
      const [, change] = body.items;
      assert.deepEqual(Object.keys(change), [
        'id',
        'at',
        'organization_id',
        'actor',
        'action',
        'object',
        'summary',
        'before',
        'after',
        'request_id',
        'form',
        'hashed',
        'texts',
        'previous_hash',
        'hash',
      ]);
      assert.equal(change.organization_id, id.org('acme'));
      assert.deepEqual(change.actor, { id: id.user('root'), name: 'root' });
      assert.equal(change.object.type, 'role');
      assert.equal(change.before.description, '');
      assert.equal(change.after.description, 'changed');
      assert.equal(change.request_id, 'the-change');
      assert.match(change.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.match(change.hash, /^[0-9a-f]{64}$/);
      assert.equal(change.previous_hash, body.items[2].hash);
      assert.equal(body.items[0].after, null);
      assert.equal(body.items[2].before, null);
      assert.equal(body.next_cursor, null);
      assert.ok(text.endsWith(',"next_cursor":null}'));
    });

    it(`The audit log can be filtered by any combination of actor, action, object and time on ${driver}`, async () => {
      const { body } = await read();
      const [gone, change, made] = body.items;
      const object = `role:${made.object.id}`;
      const TABLE: readonly (readonly [query: string, expected: readonly string[]])[] = [
        ['actor=root', ['role.update']],
        ['actor=ROOT', ['role.update']],
        [`actor=${id.user('root')}`, ['role.update']],
        [`actor=${id.user('eve')}`, []],
        ['actor=424242', []],
        ['action=role.create', ['role.create', 'role.create']],
        ['action=role.', ['role.delete', 'role.update', 'role.create', 'role.create']],
        ['action=role', []],
        ['action=bucket.', []],
        [`object=${object}`, ['role.delete', 'role.update', 'role.create']],
        ['object=role', ['role.delete', 'role.update', 'role.create', 'role.create']],
        ['object=subscription', []],
        ['object=role:9223372036854775807', []],
        [`since=${change.at}`, ['role.delete', 'role.update']],
        [`since=${change.at}&until=${gone.at}`, gone.at === change.at ? [] : ['role.update']],
        ['until=1999-12-31T23:59:59Z', []],
        ['since=2999-01-01T00:00:00%2B02:00', []],
        ['since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59.999999Z&action=role.delete', ['role.delete']],
        ['since=0000-01-01T00:00:00Z&action=role.delete', ['role.delete']],
        [`actor=ann&action=role.&object=${object}&since=${made.at}`, ['role.delete', 'role.create']],
        [`actor=ann&action=role.delete&object=role&until=2999-01-01T00:00:00Z`, ['role.delete']],
        [`actor=root&object=${object}`, ['role.update']],
      ];
      for (const [query, expected] of TABLE) {
        assert.deepEqual(actions(await read(`?${query}`)), expected, query);
        const lines = linesOf((await read(`/export?${query}`)).text);
        assert.deepEqual(lines.map((one) => one.action).reverse(), expected, `export of ${query}`);
        const all = await read(`?org=acme&${query}`, 'root', '/admin/audit');
        assert.deepEqual(actions(all), expected, `admin, ${query}`);
      }
    });

    it(`Paging through the audit log neither skips nor repeats rows while others are added on ${driver}`, async () => {
      const whole = (await read('?limit=200')).body.items.map((one: { id: number }) => one.id);
      const seen: number[] = [];
      let cursor = '';
      for (let page = 0; page < 10; page++) {
        const { body } = await read(`?limit=3${cursor}`);
        seen.push(...body.items.map((one: { id: number }) => one.id));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${body.next_cursor}`;
        if (page === 1) await makeRole(atrium);
      }
      assert.deepEqual(seen, whole);
      for (const limit of ['0', '-1', 'many', '']) {
        assert.ok((await read(`?limit=${limit}`)).body.items.length > 1, `limit=${limit} means the default`);
      }
    });

    it(`An audit log covers one organization, and site administrators can read all of them on ${driver}`, async () => {
      const elsewhere = await read('?action=role.', 'eve', '/orgs/globex/audit');
      assert.deepEqual(actions(elsewhere), ['role.create']);
      const all = await read('?action=role.', 'root', '/admin/audit');
      assert.ok(all.body.items.some((one: { organization_id: number }) => one.organization_id === id.org('globex')));
      assert.ok(all.body.items.some((one: { organization_id: number }) => one.organization_id === id.org('acme')));
      assert.deepEqual(
        actions(await read(`?org=${id.org('globex')}&action=role.`, 'root', '/admin/audit')),
        ['role.create'],
        'by ID, as for one that is gone',
      );
      const exported = linesOf((await read('/export?action=role.', 'root', '/admin/audit')).text);
      assert.deepEqual(
        exported.map((one) => one.id).reverse(),
        all.body.items.map((one: { id: number }) => one.id),
      );
    });

    it(`The hash chain can be verified from an exported audit log on ${driver}`, async () => {
      const answer = await read('/export');
      assert.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
      assert.ok(answer.text.endsWith('}\n'));
      assert.deepEqual(chainFaults(answer.text), []);
      assert.deepEqual(chainFaults(answer.text.replace('"changed"', '"chanced"')).length, 1);
      assert.equal((await atrium.as('ann')('HEAD', '/orgs/acme/audit/export')).status, 405);
    });

    it(`Verification reports whether the audit chain is intact and its first broken row on ${driver}`, async () => {
      const rows = linesOf((await read('/export')).text);
      const whole = { rows: rows.length, ok: true, first_broken_id: null, segments: [], erased: 0 };
      const atOnce = await Promise.all([read('/verify'), read('/verify'), read('/verify')]);
      for (const { body } of atOnce) assert.deepEqual(body, whole);
      assert.equal((await atrium.as('ann')('HEAD', '/orgs/acme/audit/verify')).status, 405);
      const victim = rows[1]?.id ?? 0;
      for (const [column, forged, type] of [
        ['actor_id', 'actor_id + 1', 'bigint'],
        ['actor_name', `'nobody'`, 'text'],
        ['at', `at + interval '1 microsecond'`, 'timestamptz'],
        ['action', `'role.forge'`, 'text'],
        ['object_type', `'thing'`, 'text'],
        ['object_id', 'object_id + 1', 'bigint'],
        ['before', `'{"name":"forged"}'`, 'json'],
        ['after', `'{}'`, 'json'],
        ['request_id', `'forged'`, 'text'],
      ]) {
        const forge = `update audit set ${column} = ${forged} where id = $1 returning id`;
        const [before] = await atrium.instance.db.query<{ kept: string }>(
          sql(`test.audit.kept.${column}`, `select ${column}::text as kept from audit where id = $1`),
          [victim],
        );
        await atrium.instance.db.query(sql(`test.audit.break.${column}`, forge), [victim]);
        assert.deepEqual((await read('/verify')).body, { ...whole, ok: false, first_broken_id: victim });
        await atrium.instance.db.query(
          sql(`test.audit.mend.${column}`, `update audit set ${column} = $2::${type} where id = $1`),
          [victim, before?.kept],
        );
      }
      assert.equal((await read('/verify')).body.ok, true);
      assert.deepEqual((await read('/verify', 'eve', '/orgs/globex/audit')).body.ok, true);
    });

    it(`The audit log preserves every digit of the values before and after a change on ${driver}`, async () => {
      const state = '{"id":9007199254740993,"ids":[9223372036854775807,1e400],"text":"1\\u00002"}';
      const values = [new Date(), 555_000, 9_007_199_254_740_993n, 'thing.change', 'thing', 9_223_372_036_854_775_807n];
      await atrium.instance.db.query(FORGE, [...values, state]);
      const { text } = await read('?org=555000', 'root', '/admin/audit');
      assert.ok(text.includes(`"before":${state},"after":null`), text);
      assert.ok(text.includes('"actor":{"id":9007199254740993,'));
      assert.ok(text.includes('"object":{"type":"thing","id":9223372036854775807}'));
      const exported = await read('/export?object=thing:9223372036854775807', 'root', '/admin/audit');
      assert.ok(exported.text.includes(`"before":${state},`));
    });
  });
}

const FORGED = [
  '2026-01-01T00:00:00.000Z ',
  '2026-13-01T00:00:00.000Z 1',
  '2026-02-30T00:00:00.000Z 1',
  '2026-01-01T24:00:00.000Z 1',
  '0000-01-01T00:00:00.000Z 1',
];

describe('Audit log requests', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const get = (path: string) => ['GET', path] as const;
  const GONE = 'organization does not exist';
  const MISSING = 'missing relation view_audit_log:org';
  const TABLE: readonly Rejected[] = [
    ...['', '/export', '/verify', '/actions'].flatMap((part): Rejected[] => [
      { send: get(`/orgs/acme/audit${part}`), status: 401, message: 'token is required' },
      { who: 'eve', send: get(`/orgs/acme/audit${part}`), status: 404, message: GONE },
      { who: 'ann', send: get(`/orgs/nowhere/audit${part}`), status: 404, message: GONE },
      { who: 'cat', send: get(`/orgs/acme/audit${part}`), status: 403, message: MISSING },
      { who: 'bob', send: get(`/orgs/acme/audit${part}`), status: 403, message: MISSING },
    ]),
    ...['', '/export', '/actions'].flatMap((part): Rejected[] => [
      { send: get(`/admin/audit${part}`), status: 401, message: 'token is required' },
      {
        who: 'ann',
        send: get(`/admin/audit${part}`),
        status: 403,
        message: 'only site administrators can call this route',
      },
      { who: 'root', send: get(`/admin/audit${part}?org=nowhere`), status: 400, message: /^org: no account is named/ },
    ]),
    ...['', '/export'].flatMap((part) =>
      (
        [
          ['since=yesterday', 'since must match format "date-time"'],
          ['until=2026-02-30T00:00:00Z', 'until must match format "date-time"'],
          ['until=2026-01-01', 'until must match format "date-time"'],
          ['since=2016-12-31T23:59:60Z', 'since must be an RFC 3339 time'],
          ['since=2026-01-01T00:00:00Z&since=2026-01-01T00:00:00Z', 'since must be string'],
          ['actor=nobody-at-all', /^actor: no account is named "nobody-at-all"/],
          ['actor=9223372036854775808', /^actor: no account is named/],
          ['actor=', /^actor: no account/],
          ['action=', /^action must be/],
          ['object=', /^object must be/],
          ['object=cluster:', /^object must be/],
          ['object=cluster:x', /^object must be/],
          ['object=cluster:9223372036854775808', /^object must be/],
        ] as const
      ).map(
        ([query, message]): Rejected => ({
          who: 'ann',
          send: get(`/orgs/acme/audit${part}?${query}`),
          status: 400,
          message,
        }),
      ),
    ),
    ...['x', '', ...FORGED.map((text) => Buffer.from(text).toString('base64url'))].map(
      (cursor): Rejected => ({
        who: 'ann',
        send: get(`/orgs/acme/audit?cursor=${cursor}`),
        status: 400,
        message: 'cursor was not issued by this server',
      }),
    ),
  ];
  for (const line of [
    ...TABLE,
    { send: get('/user/audit'), status: 401, message: 'token is required' },
    { send: get('/user/audit/export'), status: 401, message: 'token is required' },
    { who: 'ann', send: get('/user/audit?action='), status: 400, message: /^action must be/ },
    { who: 'ann', send: get('/user/audit?cursor=x'), status: 400, message: 'cursor was not issued by this server' },
  ]) {
    it(`GET ${line.send[1]} by ${line.who ?? 'an anonymous caller'} is rejected with ${line.status}`, () =>
      assertRejected(atrium, line));
  }

  it('The audit log accepts the earliest and latest representable times as filters', async () => {
    for (const query of ['since=0001-01-01T00:00:00%2B14:00', 'until=9999-12-31T23:59:59-14:00']) {
      const answer = await atrium.as('ann')('GET', `/orgs/acme/audit?${query}`);
      assert.deepEqual([answer.status, answer.body.items.length > 0], [200, true], query);
    }
  });

  it('A custom role with "view audit log" can read, export and verify the audit log', async () => {
    const holder = await makeHolder(atrium, [orgPermission('view audit log')]);
    for (const part of ['', '/export', '/verify', '/actions']) {
      assert.equal((await atrium.as(holder.name)('GET', `/orgs/acme/audit${part}`)).status, 200);
    }
  });

  it('A token without the required scope cannot read the audit log', async () => {
    const accountId = atrium.world.users.ann?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: 'narrow', scopes: ['read:user'] });
    const answer = await atrium.call('GET', '/api/v1/orgs/acme/audit', undefined, { Authorization: `token ${text}` });
    assert.equal(answer.status, 403);
  });
});
