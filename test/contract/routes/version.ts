import type { Entry } from '../../../bench/requests/entry.ts';
import { routes } from './route.ts';

const file: Entry = { as: 'GET /api/v1/version', because: 'sends a text that is kept in memory' };

export const VERSION = routes({
  'GET /api/v1/version': {
    names: '',
    example: () => ({}),
    cost: { what: 'a constant', shot: () => ({ path: '/version' }) },
  },
  'GET /marketplace/api/v1/version': { example: () => ({}), cost: file },
  'GET /api/v1/docs': { isHidden: true, cost: file },
  'GET /api/v1/docs/start.js': { isHidden: true, cost: file },
  'GET /api/v1/docs/swagger-ui-bundle.js': { isHidden: true, cost: file },
  'GET /api/v1/docs/swagger-ui.css': { isHidden: true, cost: file },
  'GET /api/v1/openapi.json': {
    isHidden: true,
    cost: { what: 'the whole document', shot: () => ({ path: '/openapi.json' }) },
  },
  'GET /api/v1/openapi.yaml': {
    isHidden: true,
    cost: { as: 'GET /api/v1/openapi.json', because: 'sends a file of about the same size' },
  },
});
