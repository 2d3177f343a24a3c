import { rowOfUser, writeOfUser } from './parts.ts';
import { routes } from './route.ts';

export const DEVICES = routes({
  'POST /api/v1/user/device': {
    body: {},
    names: '.name .scopes[]',
    again: 'a request that nobody approves expires, and its caller is not known',
    example: () => ({
      body: { name: 'atrium on laptop', scopes: ['all'] },
      note: ({ body }, created) => {
        created.userCode = body.user_code;
      },
    }),
    cost: writeOfUser,
  },
  'GET /api/v1/user/device/:code': {
    names: 'code:text',
    example: ({ created: { userCode = '' } }) => ({ as: 'ann', path: { code: userCode } }),
    cost: rowOfUser,
  },
  'POST /api/v1/user/device/token': {
    body: { device_code: 'nothing' },
    names: '.device_code:secret',
    again: 'a program begins again if it lost the answer',
    example: {
      because: 'somebody has to approve the program first',
      parameters: {},
      body: { device_code: 'the device_code of the beginning' },
      response: {
        id: 7,
        name: 'atrium on laptop, 2026-01-01, BCDF-GHJK',
        sha1: 'atr_EXAMPLE',
        token_last_eight: 'EXAMPLE0',
        scopes: ['all'],
        created_at: '2026-01-01T00:00:00Z',
        last_used_at: '1970-01-01T00:00:00Z',
        expires_at: null,
        expires_soon: false,
        can_rotate: false,
        delegated: false,
        beyond_policy: [],
      },
    },
    cost: writeOfUser,
  },
  'POST /api/v1/user/device/:code': {
    body: { approve: false },
    names: 'code:text .approve',
    again: 'what was decided stays decided',
    example: {
      because: 'it needs a browser session',
      parameters: { code: 'BCDF-GHJK' },
      body: { approve: true },
      response: 'getDeviceRequest',
    },
    cost: writeOfUser,
  },
});
