import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { allowed, parseSyntax, readModel } from '../../packages/rebac/src/rebac.ts';
import { Oracle } from '../../packages/rebac/test/oracle.ts';
import { COUNTS } from '../counts.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { randomOrganization } from '../support/world/random-organization.ts';

const WORLDS = COUNTS.randomOrganizations;

describe('The model of the platform in random organizations', () => {
  it(`The engine answers as the reference evaluator in ${WORLDS} organizations with assignments of every kind, with seed ${SEED}`, async () => {
    const text = readFileSync('src/authz/platform.fga', 'utf8');
    const [model, json] = [await readModel(text), await parseSyntax(text)];
    const random = createRandom();
    let held = 0;
    for (let world = 0; world < WORLDS; world++) {
      const { graph, tuples, users, robots, objects } = randomOrganization(model, random);
      for (const user of [...users, ...robots]) {
        const oracle = new Oracle(json, tuples, user, objects, () => 'yes');
        for (const object of objects) {
          const relations = model.typeIndex.get(object.split(':')[0] ?? '')?.relations ?? [];
          const expected = relations
            .filter(({ name }) => oracle.answer(object, name) === 'yes')
            .map(({ name }) => name);
          assert.deepEqual(allowed(graph, user, object), expected, `${user} on ${object} in world ${world}`);
          held += expected.length;
        }
      }
    }
    assert.ok(held > WORLDS * 50, `only ${held} were held`);
  });
});
