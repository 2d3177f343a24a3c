import assert from 'node:assert/strict';
import type { TestServer } from '../support/server/server.ts';
import { CERTIFICATE, review, sar } from '../support/services/kubernetes.ts';
import { makeRobot } from '../support/world/robots.ts';
import type { NamedRequest } from './example-requests.ts';

/** The API server of prod, and its robot. */
async function govern(atrium: TestServer, prod: number): Promise<string> {
  const call = atrium.as('ann');
  const body = { endpoint: 'https://prod.example.com:6443', caBundle: CERTIFICATE, kubernetes: { auth: 'webhook' } };
  assert.equal((await call('PATCH', `/clusters/${prod}`, body)).status, 200);
  const permissions = [{ namespace: 'cluster_mgmt', action: 'review requests' }];
  const role = await call('POST', '/authz/roles?org=acme', { name: 'cluster-reviewer', permissions });
  const limits = { objects: [{ type: 'cluster', id: prod }] };
  const robot = await makeRobot(atrium, 'kube-prod', {
    scopes: ['read:authz'],
    limits,
    expires_at: '2030-01-01T00:00:00Z',
  });
  const made = await call('POST', '/authz/assignments?org=acme', {
    role: { id: role.body.id },
    to: { type: 'robot_ac', id: robot.id },
    on: { type: 'cluster', id: prod },
  });
  assert.equal(made.status, 201, made.text);
  return robot.text;
}

/** After all others, because they govern a cluster of the demo world. */
export const KUBERNETES_REQUESTS: readonly NamedRequest[] = [
  [
    'getOpenIdConfiguration',
    ({ id, created }) => ({
      before: async (_browser, atrium) => {
        created.reviewer = await govern(atrium, id.prod);
      },
    }),
  ],
  [
    'createClusterToken',
    ({ id }) => ({
      as: 'ann',
      path: { id: id.prod },
      note: ({ body }, created) => {
        created.clusterToken = body.token;
      },
    }),
  ],
  [
    'checkClusterToken',
    ({ id, created: { reviewer, clusterToken } }) => ({
      token: reviewer,
      path: { id: id.prod },
      body: review({ token: clusterToken }),
    }),
  ],
  [
    'checkClusterAccess',
    ({ id, created: { reviewer } }) => ({
      token: reviewer,
      path: { id: id.prod },
      body: sar({ user: 'dan', resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'shop' } }),
    }),
  ],
  ['getClusterReviews', ({ id }) => ({ as: 'ann', path: { id: id.prod } })],
  ['getClusterKubeconfig', ({ id }) => ({ as: 'ann', path: { id: id.prod } })],
  [
    'listClusterBindings',
    ({ id, created: { reviewer } }) => ({
      token: reviewer,
      path: { id: id.prod },
      before: async (_browser, atrium) => {
        await atrium.as('ann')('PATCH', `/clusters/${id.prod}`, { kubernetes: { auth: 'agent' } });
      },
    }),
  ],
];
