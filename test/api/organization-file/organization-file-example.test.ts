import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parse } from 'yaml';
import { openTestServer } from '../../support/server/server.ts';

const YAML = { 'Content-Type': 'application/yaml' };
/** That of the specification, with later ends. */
const EXAMPLE = `apiVersion: atrium/v1
kind: Organization
organization: acme

teams:
  prune: true                       # teams and members that are not here go (never Owners, Editors, Viewers)
  items:
    - name: Owners
      members: [ann]
    - name: operators
      description: On call for clusters
      permission: none              # none, read, write, admin
      members:
        - dan
        - user: bob
          expires_at: "2030-12-24T18:00:00Z"
    - name: platform
      was: infra                    # renamed: keeps its members and assignments
      members: [cat]

roles:                              # the role file of today
  - name: cluster-operator
    description: Sees clusters and connects to them.
    permissions:
      cluster_mgmt: [view clusters, connect to clusters]
    teams:
      - operators
      - { name: Editors, expires_at: "2030-12-01T00:00:00Z" }
  - name: deployer
    permissions:
      cluster_mgmt: [view clusters, reconfigure clusters]

assignments:                        # beyond "teams:" of a role; identified by role, to, on
  prune: true
  items:
    - role: cluster-operator
      to: { user: cat }             # user, team or robot
      on: { cluster: prod }         # organization (default), cluster_set, cluster, contract, robot, team
      namespaces: [web, "shop-*"]
      expires_at: "2030-12-01T18:00:00Z"
      reason: on call
    - role: deployer
      to: { robot: deploy }
      on: { cluster_set: staging }

robots:
  - name: deploy
    description: GitHub Actions
    trust_rules:
      - name: main branch
        issuer: https://token.actions.githubusercontent.com
        audience: https://atrium.example.com
        claims: { repository_id: "123", ref: refs/heads/main }
        scopes: ["write:organization"]
        lifetime: PT1H

guardrails:
  - name: prod is closed
    never: { users: [eve], relation: can_connect, object: { type: cluster, name: prod } }

request_rules:                      # ordered, always whole
  - match: { cluster_sets: [staging] }
    longest: PT8H
    approvals: 0
    allow: true

webhooks:
  - name: siem
    url: https://siem.example.com/in
    types: ["*"]
    format: cloudevents
    active: true                    # the secret is never here

token_policy: { max_days: 90, expiry_required: true }
second_factor: { required: true }
`;

it('The file of the specification is planned and applied, and is then as exported', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const ann = atrium.as('ann');
  const planned = await ann('POST', '/orgs/acme/plan', EXAMPLE, YAML);
  assert.equal(planned.status, 200, planned.text);
  const refused = planned.body.refusals.map(({ section, status }: Record<string, unknown>) => [section, status]);
  assert.deepEqual(refused, [['second_factor', 409]], 'ann has no second factor herself');
  const file = EXAMPLE.replace('second_factor: { required: true }', 'second_factor: { required: false }');
  const applied = await ann('PUT', '/orgs/acme/file', file, YAML);
  assert.equal(applied.status, 200, applied.text);
  const again = await ann('PUT', '/orgs/acme/file', file, YAML);
  assert.deepEqual([again.status, again.body.changes], [200, []], again.text);
  const [exported, wanted] = [(await ann('GET', '/orgs/acme/file?format=json')).body, parse(file)];
  assert.deepEqual(exported.webhooks, wanted.webhooks);
  assert.deepEqual(exported.token_policy, wanted.token_policy);
  assert.deepEqual(
    exported.robots.find(({ name }: { name: string }) => name === 'deploy'),
    wanted.robots[0],
  );
  assert.deepEqual(
    exported.request_rules.map(({ name }: { name: string }) => name),
    ['rule 1'],
    'a rule without a name is called by its place',
  );
});
