import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createJudge } from '../../src/authz/judge.ts';
import { createRobotEscalationGuard, type RobotEscalationGuard } from '../../src/authz/robot-escalation.ts';
import { createGraph } from '../../src/rebac/graph.ts';
import { readModel } from '../../src/rebac/model.ts';

/** Robots can hold relations on the organization and on single objects here. */
const MODEL = `model
  schema 1.1
type user
type organization
  relations
    define member: [user]
    define robot: [robot_ac]
    define can_view: member or robot
    define can_edit_roles: [user, robot_ac]
    define can_edit_clusters: [user, robot_ac]
type team
  relations
    define can_view: [user, robot_ac]
type cluster
  relations
    define organization: [organization]
    define can_view: [user, robot_ac] or can_edit
    define can_edit: [user, robot_ac] or can_edit_clusters from organization
type contract
  relations
    define can_view: [user, robot_ac]
type robot_ac
  relations
    define can_view: [user, robot_ac]
type token
  relations
    define can_view: [user, robot_ac]
`;
const ACME = 'organization:1';
const [ANN, BOB, CAT] = [1n, 2n, 3n];
const [PLAIN, EDITOR, SINGLE, KEEPER] = [1n, 2n, 3n, 4n];

describe('What a token of a robot gives away', () => {
  let reject: RobotEscalationGuard;
  before(async () => {
    const model = await readModel(MODEL);
    const users = [ANN, BOB, CAT].map((id) => ({ user: `user:${id}`, relation: 'member', object: ACME }));
    const robots = [PLAIN, EDITOR, SINGLE, KEEPER].map((id) => ({
      user: `robot_ac:${id}`,
      relation: 'robot',
      object: ACME,
    }));
    const clusters = [7, 8].map((id) => ({ user: ACME, relation: 'organization', object: `cluster:${id}` }));
    const graph = createGraph(model, [
      ...users,
      ...robots,
      ...clusters,
      { user: `user:${ANN}`, relation: 'can_edit_roles', object: ACME },
      { user: `user:${ANN}`, relation: 'can_edit_clusters', object: ACME },
      { user: `user:${BOB}`, relation: 'can_edit', object: 'cluster:7' },
      { user: `user:${CAT}`, relation: 'can_view', object: 'cluster:7' },
      { user: `robot_ac:${EDITOR}`, relation: 'can_edit_roles', object: ACME },
      { user: `robot_ac:${SINGLE}`, relation: 'can_edit', object: 'cluster:7' },
      { user: `robot_ac:${KEEPER}`, relation: 'can_edit_clusters', object: ACME },
    ]);
    const graphs = {
      of: async () => graph,
      now: () => graph,
      together: async <T>(_one: bigint, _other: bigint, ask: (first: typeof graph, second: typeof graph) => T) =>
        ask(graph, graph),
      togetherNow: () => [graph, graph] as const,
    };
    reject = createRobotEscalationGuard(createJudge(graphs), model);
  });
  const outcome = (caller: bigint, robot: bigint) =>
    reject(caller, 1n, robot).then(
      () => 'given',
      (error) => error.detail.reason,
    );

  it('A robot that only sees its organization can get a token from everybody', async () => {
    for (const caller of [ANN, BOB, CAT]) assert.equal(await outcome(caller, PLAIN), 'given');
  });

  it('A caller must hold what the robot holds on the organization', async () => {
    assert.equal(await outcome(ANN, EDITOR), 'given');
    for (const caller of [BOB, CAT]) assert.equal(await outcome(caller, EDITOR), 'escalation');
    assert.equal(await outcome(BOB, KEEPER), 'escalation', 'holding it on one cluster is not enough');
  });

  it('A caller must hold what the robot holds on a single object, there', async () => {
    assert.equal(await outcome(ANN, SINGLE), 'given', 'through the organization');
    assert.equal(await outcome(BOB, SINGLE), 'given', 'on the same cluster');
    assert.equal(await outcome(CAT, SINGLE), 'escalation', 'to view it is less');
    await assert.rejects(reject(CAT, 1n, SINGLE), /^AppError: this robot holds .*: can_edit of a cluster$/);
  });

  it('A robot can replace its own tokens, and gets none of a robot that holds more', async () => {
    for (const robot of [PLAIN, EDITOR, SINGLE]) assert.equal(await outcome(-robot, robot), 'given');
    assert.equal(await outcome(-PLAIN, EDITOR), 'escalation');
    assert.equal(await outcome(-KEEPER, SINGLE), 'given');
    assert.equal(await outcome(-2n, SINGLE), 'escalation', 'robot 2 is not user 2');
  });
});
