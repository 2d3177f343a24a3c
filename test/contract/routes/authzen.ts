import type { Measured } from '../../../bench/requests/entry.ts';
import { routes } from './route.ts';

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

const EVALUATION = {
  ...{ subject: { type: 'user', id: 'nobody' }, action: { name: 'view' }, resource: { type: 'cluster', id: '999999' } },
};

export const AUTHZEN = routes({
  'POST /access/v1/:org/evaluation': {
    isHidden: true,
    body: EVALUATION,
    cost: small('evaluations', 'decides one item'),
  },
  'POST /access/v1/:org/evaluations': {
    isHidden: true,
    body: EVALUATION,
    cost: ask('a thousand items about clusters, each with a sentence', '/evaluations', (id) => ({
      ...connect,
      evaluations: Array.from({ length: MAX_ITEMS }, (_, at) => ({
        subject: { type: 'user', id: `mass${1 + (at % 50)}` },
        resource: resource(id - at),
      })),
    })),
  },
  'POST /access/v1/:org/search/subject': {
    isHidden: true,
    body: EVALUATION,
    cost: ask('a page of 1,000 of 50,000 users', '/search/subject', (id) => ({
      ...{ subject: { type: 'user' }, ...connect, resource: resource(id), page: { limit: 1000 } },
    })),
  },
  'POST /access/v1/:org/search/resource': {
    isHidden: true,
    body: EVALUATION,
    cost: ask('1,000 clusters', '/search/resource', () => ({
      ...{ subject: { type: 'user', id: 'mass1' }, ...connect, resource: { type: 'cluster' }, page: { limit: 1000 } },
    })),
  },
  'POST /access/v1/:org/search/action': {
    isHidden: true,
    body: EVALUATION,
    cost: small('evaluations', 'asks once for each relation of the type'),
  },
  'POST /access/v1/:org/requests': {
    isHidden: true,
    body: { ...EVALUATION, denial: {} },
    cost: { as: 'POST /api/v1/authz/requests', because: 'asks for the same' },
  },
  'GET /access/v1/:org/requests/:id': {
    isHidden: true,
    cost: { as: 'GET /api/v1/authz/requests/:id', because: 'shows less of the same' },
  },
  'POST /access/v1/:org/requests/:id/cancel': {
    isHidden: true,
    cost: { as: 'POST /api/v1/authz/requests/:id/cancel', because: 'does the same' },
  },
  'POST /mcp': { isHidden: true, cost: { as: 'POST /api/v1/authz/matrix', because: 'makes one such request' } },
  'GET /.well-known/oauth-protected-resource': {
    isHidden: true,
    cost: { as: 'GET /.well-known/jwks.json', because: 'sends a constant' },
  },
  'GET /.well-known/oauth-protected-resource/mcp': {
    isHidden: true,
    cost: { as: 'GET /.well-known/jwks.json', because: 'sends a constant' },
  },
  'GET /.well-known/authzen-configuration/access/v1/:org': {
    isHidden: true,
    cost: {
      as: 'GET /.well-known/jwks.json',
      because: 'sends a document that depends on nothing',
    },
  },
});
