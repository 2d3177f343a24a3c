import { ORG, rowOfOrganization, writeOfOrganization } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const NEW = { email: 'zoe@acme.example', message: 'Welcome to acme.' };

/** After the other nouns of an organization, because the examples change who is in it. */
export const INVITATIONS = routes({
  'POST /api/v1/orgs/:org/invitations': {
    body: { email: '', team_ids: [] },
    names: 'org ?show_link:text .email .team_ids[]:team .message .expires_at',
    again: HAS_KEY,
    example: ({ id }) => ({
      as: 'ann',
      path: ORG,
      body: { ...NEW, team_ids: [id.viewers] },
      note: ({ body }, created) => {
        created.invitation = body.id;
      },
    }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/orgs/:org/invitations': {
    names: 'org PAGE ?state:text',
    example: () => ({ as: 'ann', path: ORG, query: { state: 'open' } }),
    cost: {
      as: 'GET /api/v1/orgs/:org/robots',
      because: 'lists at most fifty rows',
    },
  },
  'POST /api/v1/orgs/:org/invitations/:id/resend': {
    names: 'org id:invitation ?show_link:text',
    again: 'replaces the code; only the last answer counts',
    example: ({ created: { invitation = 0 } }) => ({
      as: 'ann',
      path: { ...ORG, id: invitation },
      query: { show_link: true },
      note: ({ body }, created) => {
        created.invitationCode = body.link.split('/').at(-1);
      },
    }),
    cost: writeOfOrganization,
  },
  'GET /api/v1/invitations/:code': {
    names: 'code:text',
    example: ({ created: { invitationCode: code = '' } }) => ({ path: { code } }),
    cost: rowOfOrganization,
  },
  'POST /api/v1/invitations/:code/accept': {
    body: {},
    names: 'code:text .other_address .username:text .password:secret .full_name',
    again: 'an invitation is accepted once, and its caller may not be known',
    example: ({ created: { invitationCode: code = '' } }) => ({
      as: 'eve',
      path: { code },
      body: { other_address: true },
    }),
    cost: writeOfOrganization,
  },
  'DELETE /api/v1/orgs/:org/invitations/:id': {
    names: 'org id:invitation',
    example: ({ created: { invitation = 0 } }) => ({ as: 'ann', path: { ...ORG, id: invitation } }),
    cost: writeOfOrganization,
  },
});
