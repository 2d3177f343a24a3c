import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Context } from '../src/conditions/condition.ts';
import { allowed, allowedMany, check } from '../src/engine.ts';
import { explain } from '../src/explanation.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { listObjects } from '../src/list-objects.ts';
import { listUsers } from '../src/list-users.ts';
import { readModel } from '../src/model.ts';
import { RebacError } from '../src/rebac-error.ts';

const MODEL = `model
  schema 1.1
type user
type doc
  relations
    define viewer: [user, user with near]
condition near(x: int) {
  x < 10
}
`;
const ANN = { user: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;

/** Every way to ask the engine. */
const ENTRIES: Readonly<Record<string, (graph: Graph, context: Context) => unknown>> = {
  check: (graph, context) => check(graph, { ...ANN, context }),
  allowed: (graph, context) => allowed(graph, ANN.user, ANN.object, { context }),
  allowedMany: (graph, context) => allowedMany(graph, ANN.user, [ANN.object], { context }),
  listObjects: (graph, context) => listObjects(graph, { user: ANN.user, relation: 'viewer', type: 'doc', context }),
  listUsers: (graph, context) => listUsers(graph, { object: ANN.object, relation: 'viewer', filter: 'user', context }),
  explain: (graph, context) => explain(graph, { ...ANN, context }),
};
/** `allowed` leaves out what it cannot decide, so it has an answer. */
const UNDECIDED: Readonly<Record<string, unknown>> = { allowed: [], allowedMany: [[]] };

/** Contexts that no condition can be evaluated with. The request itself is wrong, whatever the answer depends on. */
const FAULTY: readonly (readonly [what: string, context: Context, words: RegExp])[] = [
  ['a control character in a text', { x: 'a\tb' }, /control characters/],
  ['a control character in a key', { 'a\u0001b': 1 }, /control characters/],
  ['a control character in a value that no condition reads', { other: { deep: ['\u007f'] } }, /control characters/],
  ['half a surrogate pair', { other: '\ud800' }, /well-formed/],
  ['more than a hundred levels', { other: nested(102) }, /too deeply/],
];

/** Contexts that are fine, but with which this condition cannot be evaluated. */
const UNUSABLE: readonly (readonly [what: string, context: Context, words: RegExp])[] = [
  ['no value of a parameter', {}, /missing context parameters x/],
  ['null', { x: null }, /parameter x: expected an int/],
  ['a value of another type', { x: 'one' }, /parameter x: expected an int/],
  ['a list', { x: [1] }, /parameter x: expected an int/],
];

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { x: nested(levels - 1) };
}

function refusal(ask: () => unknown): string {
  try {
    ask();
  } catch (error) {
    assert.ok(error instanceof RebacError);
    assert.equal(error.fault, 'validation');
    return error.message;
  }
  return assert.fail('it was answered');
}

describe('Faults in the context of a request', async () => {
  const model = await readModel(MODEL);
  const conditional = createGraph(model, [{ ...ANN, condition: { name: 'near' } }]);
  const plain = createGraph(model, [ANN]);

  for (const [what, context, words] of FAULTY) {
    it(`Every way to ask refuses a context with ${what} in the same words, with and without a condition`, () => {
      for (const graph of [conditional, plain, createGraph(model)]) {
        const told = new Set(Object.values(ENTRIES).map((ask) => refusal(() => ask(graph, context))));
        assert.equal(told.size, 1, [...told].join(' / '));
        assert.match([...told][0] ?? '', words);
      }
    });
  }

  for (const [what, context, words] of UNUSABLE) {
    it(`Every way to ask says the same if a condition meets ${what}, and allowed leaves the relation out`, () => {
      const told = new Set<string>();
      for (const [name, ask] of Object.entries(ENTRIES)) {
        if (name in UNDECIDED) assert.deepEqual(ask(conditional, context), UNDECIDED[name]);
        else told.add(refusal(() => ask(conditional, context)));
        assert.ok(ask(plain, context), `${name} needs no condition here`);
      }
      assert.equal(told.size, 1, [...told].join(' / '));
      assert.match([...told][0] ?? '', words);
    });
  }

  it('A context that is fine is used by every way to ask', () => {
    const answers = Object.values(ENTRIES).map((ask) => ask(conditional, { x: 9 }));
    assert.deepEqual(answers.slice(0, 5), [true, ['viewer'], [['viewer']], ['doc:1'], ['user:ann']]);
    assert.equal((answers[5] as { allowed: boolean }).allowed, true);
  });
});
