import { getAs, ORG, PAGE } from './parts.ts';
import { routes } from './route.ts';

export const ORGANIZATIONS = routes({
  'GET /api/v1/orgs': {
    names: 'PAGE',
    example: () => ({ as: 'ann', query: PAGE }),
    cost: getAs('a page of all, as an administrator', '/orgs?limit=50&page=100', 'root'),
  },
  'GET /api/v1/orgs/:org': {
    names: 'org',
    example: () => ({ as: 'ann', path: ORG }),
    cost: [
      { what: 'first request to the organization', isFirst: true, shot: () => ({ as: 'ann', path: '/orgs/acme' }) },
      getAs('again', '/orgs/acme'),
    ],
  },
  'GET /api/v1/orgs/:org/overview': {
    names: 'org',
    example: () => ({ as: 'ann', path: ORG }),
    cost: getAs('all counts', '/orgs/acme/overview'),
  },
});
