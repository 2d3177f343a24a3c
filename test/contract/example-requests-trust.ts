import type { NamedRequest } from './example-requests.ts';

/** Everything about the trust rules of a robot, which is there already. */
export const TRUST_REQUESTS: readonly NamedRequest[] = [
  [
    'createTrustRule',
    ({ created: { robot = 0 } }) => ({
      as: 'ann',
      path: { id: robot },
      body: {
        name: 'main branch',
        issuer: 'https://token.actions.githubusercontent.com',
        audience: 'https://atrium.example.com',
        claims: { repository_id: '123456789', ref: 'refs/heads/main' },
        scopes: ['write:organization'],
        lifetime: 'PT15M',
      },
      note: ({ body: { id } }, created) => {
        created.rule = id;
      },
    }),
  ],
  ['listTrustRules', ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot } })],
  ['getTrustRule', ({ created: { robot = 0, rule = 0 } }) => ({ as: 'ann', path: { id: robot, rule: String(rule) } })],
  [
    'replaceTrustRule',
    ({ created: { robot = 0, rule = 0 } }) => ({
      as: 'ann',
      path: { id: robot, rule: String(rule) },
      body: {
        name: 'releases',
        issuer: 'https://token.actions.githubusercontent.com',
        audience: 'https://atrium.example.com',
        claims: { repository_id: '123456789', ref: 'refs/tags/*' },
      },
    }),
  ],
  [
    'explainTrustRules',
    ({ created: { robot = 0 } }) => ({ as: 'ann', path: { id: robot }, body: { token: 'not a token' } }),
  ],
  [
    'deleteTrustRule',
    ({ created: { robot = 0, rule = 0 } }) => ({ as: 'ann', path: { id: robot, rule: String(rule) } }),
  ],
];
