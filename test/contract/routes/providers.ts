import { getAs, rowOfUser, writeOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const PROVIDERS = routes({
  'GET /api/v1/user/providers': {
    names: '',
    example: () => ({}),
    cost: { as: 'GET /api/v1/admin/providers', because: 'reads the same list' },
  },
  'POST /api/v1/admin/providers': {
    body: { name: '-', issuer: '', client_id: '' },
    names:
      '.name .display_name .issuer .client_id .client_secret:secret .scopes[] .allowed_domains[] .create_accounts .linking .trust_email .trust_second_factor .group_claim .group_mappings[].group .group_mappings[].organization:organization .group_mappings[].team:text .enabled .session_hours .session_idle_minutes .recheck_minutes .allow_remember',
    again: HAS_KEY,
    example: () => ({
      as: 'root',
      body: {
        name: 'company',
        display_name: 'Company',
        issuer: 'https://login.example.com/realms/company',
        client_id: 'atrium',
        client_secret: 'the secret of the client',
        allowed_domains: ['example.com'],
        create_accounts: true,
        group_claim: 'groups',
        group_mappings: [{ group: 'ops', organization: 'acme', team: 'operators' }],
      },
    }),
    cost: { as: 'PATCH /api/v1/user', because: 'writes one row' },
  },
  'GET /api/v1/admin/providers': {
    names: '',
    example: () => ({ as: 'root' }),
    cost: getAs('all of them', '/admin/providers', 'root'),
  },
  'GET /api/v1/admin/providers/:provider': {
    names: 'provider:text',
    example: () => ({ as: 'root', path: { provider: 'company' } }),
    cost: rowOfUser,
  },
  'PATCH /api/v1/admin/providers/:provider': {
    body: {},
    names:
      'provider:text .display_name .issuer .client_id .client_secret:secret .scopes[] .allowed_domains[] .create_accounts .linking .trust_email .trust_second_factor .group_claim .group_mappings[].group .group_mappings[].organization:organization .group_mappings[].team:text .enabled .session_hours .session_idle_minutes .recheck_minutes .allow_remember',
    example: () => ({ as: 'root', path: { provider: 'company' }, body: { linking: 'automatic' } }),
    cost: { as: 'PATCH /api/v1/user', because: 'writes one row' },
  },
  'POST /api/v1/admin/providers/:provider/preview': {
    body: { groups: [], username: 'nobody' },
    names: 'provider:text .groups[] .username',
    again: 'only reads',
    example: () => ({ as: 'root', path: { provider: 'company' }, body: { groups: ['ops', 'staff'], username: 'cat' } }),
    cost: rowOfUser,
  },
  'DELETE /api/v1/admin/providers/:provider': {
    names: 'provider:text',
    example: () => ({ as: 'root', path: { provider: 'company' } }),
    cost: writeOfUser,
  },
  'POST /api/v1/admin/providers/:provider/test': {
    names: 'provider:text',
    again: 'only asks the provider',
    example: {
      because: 'it calls a provider',
      parameters: { provider: 'company' },
      response: {
        ok: false,
        steps: [
          { step: 'discovery', result: 'ok', message: 'https://login.example.com answers, and sends logout notices' },
          { step: 'keys', result: 'ok', message: '2 published' },
          {
            step: 'client',
            result: 'failed',
            message: 'the provider does not accept the client and its secret: it says "invalid_client"',
          },
        ],
      },
    },
    cost: rowOfUser,
  },
});
