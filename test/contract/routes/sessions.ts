import { getAs, PAGE } from './parts.ts';
import { routes } from './route.ts';

export const SESSIONS = routes({
  'GET /api/v1/user/sessions': {
    names: 'PAGE',
    example: () => ({
      as: 'ann',
      query: PAGE,
      note: ({ body }, created) => {
        created.session = body[0].id;
      },
    }),
    cost: getAs('90 sessions', '/user/sessions'),
  },
  'GET /api/v1/admin/users/:username/sessions': {
    names: 'username PAGE',
    example: () => ({ as: 'root', path: { username: 'ann' }, query: PAGE }),
    cost: { as: 'GET /api/v1/user/sessions', because: 'reads the same list' },
  },
  'DELETE /api/v1/user/sessions/:id': {
    names: 'id:session',
    example: ({ created: { session = 0 } }) => ({ as: 'ann', path: { id: session } }),
    cost: { as: 'DELETE /api/v1/user/sessions', because: 'ends one session, not all' },
  },
  'DELETE /api/v1/user/sessions': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: {
      what: '90 sessions',
      shot: async (world, round) => {
        await world.run(
          `insert into session (hash, account_id, csrf, expires_at)
         select sha256(concat($1::text, 's', n)::bytea), $2::bigint, 'x', now() + interval '1 day' from generate_series(1, 90) n`,
          [`${round}`, world.atrium.world.users.bob?.id],
        );
        return { as: 'bob', path: '/user/sessions' };
      },
    },
  },
  'DELETE /api/v1/admin/users/:username/sessions': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'ann' } }),
    cost: { as: 'DELETE /api/v1/user/sessions', because: 'does the same' },
  },
  'GET /api/v1/user/signout': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: { as: 'DELETE /api/v1/user/sessions', because: 'ends one session, not all' },
  },
  'POST /api/v1/user/signout': {
    names: '',
    again: 'a session that has ended stays ended',
    example: () => ({ as: 'ann' }),
    cost: { as: 'DELETE /api/v1/user/sessions', because: 'ends one session, not all' },
  },
});
