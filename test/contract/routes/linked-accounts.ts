import { rowOfUser, writeOfUser } from './parts.ts';
import { routes } from './route.ts';

export const LINKED_ACCOUNTS = routes({
  'GET /api/v1/user/linked_accounts': {
    names: '',
    example: () => ({
      as: 'ann',
      note: ({ body }, created) => {
        created.linked = body[0].id;
        created.otherLinked = body[1].id;
      },
    }),
    cost: rowOfUser,
  },
  'GET /api/v1/admin/users/:username/linked_accounts': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'ann' } }),
    cost: rowOfUser,
  },
  'PUT /api/v1/admin/users/:username/link_permission': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'ann' } }),
    cost: writeOfUser,
  },
  'DELETE /api/v1/admin/users/:username/linked_accounts/:id': {
    names: 'username id:text',
    example: ({ created: { otherLinked: id = 0 } }) => ({ as: 'root', path: { username: 'ann', id } }),
    cost: writeOfUser,
  },
  'DELETE /api/v1/user/linked_accounts/:id': {
    names: 'id:text',
    example: ({ created: { linked = 0 } }) => ({ as: 'ann', path: { id: linked } }),
    cost: writeOfUser,
  },
  'POST /api/v1/user/linked_accounts': {
    body: { provider: 'nothing' },
    names: '.provider:text',
    again: 'only says where to sign in',
    example: {
      because: 'it needs a browser session, and calls a provider',
      parameters: {},
      body: { provider: 'company' },
      response: { url: 'https://login.example.com/realms/company/auth?client_id=atrium&response_type=code' },
    },
    cost: { as: 'PATCH /api/v1/user', because: 'reads one row, and waits for a provider' },
  },
});
