import { getAs, PAGE, rowOfUser } from './parts.ts';
import { routes } from './route.ts';

export const FOLLOWING = routes({
  'PUT /api/v1/user/following/:username': {
    names: 'username',
    example: () => ({ as: 'ann', path: { username: 'cat' } }),
    cost: {
      what: 'one more than 5,000',
      shot: (_world, round) => ({ as: 'ann', path: `/user/following/mass4999${round}` }),
    },
  },
  'GET /api/v1/user/following/:username': {
    names: 'username',
    example: () => ({ as: 'ann', path: { username: 'cat' } }),
    cost: rowOfUser,
  },
  'GET /api/v1/user/following': {
    names: 'PAGE',
    example: () => ({ as: 'ann', query: PAGE }),
    cost: getAs('the last page of 5,000', '/user/following?limit=50&page=99'),
  },
  'GET /api/v1/user/followers': {
    names: 'PAGE',
    example: () => ({ as: 'ann', query: PAGE }),
    cost: getAs('the last page of 50,000', '/user/followers?limit=50&page=1000'),
  },
  'GET /api/v1/users/:username/following/:target': {
    names: 'username target:person',
    example: () => ({ as: 'ann', path: { username: 'ann', target: 'cat' } }),
    cost: rowOfUser,
  },
  'GET /api/v1/users/:username/following': {
    names: 'username PAGE',
    example: () => ({ as: 'ann', path: { username: 'bob' }, query: PAGE }),
    cost: getAs('the last page of 5,000', '/users/ann/following?limit=50&page=99'),
  },
  'GET /api/v1/users/:username/followers': {
    names: 'username PAGE',
    example: () => ({ as: 'ann', path: { username: 'bob' }, query: PAGE }),
    cost: getAs('the last page of 50,000', '/users/ann/followers?limit=50&page=1000'),
  },
  'DELETE /api/v1/user/following/:username': {
    names: 'username',
    example: () => ({ as: 'ann', path: { username: 'cat' } }),
    cost: {
      what: 'one of 5,000',
      shot: (_world, round) => ({ as: 'ann', path: `/user/following/mass49${round}` }),
    },
  },
});
