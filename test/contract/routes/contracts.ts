import { mostKeys } from '../../../bench/requests/bodies.ts';
import { getAs, noteId, ORG, PAGE, rowOfOrganization, writeOfOrganization } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const CONTRACTS = routes({
  'GET /api/v1/orgs/:org/contracts': {
    names: 'org PAGE ?name:contractName',
    example: () => ({ as: 'ann', path: ORG, query: PAGE }),
    cost: getAs('the last page', '/orgs/acme/contracts?limit=50&page=19'),
  },
  'POST /api/v1/orgs/:org/contracts': {
    body: { name: '' },
    names: 'org CONTRACT',
    again: HAS_KEY,
    example: () => ({
      as: 'root',
      path: ORG,
      body: {
        name: 'Support 2026',
        product: 'support',
        features: ['24x7'],
        start: '2026-01-01T00:00:00Z',
        end: '2099-01-01T00:00:00Z',
        quota: { nodes: 100 },
      },
      note: noteId('contract'),
    }),
    cost: {
      what: 'with a hundred features and clusters',
      shot: (_world, round) => ({
        as: 'ann',
        path: '/orgs/acme/contracts',
        body: mostKeys({ name: `late${round}`, features: Array.from({ length: 100 }, (_, at) => `feature ${at}`) }),
      }),
    },
  },
  'GET /api/v1/contracts/:id': {
    names: 'id:contract',
    example: ({ created: { contract = 0 } }) => ({ as: 'ann', path: { id: contract } }),
    cost: rowOfOrganization,
  },
  'PATCH /api/v1/contracts/:id': {
    body: {},
    names: 'id:contract CONTRACT .revoked',
    example: ({ created: { contract = 0 } }) => ({
      as: 'root',
      path: { id: contract },
      body: { quota: { nodes: 200 } },
    }),
    cost: { as: 'POST /api/v1/orgs/:org/contracts', because: 'reads the same body' },
  },
  'DELETE /api/v1/contracts/:id': {
    names: 'id:contract',
    example: ({ created: { contract = 0 } }) => ({ as: 'root', path: { id: contract } }),
    cost: writeOfOrganization,
  },
});
