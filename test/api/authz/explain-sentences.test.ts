import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** Who asks about whom, the object, the relation, and the sentence that a person would say. */
const SENTENCES: readonly (readonly [who: string, user: string, object: string, relation: string, sentence: string])[] =
  [
    [
      'ann',
      'ann',
      'prod',
      'can_connect',
      'ann can connect to prod because ann is in the team Owners, and owners of acme can connect to its clusters',
    ],
    [
      'ann',
      'bob',
      'prod',
      'can_edit',
      'bob can edit prod because bob is in the team Editors, and editors of acme can edit its clusters',
    ],
    [
      'ann',
      'dan',
      'prod',
      'can_connect',
      'dan can connect to prod because dan is in the team operators, the team operators has the role cluster-operator, and holders of that role can connect to the clusters of acme',
    ],
    [
      'ann',
      'root',
      'prod',
      'can_remove',
      'root can remove prod because root is a site administrator, and site administrators can remove the clusters of acme',
    ],
    ['ann', 'ann', 'laptop', 'can_view', 'ann can view laptop because ann owns laptop'],
    [
      'ann',
      'ann',
      'acme',
      'can_delete',
      'ann can delete acme because ann is in the team Owners, and owners of acme can delete it',
    ],
    [
      'ann',
      'root',
      'acme',
      'can_delete',
      'root can delete acme because root is a site administrator, and site administrators can delete acme',
    ],
    [
      'ann',
      'dan',
      'acme',
      'can_leave',
      'dan can leave acme because dan is in the team operators, and members of acme can leave it',
    ],
    [
      'ann',
      'bob',
      'Viewers',
      'can_add_member',
      'bob can add members to Viewers because bob is in the team Editors, and editors of acme can add members to Viewers',
    ],
    [
      'ann',
      'ann',
      'Owners',
      'can_edit',
      'ann can edit Owners because ann is in the team Owners, and owners of acme can edit Owners',
    ],
    ['ann', 'cat', 'prod', 'can_edit', 'cat cannot edit prod: cat would have to be a member of the team Editors'],
    ['ann', 'ann', 'acme', 'can_leave', 'ann cannot leave acme: the organization acme would need another owner'],
    [
      'ann',
      'ann',
      'Owners',
      'can_remove_member',
      'ann cannot remove members from Owners: the team Owners would need another member',
    ],
    ['ann', 'ann', 'ann', 'can_edit', 'ann can edit ann because ann is this user'],
    ['dan', 'dan', 'prod', 'can_edit', 'dan cannot edit prod: dan would have to be a member of team:2'],
    ['eve', 'eve', 'prod', 'can_edit', 'eve cannot edit cluster:1'],
  ];

describe('Sentences of explanations', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  for (const [who, user, object, relation, sentence] of SENTENCES) {
    it(`${who} is told: ${sentence}`, async () => {
      const { world } = atrium;
      const { clusters, orgs, users } = world;
      const path =
        clusters[object] !== undefined
          ? `cluster/${clusters[object].id}`
          : orgs[object] !== undefined
            ? `organization/${orgs[object].id}`
            : orgs.acme?.teams[object] !== undefined
              ? `team/${orgs.acme.teams[object]}`
              : `user/${users[object]?.id}`;
      const org = who === 'eve' ? 'globex' : 'acme';
      const query = `org=${org}&relation=${relation}&user=${user}`;
      const { status, body } = await atrium.as(who)('GET', `/authz/objects/${path}/explain?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.sentence, sentence);
      assert.equal(body.allowed, !sentence.includes(' cannot '));
    });
  }

  it('A name with special characters stands for itself in a sentence', async () => {
    const name = "$& 100 % $' $1";
    const made = await atrium.as('ann')('POST', '/orgs/acme/contracts', { name });
    assert.equal(made.status, 201, made.text);
    const path = `/authz/objects/contract/${made.body.id}/explain?org=acme&relation=can_edit&user=cat`;
    const { body } = await atrium.as('ann')('GET', path);
    assert.equal(body.sentence, `cat cannot edit ${name}: cat would have to be a member of the team Editors`);
  });

  it('The steps of an explanation name the rule and the subject that they follow from', async () => {
    const path = `/authz/objects/cluster/${atrium.world.clusters.prod?.id}/explain?org=acme&relation=can_connect`;
    const { body } = await atrium.as('dan')('GET', path);
    const teams = atrium.world.orgs.acme?.teams;
    const roles = atrium.world.orgs.acme?.roles;
    assert.deepEqual(
      body.steps.map((step: { rule: string; subject: string; text: string }) => [step.rule, step.subject, step.text]),
      [
        [
          'parent',
          `organization:${atrium.world.orgs.acme?.id}`,
          'dan can connect to prod because dan can connect to the clusters of acme',
        ],
        [
          'userset',
          `role:${roles?.['cluster-operator']}#assignee`,
          'assignees of the role cluster-operator can connect to the clusters of acme',
        ],
        [
          'userset',
          `team:${teams?.operators}#member`,
          'members of the team operators are assignees of cluster-operator',
        ],
        ['direct', `user:${atrium.world.users.dan?.id}`, 'dan is in the team operators'],
      ],
    );
  });
});
