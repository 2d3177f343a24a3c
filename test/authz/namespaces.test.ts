import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check, createGraph, readModelJson } from '../../packages/rebac/src/rebac.ts';
import {
  assignmentsIn,
  coversNamespace,
  everywhere,
  holdsIn,
  IN_NAMESPACES,
} from '../../src/authz/places/namespaces.ts';
import { PLATFORM_MODEL } from '../../src/authz/platform.gen.ts';
import { assignmentsOf, assignmentTuplesOf } from '../../src/changes/derived-tuples.ts';
import { createRandom, SEED } from '../support/checks/random.ts';

const PERMISSIONS = ['view_clusters', 'edit_clusters', 'connect_clusters', 'view_cluster_config', 'remove_clusters'];
const NAMESPACES = [undefined, ['web'], ['shop-*'], ['web', 'data'], ['shop-eu', 'd*']];
const USERS = ['user:1', 'user:2', 'user:3', 'robot_ac:1'];
const WORLDS = 60;

describe('Namespaces', () => {
  it('A name is covered by itself and by its prefixes, a prefix by shorter ones', () => {
    const rows: [pattern: string, wanted: string, isCovered: boolean][] = [
      ['web', 'web', true],
      ['web', 'webs', false],
      ['web', 'web*', false],
      ['web*', 'web', true],
      ['team-*', 'team-a', true],
      ['team-*', 'team-a*', true],
      ['team-*', 'team-*', true],
      ['team-*', 'team', false],
      ['team-*', 'tea*', false],
      ['team-a*', 'team-*', false],
    ];
    for (const [pattern, wanted, isCovered] of rows) {
      assert.equal(coversNamespace(pattern, wanted), isCovered, `${pattern} ${wanted}`);
    }
  });

  it(`Answers in ${WORLDS} random worlds are those of the model with contextual tuples, with seed ${SEED}`, async () => {
    const model = await readModelJson(PLATFORM_MODEL);
    const random = createRandom(SEED);
    let [yes, no] = [0, 0];
    for (let world = 0; world < WORLDS; world++) {
      const graph = createGraph(model, tuples());
      for (const cluster of ['cluster:1', 'cluster:2']) {
        for (const namespace of ['web', 'shop-eu', 'shop-us', 'data', 'shop']) {
          const contextualTuples = assignmentsIn(graph, cluster, namespace).map((user) => ({
            ...{ user, relation: 'namespace_assignment', object: cluster },
          }));
          for (const user of USERS) {
            for (const relation of [...IN_NAMESPACES.keys(), 'can_remove', 'can_view_orchestratorconfig']) {
              const expected = check(graph, {
                user,
                relation: everywhere(relation),
                object: cluster,
                contextualTuples,
              });
              assert.equal(holdsIn(graph, { user, relation, object: cluster }, namespace), expected);
              if (expected) yes++;
              else no++;
            }
            for (const [relation, { somewhere }] of IN_NAMESPACES) {
              const question = { user, relation, object: cluster };
              const isSomewhere = check(graph, { ...question, relation: somewhere }) || check(graph, question);
              assert.ok(isSomewhere || !holdsIn(graph, question, namespace), `${relation} of ${user} somewhere`);
            }
          }
        }
      }
    }
    assert.ok(yes > no / 20 && no > yes / 20, `${yes} yes, ${no} no`);

    function tuples() {
      const roles = [1, 2, 3].flatMap((id) =>
        assignmentsOf(
          '9',
          String(id),
          random.some(PERMISSIONS, 0.4).map((name) => `can_${name}`),
          [],
        ),
      );
      const assignments = Array.from({ length: 5 }, (_, id) =>
        assignmentTuplesOf({
          id: String(id),
          roleId: String(random.pick([1, 2, 3])),
          to: random.pick([...USERS, 'team:4']),
          on: random.pick(['cluster:1', 'cluster:2', 'cluster_set:7']),
          isOnOwners: false,
          namespaces: NAMESPACES[random.below(NAMESPACES.length)],
        }),
      );
      return [
        ...['user:*', 'robot_ac:*'].map((user) => ({ user, relation: 'anyone', object: 'platform:atrium' })),
        { user: 'user:3', relation: 'member', object: 'team:4' },
        { user: 'organization:9', relation: 'organization', object: 'cluster:1' },
        { user: 'organization:9', relation: 'organization', object: 'cluster:2' },
        { user: 'cluster_set:7', relation: 'set', object: 'cluster:1' },
        ...roles,
        ...assignments.flat(),
      ];
    }
  });
});
