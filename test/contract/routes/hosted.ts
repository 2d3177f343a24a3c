import type { Entry } from '../../../bench/requests/entry.ts';
import { routes } from './route.ts';

const file: Entry = { as: 'GET /api/v1/version', because: 'sends a text that is kept in memory' };

export const HOSTED = routes({
  'GET /api/v1/user/hosted-token': {
    names: '',
    example: () => ({ as: 'ann' }),
    on: 'hosted',
    cost: { as: 'GET /api/v1/users/:username', because: 'reads one row, and signs 300 bytes' },
  },
  'GET /.well-known/jwks.json': { example: () => ({}), on: 'hosted', cost: file },
});
