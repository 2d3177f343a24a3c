import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { check, parseSyntax, readModel } from '../../packages/rebac/src/rebac.ts';
import { COSTS, sizesOf, valueOfSize } from '../../packages/rebac/test/condition-costs.ts';
import { askCondition, compareExpression, conditionalModel } from '../../packages/rebac/test/condition-differential.ts';
import { ANSWERS } from '../../packages/rebac/test/condition-table.ts';
import { KNOWN } from '../../packages/rebac/test/differential.ts';
import { EXPRESSIONS } from '../../packages/rebac/test/expressions.ts';
import { contextsFor } from '../../packages/rebac/test/parameter-values.ts';
import { Dice, PARAMETERS, randomContext, randomExpression } from '../../packages/rebac/test/random-expression.ts';
import { REFUSED } from '../../packages/rebac/test/rejected-conditions.ts';
import {
  CIRCLE_CASES,
  CIRCLE_MODEL,
  CONTEXTUAL_CASES,
  FAULT_CASES,
  FAULT_MODEL,
  tuplesOf,
} from '../../packages/rebac/test/rule-cases.ts';
import { compareWorld, shrink, Tally } from '../../packages/rebac/test/server-worlds.ts';
import { worlds } from '../../packages/rebac/test/world.ts';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { fc } from '../support/checks/properties.ts';
import { createRandom } from '../support/checks/random.ts';
import { startOpenFga } from '../support/services/openfga.ts';
import { lacksOpenFga, OPENFGA_VERSION } from '../support/services/openfga-process.ts';
import { randomOrganization, shown } from '../support/world/random-organization.ts';

/** To repeat one world: OPENFGA_SEED=<its seed> OPENFGA_CHECKS=1 npm run test:long -- openfga */
const SEED = Number(process.env.OPENFGA_SEED ?? 42);
const CHECKS = Number(process.env.OPENFGA_CHECKS ?? COUNTS.openFgaChecks);
const CONTEXTS = 10;

