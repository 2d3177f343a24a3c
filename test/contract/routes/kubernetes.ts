import assert from 'node:assert/strict';
import type { Entry } from '../../../bench/requests/entry.ts';
import type { TestServer } from '../../support/server/server.ts';
import { CERTIFICATE, review, sar } from '../../support/services/kubernetes.ts';
import { makeRobot } from '../../support/world/robots.ts';
import { rowOfOrganization } from './parts.ts';
import { routes } from './route.ts';

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

const nothing: Entry = { as: 'GET /api/v1/version', because: 'answers without reading a body' };

/** After almost all others, because the examples govern a cluster of the demo world. */
export const KUBERNETES = routes({
  'GET /.well-known/openid-configuration': {
    example: ({ id, created }) => ({
      before: async (_browser, atrium) => {
        created.reviewer = await govern(atrium, id.prod);
      },
    }),
    cost: nothing,
  },
  'POST /api/v1/clusters/:id/kube-token': {
    names: 'id:cluster',
    again: 'stores nothing: another token for ten minutes changes nothing',
    example: ({ id }) => ({
      as: 'ann',
      path: { id: id.prod },
      note: ({ body }, created) => {
        created.clusterToken = body.token;
      },
    }),
    cost: rowOfOrganization,
  },
  'POST /api/v1/clusters/:id/token-review': {
    body: {},
    names: 'id:cluster .apiVersion .kind .spec.token .spec.audiences[]',
    again: 'only reads',
    example: ({ id, created: { reviewer, clusterToken } }) => ({
      token: reviewer,
      path: { id: id.prod },
      body: review({ token: clusterToken }),
    }),
    cost: rowOfOrganization,
  },
  'POST /api/v1/clusters/:id/access-review': {
    body: {},
    names:
      'id:cluster .apiVersion .kind .spec.user .spec.uid .spec.extra .spec.resourceAttributes .spec.nonResourceAttributes',
    again: 'only reads',
    example: ({ id, created: { reviewer } }) => ({
      token: reviewer,
      path: { id: id.prod },
      body: sar({ user: 'dan', resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'shop' } }),
    }),
    cost: rowOfOrganization,
  },
  'GET /api/v1/clusters/:id/reviews': {
    names: 'id:cluster',
    example: ({ id }) => ({ as: 'ann', path: { id: id.prod } }),
    cost: rowOfOrganization,
  },
  'GET /api/v1/clusters/:id/kubeconfig': {
    names: 'id:cluster',
    example: ({ id }) => ({ as: 'ann', path: { id: id.prod } }),
    cost: rowOfOrganization,
  },
  'GET /api/v1/clusters/:id/bindings': {
    names: 'id:cluster',
    example: ({ id, created: { reviewer } }) => ({
      token: reviewer,
      path: { id: id.prod },
      before: async (_browser, atrium) => {
        await atrium.as('ann')('PATCH', `/clusters/${id.prod}`, { kubernetes: { auth: 'agent' } });
      },
    }),
    cost: rowOfOrganization,
  },
});
