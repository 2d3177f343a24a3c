import { getAs } from './parts.ts';
import { routes } from './route.ts';

export const OWN_DATA = routes({
  'GET /api/v1/user/audit': {
    names: 'AUDIT ?cursor ?limit',
    example: () => ({ as: 'ann', query: { limit: 1 } }),
    cost: getAs('the largest page', '/user/audit?limit=200'),
  },
  'GET /api/v1/user/export': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: {
      as: 'GET /api/v1/orgs/:org/audit/export',
      because: 'streams the same entries, and lists that are measured by themselves',
    },
  },
  'GET /api/v1/user/audit/export': {
    names: 'AUDIT ?format:text',
    example: () => ({ as: 'ann', query: { action: 'credential.' } }),
    cost: { as: 'GET /api/v1/orgs/:org/audit/export', because: 'reads another chain' },
  },
});
