import { randomUUID } from 'node:crypto';
import { mostKeys } from '../../../bench/requests/bodies.ts';
import { getAs, noteId, ORG, PAGE, rowOfOrganization, rowOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const HEARTBEAT = { phase: 'Active', nodeCount: 3, orchestratorVersion: 'v1.33.4' };

export const CLUSTERS = routes({
  'GET /api/v1/user/clusters': {
    names: '?all CLUSTERS PAGE',
    example: () => ({ as: 'ann', query: { all: true, ...PAGE } }),
    cost: [
      getAs('20,000 of a user', '/user/clusters'),
      getAs('all that 10,000 organizations have', '/user/clusters?all=true', 'dan'),
      getAs('20,000 of a user and as many of an organization', '/user/clusters?all=true'),
    ],
  },
  'GET /api/v1/orgs/:org/clusters': {
    names: 'org CLUSTERS PAGE',
    example: () => ({ as: 'ann', path: ORG, query: PAGE }),
    cost: [
      getAs('the last page, by heartbeat', '/orgs/acme/clusters?limit=200&page=99&sort=heartbeat'),
      getAs('searched', '/orgs/acme/clusters?limit=200&q=ster1'),
      getAs('searched without success', '/orgs/acme/clusters?limit=200&q=nowhere'),
    ],
  },
  'POST /api/v1/orgs/:org/clusters': {
    body: { name: '', uid: '' },
    names: 'org CLUSTER',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      path: ORG,
      body: {
        name: 'edge',
        uid: '5f2c1e3a-9d4b-4c8e-8a67-1b2d3c4e5f60',
        displayName: 'Edge site in Bern',
        provider: 'Generic',
        location: 'eu-central',
      },
      note: noteId('cluster'),
    }),
    cost: {
      what: 'one more among 20,000',
      shot: (_world, round) => ({
        as: 'ann',
        path: '/orgs/acme/clusters',
        body: mostKeys({ name: `late${round}`, uid: randomUUID() }),
      }),
    },
  },
  'POST /api/v1/user/clusters': {
    body: { name: '', uid: '' },
    names: 'CLUSTER',
    again: HAS_KEY,
    example: () => ({
      as: 'bob',
      body: { name: 'laptop', uid: '6a3d2f4b-0e5c-4d9f-9b78-2c3e4d5f6a71', provider: 'Generic' },
    }),
    cost: {
      what: 'one more among 20,000',
      shot: (_world, round) => ({
        as: 'ann',
        path: '/user/clusters',
        body: mostKeys({ name: `late${round}`, uid: randomUUID() }),
      }),
    },
  },
  'GET /api/v1/clusters/:id': {
    names: 'id:cluster',
    example: ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster } }),
    cost: rowOfOrganization,
  },
  'PATCH /api/v1/clusters/:id': {
    body: {},
    names: 'id:cluster CLUSTER',
    example: ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster }, body: { nodeCount: 3 } }),
    cost: {
      what: 'all fields',
      shot: ({ cluster }, round) => ({
        as: 'ann',
        path: `/clusters/${cluster}`,
        body: mostKeys({ displayName: `changed ${round}`, endpoint: `https://${'x'.repeat(60)}.example.com` }),
      }),
    },
  },
  'POST /api/v1/clusters/:id/heartbeat': {
    body: {},
    names: 'id:cluster .phase .reason .message .nodeCount .orchestratorVersion .endpoint .caBundle',
    again: 'overwrites the state of a cluster; the next heartbeat does so again',
    example: ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster }, body: HEARTBEAT }),
    cost: {
      what: 'a body of 1 MiB',
      shot: ({ cluster }) => ({
        as: 'ann',
        path: `/clusters/${cluster}/heartbeat`,
        body: mostKeys({ phase: 'Active' }),
      }),
    },
  },
  'GET /api/v1/clustersv2/:owner': {
    names: 'owner:organization PAGE ?provider',
    example: () => ({ as: 'ann', path: { owner: 'acme' }, query: PAGE }),
    cost: [getAs('20,000 of a user', '/clustersv2/ann'), getAs('20,000 of an organization', '/clustersv2/acme')],
  },
  'GET /api/v1/clustersv2/:owner/:cluster': {
    names: 'owner:organization cluster:clusterName',
    example: () => ({ as: 'ann', path: { owner: 'acme', cluster: 'edge' } }),
    cost: rowOfUser,
  },
  'GET /api/v1/clustersv2/:owner/:cluster/status': {
    names: 'owner:organization cluster:clusterName',
    example: () => ({ as: 'ann', path: { owner: 'acme', cluster: 'edge' } }),
    cost: rowOfUser,
  },
  'GET /api/v1/clustersv2/:owner/:cluster/exist': {
    names: 'owner:organization cluster:clusterName',
    example: () => ({ as: 'ann', path: { owner: 'acme', cluster: 'edge' } }),
    cost: rowOfUser,
  },
  'POST /api/v1/clustersv2/:owner/check': {
    body: {},
    names: 'owner:organization .basicInfo.name:clusterName .basicInfo.clusterUID:uid',
    again: 'only reads',
    example: () => ({ as: 'ann', path: { owner: 'acme' }, body: { basicInfo: { name: 'edge' } } }),
    cost: rowOfUser,
  },
  'DELETE /api/v1/clusters/:id': {
    names: 'id:cluster',
    example: ({ created: { cluster = 0 } }) => ({ as: 'ann', path: { id: cluster } }),
    cost: {
      what: 'one of 20,000',
      shot: async (world, round) => {
        const [found] = await world.run<{ id: bigint }>(`select id from cluster where owner_id = $1 and name = $2`, [
          world.acme,
          `cluster5${round}`,
        ]);
        return { as: 'ann', path: `/clusters/${found?.id}` };
      },
    },
  },
});
