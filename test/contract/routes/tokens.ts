import { getAs, PAGE, writeOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const TOKENS = routes({
  'POST /api/v1/users/:username/tokens': {
    body: { name: 'x' },
    names: 'username TOKEN',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      withPassword: true,
      path: { username: 'ann' },
      body: { name: 'laptop', scopes: ['read:user'], expires_at: '2099-01-01T00:00:00Z' },
    }),
    cost: writeOfUser,
  },
  'GET /api/v1/users/:username/tokens': {
    names: 'username PAGE',
    example: () => ({ as: 'ann', path: { username: 'ann' }, query: PAGE }),
    cost: getAs('a page', '/users/ann/tokens?limit=50&page=3'),
  },
  'POST /api/v1/users/:username/tokens/:token/rotate': {
    body: {},
    names: 'username token .overlap_hours .expires_at',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      withPassword: true,
      path: { username: 'ann', token: 'laptop' },
      body: { overlap_hours: 2, expires_at: '2099-01-01T00:00:00Z' },
    }),
    cost: writeOfUser,
  },
  'DELETE /api/v1/users/:username/tokens/:token': {
    names: 'username token',
    example: () => ({ as: 'ann', path: { username: 'ann', token: 'laptop' } }),
    cost: {
      what: 'one of 170',
      shot: (_world, round) => ({ as: 'ann', path: `/users/ann/tokens/token${round + 1}` }),
    },
  },
  'GET /api/v1/user/token': { names: '', example: () => ({ as: 'ann' }), cost: getAs('its own', '/user/token') },
  'GET /api/v1/user/token_policy': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: getAs('the rules', '/user/token_policy'),
  },
});
