import { rowOfUser, writeOfUser } from './parts.ts';
import { routes } from './route.ts';

export const SIGN_IN = routes({
  'POST /api/v1/user/signin': {
    body: { username: 'nobody', password: 'x' },
    names: '.username .password:secret .token:secret .remember',
    again: 'a session that nobody uses expires, and its caller is not known before',
    example: () => ({ inBrowser: true, body: { username: 'ann', password: 'an example password', remember: true } }),
    cost: {
      what: 'a password that is hashed in other threads',
      shot: ({ atrium }) => ({
        path: '/user/signin',
        body: { username: 'ann', password: atrium.world.users.ann?.password },
      }),
    },
  },
  'GET /api/v1/user/link_request': {
    names: '',
    example: {
      because: 'it needs a sign-in at a provider',
      parameters: {},
      response: {
        provider: 'company',
        provider_display_name: 'Company',
        email: 'ann@example.com',
        username: 'ann',
        return_to: '/',
      },
    },
    cost: { as: 'GET /api/v1/users/:username', because: 'reads only a cookie' },
  },
  'POST /api/v1/user/link_request': {
    names: '',
    again: 'an account that is linked stays linked',
    example: {
      because: 'it needs a sign-in at a provider',
      parameters: {},
      response: 'getMyLinkRequest',
    },
    cost: writeOfUser,
  },
  'GET /api/v1/user/signin/:provider': { isHidden: true, cost: rowOfUser },
  'GET /api/v1/user/signin/:provider/callback': { isHidden: true, cost: writeOfUser },
  'POST /api/v1/user/signin/:provider/backchannel_logout': { isHidden: true, cost: writeOfUser },
  'POST /api/v1/user/signup': {
    body: { email: 'nobody@example.com' },
    names: '.email',
    again: 'an address gets one email in ten minutes',
    example: {
      because: 'it needs REGISTRATION=domains',
      parameters: {},
      body: { email: 'newcomer@example.com' },
      status: 202,
    },
    cost: { as: 'POST /api/v1/user/device', because: 'answers before it does anything' },
  },
  'POST /api/v1/user/signup/confirm': {
    body: { code: 'nothing', username: '-', password: 'x' },
    names: '.code:secret .username .password:secret .full_name',
    again: 'its code works once, and its caller is not known before',
    example: {
      because: 'it needs the code of an email',
      parameters: {},
      body: {
        code: 'bZr4mXo0Jm1kq3Yw8vTn5sLdEuCfGhAa',
        username: 'newcomer',
        password: 'a long password',
        full_name: 'New Comer',
      },
      status: 201,
      response: 'createUser',
    },
    cost: { as: 'POST /api/v1/user/signin', because: 'hashes one password' },
  },
});