describe(`The engine beside OpenFGA ${OPENFGA_VERSION}, with seed ${SEED}`, { skip: lacksOpenFga() }, () => {
  it(`Conditions of ${EXPRESSIONS.length} kinds are accepted and answered alike`, async () => {
    const server = await startOpenFga(20_000);
    const differences: string[] = [];
    for (const [parameters, expression] of EXPRESSIONS) {
      differences.push(...(await compareExpression(server, parameters, expression, contextsFor(parameters))));
    }
    assert.deepEqual(differences, []);
  });

  it('The answers that the everyday suite expects are those of the server', async () => {
    const server = await startOpenFga(20_000);
    for (const [parameters, expression] of REFUSED) {
      assert.ok('refused' in (await server.write(conditionalModel(parameters, expression))), expression);
    }
    for (const [parameter, expression, answers] of ANSWERS) {
      const [name = ''] = parameter.split(': ');
      const there = await server.write(conditionalModel(parameter, expression));
      assert.ok(!('refused' in there), expression);
      // Infinity and half a surrogate pair are no JSON, so they cannot be sent.
      const sent = answers.filter(([value]) => value !== Number.POSITIVE_INFINITY && value !== '\ud800');
      const came = await askCondition(
        there,
        sent.map(([value]) => ({ [name]: value })),
      );
      assert.deepEqual(
        sent.map(([value], index) => [value, came[index]]),
        sent,
        expression,
      );
    }
  });

  it('The rules that the everyday suite expects are those of the server', async () => {
    const server = await startOpenFga(20_000);
    const differences: string[] = [];
    for (const [text, cases] of [
      [CIRCLE_MODEL, CIRCLE_CASES],
      [FAULT_MODEL, [...FAULT_CASES, ...CONTEXTUAL_CASES]],
    ] as const) {
      const model = await parseSyntax(text);
      for (const { name, stored, contextual = [], question, due } of cases) {
        const there = await server.write(model, tuplesOf(stored));
        assert.ok(!('refused' in there), name);
        const contextualTuples = contextual.length === 0 ? undefined : tuplesOf(contextual);
        const [came] = await there.checks(tuplesOf([question]).map((one) => ({ ...one, contextualTuples })));
        const expected = typeof due === 'boolean' ? due : 'an error';
        const answered = typeof came === 'object' ? 'an error' : came;
        if (answered !== expected) differences.push(`${name}: ${answered} instead of ${expected}`);
      }
    }
    assert.deepEqual(differences, []);
  });

  it('The cost of a condition reaches its limit at the same size', async () => {
    const server = await startOpenFga(20_000);
    const differences: string[] = [];
    for (const [parameter, expression] of COSTS) {
      const [name = '', type = ''] = parameter.split(': ');
      const contexts = sizesOf(type).map((size) => ({ [name]: valueOfSize(type, size) }));
      differences.push(...(await compareExpression(server, parameter, expression, contexts)));
    }
    assert.deepEqual(differences, []);
  });

  it(`${COUNTS.openFgaExpressions} random conditions are accepted and answered alike`, async () => {
    const server = await startOpenFga(20_000);
    const dice = new Dice(SEED);
    const differences: string[] = [];
    for (let count = 0; count < COUNTS.openFgaExpressions; count++) {
      const expression = randomExpression(dice);
      const contexts = Array.from({ length: CONTEXTS }, () => randomContext(dice));
      differences.push(...(await compareExpression(server, PARAMETERS, expression, contexts)));
      if (count % 500 === 499) progress(`${count + 1} of ${COUNTS.openFgaExpressions} random conditions`);
    }
    assert.deepEqual(differences, []);
  });

  it(`${CHECKS} checks in random worlds differ only as the written list of differences says`, async () => {
    const server = await startOpenFga(1000);
    const tally = new Tally();
    let reported = 0;
    for (let seed = SEED; tally.checks < CHECKS && tally.failures.length === 0; seed++) {
      const [world] = fc.sample(worlds, { seed, numRuns: 1 });
      assert.ok(world);
      await compareWorld(server, world, `seed ${seed}`, tally);
      if (tally.failures.length > 0) tally.failures.push(`smaller: ${await shrink(server, world)}`);
      if (tally.checks - reported > 10_000) {
        reported = tally.checks;
        progress(String(tally));
      }
    }
    process.stdout.write(`# ${tally}\n`);
    assert.deepEqual(tally.failures, []);
  });

  it(`${COUNTS.openFgaOrganizations} random organizations with assignments of every kind are answered alike`, async () => {
    const server = await startOpenFga(20_000);
    const text = readFileSync('src/authz/platform.fga', 'utf8');
    const [model, json] = [await readModel(text), await parseSyntax(text)];
    const random = createRandom(SEED);
    const differences: string[] = [];
    for (let world = 0; world < COUNTS.openFgaOrganizations; world++) {
      const { graph, tuples, users, robots, objects } = randomOrganization(model, random);
      // The server rejects tuples that the model does not allow. The engine ignores them.
      const allowed = tuples.filter(({ user, relation, object }) => {
        const { metadata } = json.type_definitions.find(({ type }) => object.startsWith(`${type}:`)) ?? {};
        const types = metadata?.relations?.[relation]?.directly_related_user_types ?? [];
        return !user.endsWith('#assignee') || types.some(({ type }) => type === 'role');
      });
      const there = await server.write(json, allowed);
      assert.ok(!('refused' in there), JSON.stringify(there));
      for (const user of [...users, ...robots]) {
        const questions = objects.flatMap((object) =>
          shown(model, object.split(':')[0] ?? '').map((relation) => ({ user, relation, object })),
        );
        for (const [index, answer] of (await there.checks(questions)).entries()) {
          const question = questions[index] ?? assert.fail();
          if (answer === check(graph, question)) continue;
          differences.push(`${JSON.stringify(question)} in world ${world}: ${JSON.stringify(answer)}`);
        }
      }
      progress(`${world + 1} of ${COUNTS.openFgaOrganizations} random organizations`);
    }
    assert.deepEqual(differences.slice(0, 5), []);
  });

  it('Every difference that the comparison accepts is described', () => {
    const page = readFileSync('docs/decisions/openfga.md', 'utf8');
    assert.deepEqual(
      KNOWN.filter((name) => !page.includes(`**${name}**`)),
      [],
    );
  });
});
