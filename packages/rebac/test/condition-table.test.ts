import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_STEPS } from '../src/conditions/pattern.ts';
import { conditionalModel, evaluate, tryModel } from './condition-differential.ts';
import { countSteps } from './condition-steps.ts';
import { ANSWERS } from './condition-table.ts';
import { EXPRESSIONS } from './expressions.ts';
import { REFUSED } from './rejected-conditions.ts';

for (const [parameter, expression, answers] of ANSWERS) {
  test(`Condition (${parameter}) { ${expression} } answers ${answers.length} values as OpenFGA does`, async () => {
    const model = await tryModel(conditionalModel(parameter, expression));
    assert.ok(!('refused' in model), String((model as { refused?: string }).refused));
    const [name = ''] = parameter.split(': ');
    assert.deepEqual(
      answers.map(([value]) => [value, evaluate(model, { [name]: value })]),
      answers,
    );
    // The same values stored on the tuple, where a malformed one is rejected with the tuple.
    assert.deepEqual(
      answers.map(([value]) => [value, evaluate(model, {}, { [name]: value })]),
      answers,
    );
  });
}

test('Expressions that OpenFGA does not accept make the model invalid', async () => {
  for (const [parameters, expression] of REFUSED) {
    assert.ok('refused' in (await tryModel(conditionalModel(parameters, expression))), expression);
  }
});

test('A list may mix types, and a model with every kind of expression that is compared with OpenFGA is read', async () => {
  assert.ok(!('refused' in (await tryModel(conditionalModel('a: string', 'a in ["a", 1]')))));
  let accepted = 0;
  for (const [parameters, expression] of EXPRESSIONS) {
    if (!('refused' in (await tryModel(conditionalModel(parameters, expression))))) accepted++;
  }
  assert.ok(accepted > EXPRESSIONS.length * 0.7, `${accepted} of ${EXPRESSIONS.length}`);
});

test('A value on the tuple hides the one of the request even if it is null', async () => {
  const model = await tryModel(conditionalModel('x: int', 'x < 10'));
  assert.ok(!('refused' in model));
  assert.equal(evaluate(model, { x: 50 }, { x: 5 }), true);
  assert.equal(evaluate(model, { x: 5 }, { x: null }), 'error');
});

test('A control character anywhere in the context of the request fails every condition', async () => {
  const model = await tryModel(conditionalModel('x: int', 'x < 10'));
  assert.ok(!('refused' in model));
  for (const context of [{ other: '\n' }, { 'a\u0001': 1 }, { other: [{ deep: '\u0090' }] }, { other: '\udc00' }]) {
    assert.equal(evaluate(model, { x: 1, ...context }), 'error');
  }
  assert.equal(evaluate(model, { x: 1, other: 'é \u{1f600}' }), true);
});

test('A pattern that makes a backtracking engine double its work with each character takes linear time', async () => {
  const patterns = ['^(a+)+$', '(a|aa)+$', '^(a|a)*$', '(.*)*$x', '(a+a+)+b'];
  const contexts = [60, 120, 240].map((length) => ({ s: `${'a'.repeat(length)}!` }));
  const counted = await countSteps(
    patterns.map((pattern) => ({ parameters: 's: string', expression: `s.matches("${pattern}")`, contexts })),
  );
  for (const [index, { steps }] of counted.entries()) {
    const [first = 0, second = 0, third = 0] = steps;
    const isLinear = first > 0 && second < first * 2.5 && third < second * 2.5;
    assert.ok(isLinear, `${patterns[index]}: ${steps.join(', ')} steps`);
  }
});

test('The work of a condition is bounded, however long the list, the text or the pattern in the context is', async () => {
  const cases: [string, string, Record<string, unknown>][] = [
    ['l: list<int>', 'l.exists(n, l.exists(m, l.exists(o, n + m + o < 0)))', { l: Array(5000).fill(1) }],
    ['l: list<int>', 'l.map(n, l.map(m, n)).size() > 0', { l: Array(5000).fill(1) }],
    ['s: string, p: string', 's.matches(p)', { s: 'a'.repeat(90), p: '(a{0,500}){1,2}'.repeat(2) }],
    ['s: string, p: string', 's.matches(p)', { s: 'a', p: '(a{0,1000})'.repeat(36) }],
    ['s: string, p: string', 'matches(s, p)', { s: 'a'.repeat(100_000), p: '(a+)+$' }],
    ['s: string', 's.contains(s + "b")', { s: 'a'.repeat(100_000) }],
    ['x: int', 'x < 10', { x: '9'.repeat(100_000) }],
    ['d: duration', 'd > duration("1h")', { d: '1'.repeat(100_000) }],
  ];
  const counted = await countSteps(
    cases.map(([parameters, expression, context]) => ({ parameters, expression, contexts: [context] })),
  );
  for (const [index, { answers, steps }] of counted.entries()) {
    const [, expression] = cases[index] ?? [];
    assert.deepEqual(answers, ['error'], expression);
    assert.ok(
      steps.every((count) => count > 0 && count < 4 * MAX_STEPS),
      `${expression}: ${steps.join()} steps`,
    );
  }
});
