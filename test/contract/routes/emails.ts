import { getAs, rowOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const EMAILS = routes({
  'GET /api/v1/user/emails': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: getAs('20 addresses', '/user/emails'),
  },
  'POST /api/v1/user/emails': {
    body: { emails: [] },
    names: '.emails[]',
    again: HAS_KEY,
    example: () => ({ as: 'ann', body: { emails: ['ann@work.example'] } }),
    cost: {
      what: 'as many addresses as a body holds',
      shot: () => ({
        as: 'ann',
        path: '/user/emails',
        body: { emails: Array.from({ length: 45_000 }, (_, at) => `a${at}@example.com`) },
        status: 422,
      }),
    },
  },
  'GET /api/v1/user/emails/confirm': {
    query: 'key=nothing',
    names: '?key:secret',
    example: ({ confirmationKey }) => ({ query: { key: confirmationKey } }),
    cost: rowOfUser,
  },
  'DELETE /api/v1/user/emails': {
    body: { emails: [] },
    names: '.emails[]',
    example: () => ({ as: 'ann', body: { emails: ['ann@work.example'] } }),
    cost: {
      what: 'as many addresses as a body holds',
      shot: () => ({
        as: 'ann',
        path: '/user/emails',
        body: { emails: Array.from({ length: 45_000 }, (_, at) => `a${at}@example.com`) },
        status: 422,
      }),
    },
  },
});
