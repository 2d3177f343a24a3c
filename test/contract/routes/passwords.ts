import { routes } from './route.ts';

function password(round: number): string {
  return `${round}-${'long password '.repeat(17)}`.slice(0, 255);
}

export const PASSWORDS = routes({
  'PUT /api/v1/user/password': {
    body: { new: 'short' },
    names: '.current:secret .new:secret',
    example: () => ({ as: 'ann', body: { current: 'an example password', new: 'another example password' } }),
    cost: {
      what: 'the longest password, which is hashed in other threads',
      shot: ({ atrium }, round) => ({
        as: 'cat',
        path: '/user/password',
        body: { current: round === 0 ? atrium.world.users.cat?.password : password(round - 1), new: password(round) },
      }),
    },
  },
  'POST /api/v1/user/password/forgot': {
    body: { email: 'nobody@example.com' },
    names: '.email',
    again: 'an address gets one email in ten minutes',
    example: () => ({ body: { email: 'bob@example.com' } }),
    cost: { as: 'POST /api/v1/user/device', because: 'answers before it does anything' },
  },
  'POST /api/v1/user/password/reset': {
    body: { code: 'nothing', password: 'x' },
    names: '.code:secret .password:secret',
    again: 'its code works once, and its caller is not known',
    example: {
      because: 'it needs the code of an email',
      parameters: {},
      body: { code: 'bZr4mXo0Jm1kq3Yw8vTn5sLdEuCfGhAa', password: 'a new password' },
      status: 204,
    },
    cost: { as: 'POST /api/v1/user/signin', because: 'hashes one password' },
  },
});
