import { getAs, PAGE, rowOfUser } from './parts.ts';
import { routes } from './route.ts';

export const USERS = routes({
  'GET /api/v1/users/search': {
    names: '?q:person ?uid:text PAGE',
    example: () => ({ as: 'ann', query: { q: 'baker', ...PAGE } }),
    cost: getAs('among 50,000', '/users/search?q=ass4999&limit=50'),
  },
  'GET /api/v1/users/:username': {
    names: 'username',
    example: () => ({ as: 'ann', path: { username: 'bob' } }),
    cost: getAs('one', '/users/ann'),
  },
  'GET /api/v1/users/:username/orgs': {
    names: 'username PAGE',
    example: () => ({ as: 'ann', path: { username: 'bob' }, query: PAGE }),
    cost: getAs('the last page of 10,000', '/users/dan/orgs?limit=50&page=199', 'dan'),
  },
  'POST /api/v1/user/validate/username': {
    names: '?user_name',
    again: 'only reads',
    example: () => ({ as: 'ann', query: { user_name: 'newcomer' } }),
    cost: rowOfUser,
  },
  'POST /api/v1/user/validate/orgname': {
    names: '?user_name ?org',
    again: 'only reads',
    example: () => ({ as: 'ann', query: { user_name: 'acme', org: 'acme' } }),
    cost: rowOfUser,
  },
  'POST /api/v1/user/validate/email': {
    names: '?email',
    again: 'only reads',
    example: () => ({ as: 'ann', query: { email: 'newcomer@example.com' } }),
    cost: rowOfUser,
  },
});
