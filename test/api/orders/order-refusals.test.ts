import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const CHART = { name: 'redis', sourceRef: { name: 'charts' }, version: '1', releaseName: 'cache', namespace: 'data' };
const without = (key: keyof typeof CHART) => Object.fromEntries(Object.entries(CHART).filter(([one]) => one !== key));
const items = (...charts: object[]) => ({ spec: { items: charts.map((chart) => ({ chart })) } });
type Step = Record<string, unknown>;
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

describe('Deploy order validation', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const send = (body: unknown) => atrium.as('ann')('POST', '/user/deploy/orders', body);
  const patched = async (values: object, ...valuesPatch: Step[]) => {
    const { status, body } = await send(items({ ...CHART, values, valuesPatch }));
    if (status !== 200) return body.message;
    const { text } = await atrium.as('ann')('GET', `/user/deploy/orders/${body.metadata.uid}/render/manifest`);
    return parse(text).spec.values;
  };

  const refusals: readonly (readonly [what: string, body: unknown, status: number, message: RegExp])[] = [
    ['with an empty list of items', { spec: { items: [] } }, 400, /^the order has no items$/],
    ['without a list of items', { spec: {} }, 400, /^the order has no items$/],
    ['with null items', { spec: { items: null } }, 400, /^the order has no items$/],
    ['with 101 items', items(...Array(101).fill(CHART)), 400, /at most 100 items/],
    ['without a spec', {}, 422, /spec/],
    ['with items that are not a list', { spec: { items: 'x' } }, 422, /items/],
    ['with an empty item', { spec: { items: [{}] } }, 422, /chart/],
    ...Object.keys(CHART).map(
      (key) => [`without ${key}`, items(without(key as keyof typeof CHART)), 422, new RegExp(key)] as const,
    ),
    ['with an invalid release name', items({ ...CHART, releaseName: 'a b' }), 422, /releaseName/],
    ['with a path traversal in the release name', items({ ...CHART, releaseName: '../x' }), 422, /releaseName/],
    ['with YAML in the namespace', items({ ...CHART, namespace: 'a\nkind: Secret' }), 422, /namespace/],
    ['with a javascript: source URL', items({ ...CHART, sourceRef: { name: 'x', url: 'javascript:x' } }), 422, /url/],
    ['with values that are not an object', items({ ...CHART, values: 'x' }), 422, /values/],
    ['with a values patch that is not a list', items({ ...CHART, valuesPatch: {} }), 422, /valuesPatch/],
    ['with an unknown patch operation', items({ ...CHART, valuesPatch: [{ op: 'spam', path: '/a' }] }), 422, /op/],
    ['with a __proto__ key', `{"spec":{"items":[],"__proto__":{}}}`, 422, /__proto__/],
  ];
  for (const [what, body, status, message] of refusals) {
    it(`A deploy order ${what} is rejected with ${status}`, async () => {
      const answer = await send(body);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.message, message);
    });
  }

  const steps: readonly [what: string, values: object, steps: Step[], result: object][] = [
    ['adds a value', { a: 1 }, [{ op: 'add', path: '/b', value: [1] }], { a: 1, b: [1] }],
    ['creates missing parent objects', {}, [{ op: 'add', path: '/a/b/c', value: 1 }], { a: { b: { c: 1 } } }],
    ['replaces a value', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: null }], { a: { b: null } }],
    ['replaces a chart default', {}, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['removes a value', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['removes a chart default by setting it to null', {}, [{ op: 'remove', path: '/a/b' }], { a: { b: null } }],
    [
      'moves and copies values',
      { a: { x: 1 } },
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'move', from: '/a/x', path: '/c' },
      ],
      { a: {}, b: { x: 1 }, c: 1 },
    ],
    ['may contain a test that passes', { a: [1] }, [{ op: 'test', path: '/a', value: [1] }], { a: [1] }],
    [
      'tests objects without regard to the order of their keys',
      { a: { x: 1, y: [{ z: null }] } },
      [{ op: 'test', path: '/a', value: { y: [{ z: null }], x: 1.0 } }],
      { a: { x: 1, y: [{ z: null }] } },
    ],
    [
      'keeps later steps out of the values of earlier ones',
      {},
      [
        { op: 'add', path: '/a', value: { b: 1 } },
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/a/b', value: 2 },
      ],
      { a: { b: 2 }, c: { b: 1 } },
    ],
    [
      'moves an element within a list',
      { a: [1, 2, 3] },
      [{ op: 'move', from: '/a/0', path: '/a/2' }],
      { a: [2, 3, 1] },
    ],
    ['replaces an element of a list', { a: [1, 2] }, [{ op: 'replace', path: '/a/1', value: [] }], { a: [1, []] }],
    [
      'inserts into a list and appends to it',
      { a: [1, 3] },
      [
        { op: 'add', path: '/a/1', value: 2 },
        { op: 'add', path: '/a/-', value: 4 },
        { op: 'add', path: '/a/4', value: 5 },
      ],
      { a: [1, 2, 3, 4, 5] },
    ],
    ['removes an element from a list', { a: [1, 2] }, [{ op: 'remove', path: '/a/0' }], { a: [2] }],
    [
      'decodes ~0 and ~1 in paths',
      {},
      [{ op: 'add', path: '/a~1b/c~0d/~01', value: 1 }],
      { 'a/b': { 'c~d': { '~1': 1 } } },
    ],
    [
      'treats the names of inherited properties as plain keys',
      {},
      [{ op: 'add', path: '/toString/valueOf', value: 1 }],
      { toString: { valueOf: 1 } },
    ],
  ];
  for (const [what, values, patch, result] of steps) {
    it(`A values patch ${what}`, async () => assert.deepEqual(await patched(values, ...patch), result));
  }

  const doubled = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/x${i}` }));
  const hostile: readonly [what: string, values: object, steps: Step[], message: RegExp][] = [
    ['a __proto__ path', {}, [{ op: 'add', path: '/__proto__/x', value: 1 }], /path is not allowed/],
    ['a constructor path', {}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }], /path is not allowed/],
    ['a copy to __proto__', { a: 1 }, [{ op: 'copy', from: '/a', path: '/__proto__/x' }], /path is not allowed/],
    ['a copy from __proto__', {}, [{ op: 'copy', from: '/__proto__', path: '/x' }], /path is not allowed/],
    ['a copy of an inherited property', {}, [{ op: 'copy', from: '/toString', path: '/x' }], /there is no value at/],
    ['a move of an inherited property', {}, [{ op: 'move', from: '/valueOf', path: '/x' }], /there is no value at/],
    [
      'a path to the length of a list',
      { a: [1] },
      [{ op: 'replace', path: '/a/length', value: 9e9 }],
      /not in the list/,
    ],
    [
      'an index far beyond the end of a list',
      { a: [] },
      [{ op: 'add', path: '/a/4294967290', value: 1 }],
      /not in the list/,
    ],
    [
      'a path through an index far beyond the end of a list',
      { a: [] },
      [{ op: 'add', path: '/a/4294967290/x', value: 1 }],
      /not in the list/,
    ],
    ['an object key in a list', { a: [] }, [{ op: 'add', path: '/a/b/c', value: 1 }], /not in the list/],
    ['a path through a string', { a: 'x' }, [{ op: 'add', path: '/a/b', value: 1 }], /a is not an object/],
    ['the whole document as its target', {}, [{ op: 'replace', path: '', value: {} }], /path must start with/],
    ['a path that is not a JSON Pointer', {}, [{ op: 'add', path: 'a', value: 1 }], /path must start with/],
    ['a path of more than 32 keys', {}, [{ op: 'add', path: '/a'.repeat(33), value: 1 }], /more than 32 keys/],
    [
      'exponentially growing copies',
      { a: { t: 'x'.repeat(100) } },
      doubled,
      /copied values are too large|nested more than/,
    ],
    ['a value moved into itself', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '/a/b' }], /into itself/],
    ['a missing value', {}, [{ op: 'add', path: '/a' }], /value is required/],
    ['a copy without a source', {}, [{ op: 'copy', path: '/a' }], /from is required/],
    ['a test that fails', { a: 1 }, [{ op: 'test', path: '/a', value: 2 }], /Test failed/],
    [
      'a test of 20,000 numbers',
      { a: numbers(20_000) },
      [{ op: 'test', path: '/a', value: numbers(20_000, 20_000) }],
      /Test failed/,
    ],
    [
      'a test that fails at the last of 20,000 numbers',
      { a: numbers(20_000) },
      [{ op: 'test', path: '/a', value: [...numbers(19_999), 0] }],
      /Test failed/,
    ],
    ['a test of a list against an object', { a: [] }, [{ op: 'test', path: '/a', value: {} }], /Test failed/],
    ['a test of an object against a list', { a: {} }, [{ op: 'test', path: '/a', value: [] }], /Test failed/],
    ['a test of null against an object', { a: null }, [{ op: 'test', path: '/a', value: {} }], /Test failed/],
    ['a test of a number against its text', { a: 1 }, [{ op: 'test', path: '/a', value: '1' }], /Test failed/],
    [
      'a test for an inherited key',
      { a: { b: 1 } },
      [{ op: 'test', path: '/a', value: { valueOf: 1 } }],
      /Test failed/,
    ],
    ['a test without a value', { a: null }, [{ op: 'test', path: '/a' }], /value is required/],
    ['a test of a value that is missing', {}, [{ op: 'test', path: '/a', value: null }], /there is no value at \/a/],
    [
      'a copy of the length of a list',
      { a: [1] },
      [{ op: 'copy', from: '/a/length', path: '/b' }],
      /there is no value/,
    ],
    [
      'a path through the length of a list',
      { a: [1] },
      [{ op: 'add', path: '/a/length/b', value: 1 }],
      /not in the list/,
    ],
    ['an incomplete escape in a path', {}, [{ op: 'add', path: '/a~', value: 1 }], /not followed by 0 or 1/],
    [
      'an unknown escape in a path',
      { '~2': {} },
      [{ op: 'move', from: '/~02', path: '/~2/b' }],
      /not followed by 0 or 1/,
    ],
    ['a path of 4,097 characters', {}, [{ op: 'remove', path: `/${'a'.repeat(4096)}` }], /longer than 4096 characters/],
    ['a path of 100,000 keys', {}, [{ op: 'remove', path: '/'.repeat(100_000) }], /longer than 4096 characters/],
    [
      'copies that nest ever deeper',
      {},
      Array(9).fill({ op: 'copy', from: '/a', path: '/a'.repeat(31) }),
      /no value at/,
    ],
    [
      'copies of copies that nest too deeply',
      { a: { b: 1 } },
      Array.from({ length: 4 }, () => ({ op: 'copy', from: '/a', path: `/a${'/x'.repeat(30)}` })),
      /nested more than 64 levels/,
    ],
    [
      'moves that nest too deeply',
      { a: 1 },
      Array.from({ length: 900 }, (_, at) =>
        at % 2 ? { op: 'move', from: '/b', path: '/a' } : { op: 'move', from: '/a', path: `/b${'/x'.repeat(9)}` },
      ),
      /nested more than 64 levels/,
    ],
    [
      'a deep value at a deep path',
      {},
      [{ op: 'add', path: '/a'.repeat(32), value: nested(40) }],
      /nested more than 64 levels/,
    ],
    [
      'a deep replacement at a deep path',
      {},
      [{ op: 'replace', path: '/a'.repeat(32), value: nested(40) }],
      /nested more than 64 levels/,
    ],
  ];
  for (const [what, values, patch, message] of hostile) {
    it(`A values patch with ${what} is rejected when the order is created`, async () => {
      assert.match(String(await patched(values, ...patch)), message);
    });
  }

  it('Values patches do not modify built-in prototypes', async () => {
    const attacks = ['/toString/call', '/valueOf/x', '/hasOwnProperty/x', '/__defineGetter__/x'];
    for (const path of attacks) {
      for (const op of ['copy', 'move']) await patched({ a: { b: 1 } }, { op, from: '/a', path });
    }
    assert.equal(typeof Object.prototype.toString.call, 'function');
    for (const name of ['valueOf', 'hasOwnProperty', 'toString'] as const) {
      assert.equal(Object.hasOwn(Object.prototype[name], 'x'), false);
    }
    assert.equal(({} as { b?: number }).b, undefined);
    assert.doesNotMatch(atrium.logged(), /"level":"error"/);
  });
});
