import type { NamedRequest } from './example-requests.ts';

const ORG = { org: 'acme' };
const NEW = { email: 'zoe@acme.example', message: 'Welcome to acme.' };

/** Everything about invitations. */
export const INVITATION_REQUESTS: readonly NamedRequest[] = [
  [
    'createInvitation',
    ({ id }) => ({
      as: 'ann',
      path: ORG,
      body: { ...NEW, team_ids: [id.viewers] },
      note: ({ body }, created) => {
        created.invitation = body.id;
      },
    }),
  ],
  ['listInvitations', () => ({ as: 'ann', path: ORG, query: { state: 'open' } })],
  [
    'resendInvitation',
    ({ created: { invitation = 0 } }) => ({
      as: 'ann',
      path: { ...ORG, id: invitation },
      query: { show_link: true },
      note: ({ body }, created) => {
        created.invitationCode = body.link.split('/').at(-1);
      },
    }),
  ],
  ['getInvitation', ({ created: { invitationCode: code = '' } }) => ({ path: { code } })],
  [
    'acceptInvitation',
    ({ created: { invitationCode: code = '' } }) => ({ as: 'eve', path: { code }, body: { other_address: true } }),
  ],
  ['deleteInvitation', ({ created: { invitation = 0 } }) => ({ as: 'ann', path: { ...ORG, id: invitation } })],
];
