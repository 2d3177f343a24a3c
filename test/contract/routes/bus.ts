import { getAs } from './parts.ts';
import { routes } from './route.ts';

export const BUS = routes({
  'GET /api/v1/user/bus/credentials': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: getAs('of an owner of 20,000 clusters', '/user/bus/credentials'),
  },
  'GET /api/v1/user/nats/credentials': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: { as: 'GET /api/v1/user/bus/credentials', because: 'is its other name' },
  },
  'GET /api/v1/user/bus/admin_credentials': {
    names: '',
    example: () => ({ as: 'root' }),
    cost: getAs('of an administrator', '/user/bus/admin_credentials', 'root'),
  },
  'GET /api/v1/user/bus/user_credentials': {
    names: '?user',
    example: () => ({ as: 'root', query: { user: 'ann' } }),
    cost: {
      as: 'GET /api/v1/user/bus/credentials',
      because: 'issues the same credentials',
    },
  },
  'GET /api/v1/user/bus/cluster-resource-history': {
    names: '?cluster ?group ?resource ?rid ?since ?limit ?cursor',
    example: {
      because: 'it needs a message bus',
      parameters: { cluster: '00000000-0000-4000-8000-000000000001', resource: 'deployments', limit: 1 },
      response: {
        items: [
          {
            key: 'apps/deployments/web',
            values: [
              {
                resource: 'deployments',
                resourceID: 'web',
                licenseID: 'example-license',
                version: 'v3',
                timestamp: '2026-01-15T09:30:00Z',
              },
            ],
            lastSeen: '2026-01-15T09:30:00Z',
          },
        ],
      },
    },
    cost: {
      as: 'GET /api/v1/user/clusters',
      because: 'shows at most 1,000 small reports, which a message bus sends one by one',
    },
  },
});
