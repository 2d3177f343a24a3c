import type { Measured, Requests } from './entry.ts';

const MAX_ITEMS = 1000;
const ROUTE = '/access/v1/:org';

function ask(what: string, path: string, body: (cluster: number) => object): Measured {
  return {
    what,
    shot: ({ cluster }) => ({ as: 'ann', path: `/access/v1/acme${path}`, body: body(Number(cluster)) }),
  };
}

const connect = { action: { name: 'can_connect' } };
const resource = (id: number) => ({ type: 'cluster', id: String(id) });
const small = (as: string, because: string) => ({ as: `POST ${ROUTE}/${as}`, because });

export const AUTHZEN_REQUESTS: Requests = {
  [`POST ${ROUTE}/evaluation`]: small('evaluations', 'decides one item'),
  [`POST ${ROUTE}/evaluations`]: ask('a thousand items about clusters, each with a sentence', '/evaluations', (id) => ({
    ...connect,
    evaluations: Array.from({ length: MAX_ITEMS }, (_, at) => ({
      subject: { type: 'user', id: `mass${1 + (at % 50)}` },
      resource: resource(id - at),
    })),
  })),
  [`POST ${ROUTE}/search/subject`]: ask('a page of 1,000 of 50,000 users', '/search/subject', (id) => ({
    ...{ subject: { type: 'user' }, ...connect, resource: resource(id), page: { limit: 1000 } },
  })),
  [`POST ${ROUTE}/search/resource`]: ask('1,000 clusters', '/search/resource', () => ({
    ...{ subject: { type: 'user', id: 'mass1' }, ...connect, resource: { type: 'cluster' }, page: { limit: 1000 } },
  })),
  [`POST ${ROUTE}/search/action`]: small('evaluations', 'asks once for each relation of the type'),
  [`POST ${ROUTE}/requests`]: { as: 'POST /api/v1/authz/requests', because: 'asks for the same' },
  [`GET ${ROUTE}/requests/:id`]: { as: 'GET /api/v1/authz/requests/:id', because: 'shows less of the same' },
  [`POST ${ROUTE}/requests/:id/cancel`]: { as: 'POST /api/v1/authz/requests/:id/cancel', because: 'does the same' },
  'POST /mcp': { as: 'POST /api/v1/authz/matrix', because: 'makes one such request' },
  'GET /.well-known/oauth-protected-resource': { as: 'GET /.well-known/jwks.json', because: 'sends a constant' },
  'GET /.well-known/oauth-protected-resource/mcp': { as: 'GET /.well-known/jwks.json', because: 'sends a constant' },
  'GET /.well-known/authzen-configuration/access/v1/:org': {
    as: 'GET /.well-known/jwks.json',
    because: 'sends a document that depends on nothing',
  },
};
