import type { Entry } from '../../../bench/requests/entry.ts';
import { routes } from './route.ts';

const file: Entry = { as: 'GET /api/v1/version', because: 'sends a text that is kept in memory' };
const nothing: Entry = { as: 'GET /api/v1/version', because: 'answers without reading a body' };

/** The console, and what identity providers and programs look for at the root. */
export const PAGES = routes({
  'GET /': { isHidden: true, cost: file },
  'GET /assets/*': { isHidden: true, cost: file },
  'GET /avatars/:name': { isHidden: true, cost: file },
  'GET /.well-known/change-password': { isHidden: true, cost: nothing },
  'GET /.well-known/oauth-authorization-server': { isHidden: true, cost: file },
  'POST /oauth/token': {
    isHidden: true,
    cost: {
      as: 'POST /api/v1/robots/:id/trust_rules/explain',
      because: 'reads a token and compares it with the rules of one robot',
    },
  },
  'GET /admin': { isHidden: true, cost: file },
  'GET /admin/*': { isHidden: true, cost: file },
  'GET /invitations': { isHidden: true, cost: file },
  'GET /invitations/*': { isHidden: true, cost: file },
  'GET /me': { isHidden: true, cost: file },
  'GET /me/*': { isHidden: true, cost: file },
  'GET /model': { isHidden: true, cost: file },
  'GET /model/*': { isHidden: true, cost: file },
  'GET /orgs': { isHidden: true, cost: file },
  'GET /orgs/*': { isHidden: true, cost: file },
  'GET /signin': { isHidden: true, cost: file },
  'GET /signin/*': { isHidden: true, cost: file },
  'GET /welcome': { isHidden: true, cost: file },
  'GET /welcome/*': { isHidden: true, cost: file },
});
