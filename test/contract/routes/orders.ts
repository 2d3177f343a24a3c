import { largestOrder } from '../../../bench/requests/bodies.ts';
import { getAs, PAGE, writeOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const ORDER = {
  spec: {
    items: [
      {
        chart: {
          name: 'podinfo',
          sourceRef: { name: 'podinfo', url: 'https://charts.example.com/podinfo' },
          version: '6.7.0',
          releaseName: 'podinfo',
          namespace: 'demo',
          values: { replicaCount: 2 },
          valuesPatch: [{ op: 'add', path: '/ui', value: { color: '#34577c' } }],
        },
      },
    ],
  },
};

export const ORDERS = routes({
  'POST /api/v1/user/deploy/orders': {
    body: { spec: { items: [] } },
    names: 'CHART',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      body: ORDER,
      note: ({ body }, created) => {
        created.order = body.metadata.uid;
      },
    }),
    cost: {
      what: 'the largest order',
      shot: () => ({ as: 'bob', path: '/user/deploy/orders', body: largestOrder() }),
    },
  },
  'GET /api/v1/user/deploy/orders': {
    names: 'PAGE',
    example: () => ({ as: 'ann', query: PAGE }),
    cost: getAs('the last page of 1,000', '/user/deploy/orders?limit=50&page=19'),
  },
  'GET /api/v1/user/deploy/orders/:id/render/manifest': {
    names: 'id:order',
    example: ({ created: { order = '' } }) => ({ as: 'ann', path: { id: order } }),
    cost: getAs('the largest order', ({ order }) => `/user/deploy/orders/${order}/render/manifest`),
  },
  'GET /api/v1/user/deploy/orders/:id/render/resources': {
    names: 'id:order ?format ?skipCRDs',
    example: ({ created: { order = '' } }) => ({ as: 'ann', path: { id: order }, query: { format: 'json' } }),
    cost: [
      getAs('the largest order as JSON', ({ order }) => `/user/deploy/orders/${order}/render/resources`),
      getAs('the largest order as YAML', ({ order }) => `/user/deploy/orders/${order}/render/resources?format=yaml`),
    ],
  },
  'DELETE /api/v1/user/deploy/orders/:id': {
    names: 'id:order',
    example: ({ created: { order = '' } }) => ({ as: 'ann', path: { id: order } }),
    cost: writeOfUser,
  },
});
