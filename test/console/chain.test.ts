import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkChain, membersOf } from '../../client/audit-chain.ts';
import { chainHash } from '../../src/changes/audit-chain.store.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

const ODD = 'quotes " and \\ and \\" and \u2028 and 👩‍🚀 and {[,:]}';
const LARGE = 9007199254740993n;

const NOTHING_ERASED = { erased: 0, firstUnattested: undefined, isChanged: false };

describe('The check of the audit log in the browser', () => {
  let atrium: TestServer;
  let lines: readonly string[];
  const rows = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    atrium.instance.db.query<Row>(statement(text), values) as Promise<Row[]>;
  const exported = async (path = '/orgs/acme/audit/export', who = 'ann') =>
    (await atrium.as(who)('GET', path)).text.split('\n').slice(0, -1);
  const idOf = (line: string | undefined) => membersOf(line ?? '').get('id');

  before(async () => {
    atrium = await openTestServer();
    await rows(`select setval(pg_get_serial_sequence('role', 'id'), $1, false)`, [LARGE]);
    const role = { name: 'odd', description: ODD, permissions: [] };
    assert.equal((await atrium.as('root')('POST', '/authz/roles?org=acme&sudo=ann', role)).status, 201);
    await addRawEntry(`{ "count" : 12345678901234567890123, "share": 1.50, "none": null, "text": "\\u00e9\\/" }`);
    await atrium.as('ann')('PATCH', '/orgs/acme', { location: ODD });
    lines = await exported();
  });
  after(() => atrium.close());

  /** An entry whose state is written as the server never writes one. */
  async function addRawEntry(state: string): Promise<void> {
    const [last] = await rows<{ hash: Buffer; at: Date; organization_id: bigint }>(
      'select hash, at, organization_id from audit where organization_id = $1 order by id desc limit 1',
      [atrium.world.orgs.acme?.id],
    );
    if (!last) assert.fail();
    const { at, organization_id, hash: previous_hash } = last;
    const who = { actor_id: LARGE, actor_name: ODD, on_behalf_id: null, on_behalf_name: null, via: null };
    const what = { action: 'thing.change', object_type: 'thing', object_id: LARGE, before: null, after: state };
    const hash = chainHash({ at, organization_id, ...who, ...what, request_id: ODD, previous_hash });
    await rows(
      `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, after, request_id,
                          previous_hash, hash) values ($1, $2, $3, $4, $5, $6, $7, $8::text::json, $9, $10, $11)`,
      [at, organization_id, LARGE, ODD, what.action, what.object_type, LARGE, state, ODD, previous_hash, hash],
    );
  }

  it('The check finds a log intact that has odd texts, large numbers, and an entry made for somebody else', async () => {
    const text = lines.join('\n');
    for (const part of [`"id":${LARGE}`, '12345678901234567890123', '1.50', '"on_behalf_of"', '👩‍🚀']) {
      assert.ok(text.includes(part), part);
    }
    const told: number[] = [];
    const result = await checkChain(lines, (entries) => told.push(entries));
    const lastHash = JSON.parse(lines.at(-1) ?? '').hash;
    assert.deepEqual(result, { entries: lines.length, firstBroken: undefined, lastHash, ...NOTHING_ERASED });
    assert.equal(told.at(-1), lines.length);
    const { ok, rows: count } = (await atrium.as('ann')('GET', '/orgs/acme/audit/verify')).body;
    assert.deepEqual([ok, count], [true, lines.length]);
  });

  it('The check finds the log of an own account intact, and one without entries', async () => {
    await atrium.as('ann')('DELETE', '/user/sessions');
    const own = await exported('/user/audit/export');
    assert.ok(own.length > 0);
    assert.equal((await checkChain(own)).firstBroken, undefined);
    const nothing = { entries: 0, firstBroken: undefined, lastHash: undefined, ...NOTHING_ERASED };
    assert.deepEqual(await checkChain([]), nothing);
  });

  const edits: readonly (readonly [what: string, from: string | RegExp, to: string])[] = [
    ['an actor', '"actor":{"id":', '"actor":{"id":1'],
    ['a name', '"name":"root"', '"name":"bob"'],
    ['an action', /"action":"[a-z_.]+"/, '"action":"role.delete"'],
    ['a digit beyond 2^53', `"id":${LARGE}`, `"id":${LARGE - 1n}`],
    ['a state', 'and {[,:]}', 'and {[,;]}'],
    ['the user it was made for', '"on_behalf_of":{"id":', '"on_behalf_of":{"id":1'],
    ['a time', /"at":"2/, '"at":"1'],
    ['a hash', /"hash":"./, '"hash":"x'],
    ['a previous hash', /"previous_hash":"./, '"previous_hash":"x'],
  ];
  for (const [what, from, to] of edits) {
    it(`The check names the first entry that is broken if somebody changed ${what}`, async () => {
      const place = lines.findIndex((line) => line.includes('"on_behalf_of"') && line.includes(String(LARGE)));
      const forged = lines.map((line, at) => (at === place ? line.replace(from, to) : line));
      assert.notEqual(forged[place], lines[place], 'the edit did nothing');
      assert.equal((await checkChain(forged)).firstBroken, idOf(lines[place]));
    });
  }

  it('The check names the entry after one that was removed, and the older one of two that were swapped', async () => {
    const place = lines.length - 3;
    const removed = lines.filter((_, at) => at !== place);
    assert.equal((await checkChain(removed)).firstBroken, idOf(lines[place + 1]));
    assert.equal((await checkChain(lines.slice(1))).firstBroken, idOf(lines[1]));
    const [one = '', other = ''] = [lines[place], lines[place + 1]];
    const swapped = lines.with(place, other).with(place + 1, one);
    assert.equal((await checkChain(swapped)).firstBroken, idOf(one));
  });

  it('The check names an entry whose time was changed in the database, although it is elsewhere in the export then', async () => {
    const id = idOf(lines[4]);
    const [row] = await rows<{ at: Date }>('select at from audit where id = $1', [id]);
    for (const at of [new Date(0), new Date('2099-01-01')]) {
      await rows('update audit set at = $2 where id = $1', [id, at]);
      const moved = await exported();
      await rows('update audit set at = $2 where id = $1', [id, row?.at]);
      assert.notEqual(idOf(moved[4]), id);
      assert.equal((await checkChain(moved)).firstBroken, id);
    }
    assert.equal((await checkChain(await exported())).firstBroken, undefined);
  });

  it('The scanner returns the members of an object as their text, and rejects what is no object', () => {
    const json = String.raw`{ "a" : 1.50 , "b":{"c":[1,"}\"]"]},"d\u0022":"\\","e":null,"f":[],"":-0 }`;
    const members = [
      ['a', '1.50'],
      ['b', String.raw`{"c":[1,"}\"]"]}`],
      ['d"', String.raw`"\\"`],
      ['e', 'null'],
      ['f', '[]'],
      ['', '-0'],
    ];
    assert.deepEqual([...membersOf(json)], members);
    assert.deepEqual([...membersOf('{}')], []);
    for (const bad of ['', '[]', '{', '{"a"}', '{"a":1', '{"a":1 "b":2}', '{"a":"1}', '{a:1}']) {
      assert.throws(() => membersOf(bad), Error, bad);
    }
  });
});
