import { mostKeys } from '../../../bench/requests/bodies.ts';
import { getAs, ORG, PAGE } from './parts.ts';
import { routes } from './route.ts';

export const ME = routes({
  'GET /api/v1/user': {
    names: '?check_client_org',
    example: () => ({ as: 'ann', query: { check_client_org: true } }),
    cost: getAs('a member of 10,000 organizations', '/user?check_client_org=true', 'dan'),
  },
  'GET /api/v1/user/context': {
    names: '?org ?object',
    example: ({ id }) => ({ as: 'ann', query: { ...ORG, object: `team:${id.operators}` } }),
    cost: [
      getAs('in the largest organization', '/user/context?org=acme'),
      getAs('as a member of 10,000 organizations', '/user/context', 'dan'),
    ],
  },
  'GET /api/v1/events': {
    query: 'org=acme&follow=false',
    names: '?org ?last_event_id:text ?follow',
    example: () => ({ as: 'ann', query: { ...ORG, follow: false } }),
    cost: [getAs('without following', '/events?org=acme&follow=false')],
  },
  'GET /api/v1/search': {
    query: 'q=a&org=acme',
    names: '?q:clusterName ?org ?types:text',
    example: () => ({ as: 'ann', query: { q: 'pro', ...ORG, types: 'clusters,people' } }),
    cost: [
      getAs('in the largest organization', '/search?q=e&org=acme'),
      getAs('everywhere, as a site administrator', '/search?q=e', 'root'),
    ],
  },
  'PATCH /api/v1/user': {
    body: {},
    names: '.full_name .language .location .website .description',
    example: () => ({ as: 'ann', body: { full_name: 'Ann Archer', location: 'Bern', language: 'en' } }),
    cost: {
      what: 'a body of 1 MiB',
      shot: (_world, round) => ({ as: 'ann', path: '/user', body: mostKeys({ description: `changed ${round}` }) }),
    },
  },
  'GET /api/v1/user/teams': {
    names: 'PAGE',
    example: () => ({ as: 'ann', query: PAGE }),
    cost: getAs('the last page of 10,000', '/user/teams?limit=50&page=199', 'dan'),
  },
  'GET /api/v1/user/orgs': {
    names: 'PAGE',
    example: () => ({ as: 'ann', query: PAGE }),
    cost: getAs('the last page of 10,000', '/user/orgs?limit=50&page=199', 'dan'),
  },
  'GET /api/v1/user/settings/organizations': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: getAs('10,000, which are not paged', '/user/settings/organizations', 'dan'),
  },
});
