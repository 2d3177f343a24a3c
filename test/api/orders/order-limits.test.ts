import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

const CHART = { name: 'redis', sourceRef: { name: 'charts' }, version: '1', releaseName: 'cache', namespace: 'data' };
const items = (...charts: object[]) => ({ spec: { items: charts.map((chart) => ({ chart })) } });
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('Deploy order limits', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const send = (body: unknown) => atrium.as('ann')('POST', '/user/deploy/orders', body);
  const MANY = 9_000;
  const list = Array(900).fill(7);
  const keyed = Object.fromEntries(numbers(8_500).map((at) => [`k${at}`, at]));
  const sized: readonly [what: string, charts: object[], message: RegExp][] = [
    [
      'values that render to more than 1 MiB',
      [{ values: { a: [[[[[[[[[[Array(45_000).fill(0)]]]]]]]]]] } }],
      /larger than 1 MiB/,
    ],
    [
      'lines that are indented to more than 1 MiB',
      [{ valuesPatch: [{ op: 'add', path: '/a'.repeat(31), value: 'a\n'.repeat(20_000) }] }],
      /larger than 1 MiB/,
    ],
    [
      'ten charts that copy a list to deep places',
      Array(10).fill({
        values: { a: list },
        valuesPatch: Array.from({ length: 15 }, (_, at) => ({
          op: 'copy',
          from: '/a',
          path: `/b${at}${'/c'.repeat(30)}`,
        })),
      }),
      /larger than 1 MiB/,
    ],
    [
      'copies of a long text',
      [
        {
          values: { a: 'x'.repeat(90_000) },
          valuesPatch: numbers(500).map((at) => ({ op: 'copy', from: '/a', path: `/b${at}` })),
        },
      ],
      /larger than 1 MiB/,
    ],
    ['more than 50,000 values', [{ values: { a: Array(50_000).fill(0) } }], /more than 50,000 values/],
    [
      'more than 10,000 fields, even unknown ones',
      [{ more: keyed, others: Object.fromEntries(numbers(2_000).map((at) => [at, at])) }],
      /more than 10,000 fields/,
    ],
    [
      'more than 50,000 values in patch steps',
      [{ valuesPatch: numbers(1_000).map((at) => ({ op: 'add', path: `/${at}`, value: Array(50).fill(0) })) }],
      /more than 50,000 values/,
    ],
    [
      'copies that are removed again',
      [
        {
          values: { a: Array(MANY).fill(0) },
          valuesPatch: numbers(500).map((at) =>
            at % 2 ? { op: 'remove', path: '/b' } : { op: 'copy', from: '/a', path: '/b' },
          ),
        },
      ],
      /copied values are too large/,
    ],
    [
      'keys that are copied again and again',
      [
        {
          values: { a: keyed },
          valuesPatch: numbers(500).map((at) =>
            at % 2 ? { op: 'remove', path: '/b' } : { op: 'copy', from: '/a', path: '/b' },
          ),
        },
      ],
      /copied values are too large/,
    ],
    [
      'a large value that is moved to and fro',
      [
        {
          values: { a: [Array(MANY).fill(0)] },
          valuesPatch: numbers(500).map((at) =>
            at % 2 ? { op: 'move', from: '/b', path: '/a' } : { op: 'move', from: '/a', path: '/b' },
          ),
        },
      ],
      /moved and copied values are too large/,
    ],
    [
      'two lists that grow at their start',
      Array(2).fill({
        values: { a: Array(20_000).fill(0) },
        valuesPatch: Array(1_000).fill({ op: 'add', path: '/a/0', value: 0 }),
      }),
      /moved and copied values are too large/,
    ],
    [
      'a hundred charts that copy a little each',
      Array(100).fill({
        values: { a: Array(300).fill(0) },
        valuesPatch: Array(15).fill({ op: 'copy', from: '/a', path: '/b' }),
      }),
      /copied values/,
    ],
  ];
  for (const [what, charts, message] of sized) {
    it(`A deploy order with ${what} is rejected with the reason order_too_large`, async () => {
      const answer = await send(items(...charts.map((chart) => ({ ...CHART, ...chart }))));
      assert.deepEqual([answer.status, answer.body.reason], [422, 'order_too_large'], answer.text.slice(0, 500));
      assert.match(answer.body.message, message);
      assert.equal(answer.body.errors.length, 1);
    });
  }

  it('A deploy order that is nested more than 64 levels deep is rejected wherever the nesting is', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const places = [
      `{"spec":{"items":[{"chart":{"values":{"a":${deep}}}}]}}`,
      `{"spec":{"items":[{"chart":{"valuesPatch":[{"op":"test","path":"/a","value":${deep}}]}}]}}`,
      `{"spec":{"items":[],"unknown":${deep}}}`,
      `{"spec":${deep}}`,
      `{"unknown":${deep}}`,
    ];
    for (const body of places) {
      const answer = await send(body);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, /nested more than 64 levels deep/);
    }
  });

  it('Numbers are tested by their value, however they are written', async () => {
    const [same, other] = ['100000000000000000000', '100000000000000000001'];
    const outcome = async (value: string, tested: string) => {
      const text = JSON.stringify(
        items({ ...CHART, values: { a: 'A' }, valuesPatch: [{ op: 'test', path: '/a', value: 'B' }] }),
      );
      return (await send(text.replace('"A"', value).replace('"B"', tested))).status;
    };
    for (const [value, tested] of [
      ['1', '1.0'],
      ['1e2', '100'],
      ['0', '-0'],
      [same, same],
      [same, '1e20'],
      ['1e20', same],
    ] as const) {
      assert.equal(await outcome(value, tested), 200, `${value} ${tested}`);
    }
    for (const [value, tested] of [
      [same, other],
      ['1e20', other],
      [other, '1e20'],
      ['1', 'true'],
      ['0', 'null'],
      ['9007199254740992', '9007199254740993'],
    ] as const) {
      assert.equal(await outcome(value, tested), 422, `${value} ${tested}`);
    }
  });

  it('A deploy order just below its limits is created, rendered in every form, and returned as it was sent', async () => {
    const chart = {
      ...CHART,
      values: { a: list, text: 'line\n'.repeat(1000) },
      valuesPatch: [
        { op: 'add', path: '/first', value: { kept: 1 } },
        { op: 'remove', path: '/first/kept' },
        ...Array.from({ length: 100 }, (_, at) => ({ op: 'copy', from: '/a', path: `/b${at}` })),
      ],
    };
    const sent = items(chart, { ...chart, values: {}, valuesPatch: [] });
    const { status, body, text } = await send(sent);
    assert.equal(status, 200, text.slice(0, 500));
    assert.deepEqual(body.spec, sent.spec);
    const render = (what: string) => atrium.as('ann')('GET', `/user/deploy/orders/${body.metadata.uid}/render/${what}`);
    const manifest = await render('manifest');
    assert.ok(manifest.text.length > 900_000 && manifest.text.length <= 1024 * 1024, String(manifest.text.length));
    const resources = (await render('resources')).body;
    assert.equal(Object.keys(resources[0].resources[0].data.spec.values).length, 103);
    assert.ok((await render('resources?format=yaml')).text.includes('b99:'));
  });

  it('An order that an earlier version stored is not rendered if it is too large, but can be deleted', async () => {
    const { body } = await send(items(CHART));
    const path = `/user/deploy/orders/${body.metadata.uid}`;
    const copies = numbers(90).map((at) => ({ op: 'copy', from: '/a', path: `/b${at}${'/c'.repeat(30)}` }));
    const { spec } = items(...Array(10).fill({ ...CHART, values: { a: list }, valuesPatch: copies }));
    const update = statement('update deploy_order set spec = $1::json where uid = $2::uuid');
    await atrium.instance.db.query(update, [JSON.stringify(spec), body.metadata.uid]);
    for (const what of ['manifest', 'resources', 'resources?format=yaml']) {
      const answer = await atrium.as('ann')('GET', `${path}/render/${what}`);
      assert.deepEqual([answer.status, answer.body.reason], [422, 'order_too_large'], what);
    }
    assert.equal((await atrium.as('ann')('DELETE', path)).status, 204);
  });

  it('The most expensive orders take less than half a second of processor time', {
    skip: !IS_LONG && 'only in npm run test:long',
  }, async () => {
    const toAndFro = numbers(500).map((at) =>
      at % 2 ? { op: 'move', from: '/b', path: '/a' } : { op: 'move', from: '/a', path: '/b' },
    );
    const orders = [
      { values: { a: numbers(20_000) }, valuesPatch: [{ op: 'test', path: '/a', value: numbers(20_000).reverse() }] },
      { values: { a: numbers(20_000) }, valuesPatch: [{ op: 'test', path: '/a', value: numbers(20_000) }] },
      { values: { a: keyed }, valuesPatch: [{ op: 'copy', from: '/a', path: '/b' }] },
      { values: { a: keyed }, valuesPatch: toAndFro },
      { values: { a: numbers(40_000) }, valuesPatch: Array(900).fill({ op: 'add', path: '/a/0', value: 0 }) },
      { values: { a: list }, valuesPatch: numbers(100).map((at) => ({ op: 'copy', from: '/a', path: `/b${at}` })) },
    ];
    for (const [at, chart] of orders.entries()) {
      const body = items({ ...CHART, ...chart });
      await send(body);
      const before = process.cpuUsage();
      const answer = await send(body);
      const uid = answer.body.metadata?.uid;
      if (uid) await atrium.as('ann')('GET', `/user/deploy/orders/${uid}/render/resources?format=yaml`);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 500_000, `order ${at} took ${user + system} µs`);
    }
  });
});
