import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { allowed, createGraph, type Graph, type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { createObjectAnswers, createUserAnswers } from '../../src/authz/alike-answers.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { HOME, randomOrganization } from '../support/world/random-organization.ts';

const WORLDS = 40;
const SHOWN = { prefix: 'can_' };

describe('Answers about users and objects that are alike', () => {
  let model: Model;
  before(async () => {
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
  });

  it(`They are those of the engine, in ${WORLDS} random organizations, with seed ${SEED}`, () => {
    const random = createRandom();
    for (let world = 0; world < WORLDS; world++) {
      const { graph, users, robots, objects } = randomOrganization(model, random);
      for (const user of [...users, ...robots]) {
        const answer = createObjectAnswers(user, (on, object) => allowed(on, user, object, SHOWN));
        for (const object of [...objects, 'cluster:999']) {
          assert.deepEqual(answer(graph, object), allowed(graph, user, object, SHOWN), `${user} on ${object}`);
        }
      }
      for (const object of objects) {
        const answer = createUserAnswers((on, user) => allowed(on, user, object, SHOWN));
        for (const user of [...users, 'user:999']) {
          assert.deepEqual(answer(graph, user), allowed(graph, user, object, SHOWN), `${user} on ${object}`);
        }
      }
    }
  });

  it('An object that an assignment is on is asked about for itself', () => {
    const graph = createGraph(model, [
      ...[1, 2].flatMap((id) => [
        { user: HOME, relation: 'organization', object: `cluster:${id}` },
        { user: `assignment:${id}`, relation: 'assignment', object: `cluster:${id}` },
        { user: 'role:1', relation: 'role', object: `assignment:${id}` },
        { user: `user:${id}`, relation: 'assignee', object: `assignment:${id}` },
      ]),
      { user: 'platform:atrium', relation: 'allows_view_clusters', object: 'role:1' },
      { user: 'user:*', relation: 'anyone', object: 'platform:atrium' },
    ]);
    const answer = createObjectAnswers('user:2', (on, object) => allowed(on, 'user:2', object, SHOWN));
    assert.deepEqual([answer(graph, 'cluster:1'), answer(graph, 'cluster:2')], [[], ['can_view']]);
  });

  it('Alike ones are asked about once, until the graph changes', () => {
    const numbers = Array.from({ length: 50 }, (_, at) => at + 1);
    const graph = createGraph(model, [
      { user: 'team:1#member', relation: 'viewer', object: HOME },
      ...numbers.map((id) => ({ user: HOME, relation: 'organization', object: `cluster:${id}` })),
      ...numbers.map((id) => ({ user: `user:${id}`, relation: 'member', object: 'team:1' })),
    ]);
    let asked = 0;
    const ask = (on: Graph, user: string, object: string) => {
      asked++;
      return allowed(on, user, object, SHOWN);
    };
    const onClusters = createObjectAnswers('user:1', (on, object) => ask(on, 'user:1', object));
    const ofUsers = createUserAnswers((on, user) => ask(on, user, 'cluster:1'));
    const askAll = () => numbers.map((id) => [onClusters(graph, `cluster:${id}`), ofUsers(graph, `user:${id}`)]);
    assert.ok(
      askAll()
        .flat()
        .every((held) => held.includes('can_view')),
    );
    assert.equal(asked, 2);
    graph.replaceSource('team:1', []);
    askAll();
    assert.equal(asked, 4);
  });
});
