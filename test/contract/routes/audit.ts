import { getAs, ORG } from './parts.ts';
import { routes } from './route.ts';

export const AUDIT = routes({
  'GET /api/v1/orgs/:org/audit': {
    names: 'org AUDIT ?cursor ?limit',
    example: () => ({ as: 'ann', path: ORG, query: { action: 'cluster.', limit: 1 } }),
    cost: [
      getAs('the largest page', '/orgs/acme/audit?limit=200'),
      getAs('what never happened', '/orgs/acme/audit?limit=200&action=token.create'),
    ],
  },
  'GET /api/v1/orgs/:org/audit/actions': {
    names: 'org',
    example: () => ({ as: 'ann', path: ORG }),
    cost: getAs('counted in 100,000 entries', '/orgs/acme/audit/actions'),
  },
  'GET /api/v1/orgs/:org/audit/histogram': {
    names: 'org AUDIT',
    example: () => ({
      as: 'ann',
      path: ORG,
      query: { action: 'role.', since: '2026-01-12T00:00:00Z', until: '2026-01-19T00:00:00Z' },
    }),
    cost: [
      getAs('of 100,000 entries', '/orgs/acme/audit/histogram'),
      getAs('of one action', '/orgs/acme/audit/histogram?action=team.'),
    ],
  },
  'GET /api/v1/orgs/:org/audit/export': {
    names: 'org AUDIT ?format:text',
    example: () => ({ as: 'ann', path: ORG, query: { action: 'cluster.delete' } }),
    cost: getAs('100,000 entries', '/orgs/acme/audit/export'),
  },
  'GET /api/v1/orgs/:org/audit/verify': {
    names: 'org ?cursor ?from',
    example: () => ({ as: 'ann', path: ORG }),
    cost: getAs('100,000 entries', '/orgs/acme/audit/verify?from=beginning'),
  },
  'GET /api/v1/admin/audit/verify': {
    names: '?cursor ?from ?org',
    example: () => ({ as: 'root' }),
    cost: { as: 'GET /api/v1/orgs/:org/audit/verify', because: 'reads another chain' },
  },
  'GET /api/v1/admin/audit': {
    names: 'AUDIT ?cursor ?limit ?org',
    example: () => ({ as: 'root', query: { action: 'cluster.', limit: 1 } }),
    cost: getAs('what never happened, of all', '/admin/audit?limit=200&action=token.create', 'root'),
  },
  'GET /api/v1/admin/audit/actions': {
    names: '?org',
    example: () => ({ as: 'root', query: ORG }),
    cost: getAs('counted in all entries', '/admin/audit/actions', 'root'),
  },
  'GET /api/v1/admin/audit/histogram': {
    names: 'AUDIT ?org',
    example: () => ({
      as: 'root',
      query: { ...ORG, action: 'role.', since: '2026-01-12T00:00:00Z', until: '2026-01-19T00:00:00Z' },
    }),
    cost: getAs('of all entries', '/admin/audit/histogram', 'root'),
  },
  'GET /api/v1/admin/audit/export': {
    names: 'AUDIT ?org ?format:text',
    example: () => ({ as: 'root', query: { ...ORG, action: 'cluster.delete' } }),
    cost: getAs('all entries', '/admin/audit/export', 'root'),
  },
});
