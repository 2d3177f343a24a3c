import type { Answer } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { type Columns, list, one, said } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';

type Provider = Answer<'GET /admin/providers/{provider}'>;

const provider_ = { about: 'name of the provider' } as const;

const fields: Columns<Provider> = {
  name: (row) => row.name,
  'display name': (row) => row.display_name,
  enabled: (row) => row.enabled,
  origin: (row) => row.origin,
  issuer: (row) => row.issuer,
  'client ID': (row) => row.client_id,
  'client secret': (row) => (row.has_client_secret ? 'set' : 'none'),
  scopes: (row) => row.scopes,
  'allowed domains': (row) => row.allowed_domains,
  'creates accounts': (row) => row.create_accounts,
  linking: (row) => row.linking,
  'group claim': (row) => row.group_claim,
  'redirect URI': (row) => row.redirect_uri,
};

async function setEnabled(session: Session, provider: string, enabled: boolean) {
  await session.client().call('PATCH /admin/providers/{provider}', { path: { provider }, body: { enabled } });
  return said(enabled ? `people can sign in with ${provider}` : `users can no longer sign in with ${provider}`);
}

export const provider: Group = {
  summary: 'manage the OpenID Connect providers that people sign in with',
  commands: {
    list: command({
      summary: 'list the providers',
      examples: ['atrium provider list'],
      watch: {},
      async run(session) {
        const columns: Columns<Provider> = {
          name: (row) => row.name,
          'display name': (row) => row.display_name,
          enabled: (row) => row.enabled,
          origin: (row) => row.origin,
          issuer: (row) => row.issuer,
        };
        return list(await session.client().call('GET /admin/providers'), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a provider, without its secret',
      args: { provider: provider_ },
      examples: ['atrium provider show company'],
      watch: {},
      async run(session, { args }) {
        return one(await session.client().call('GET /admin/providers/{provider}', { path: args }), fields);
      },
    }),
    enable: command({
      summary: 'let people sign in with a provider',
      args: { provider: provider_ },
      examples: ['atrium provider enable company'],
      run: async (session, { args }) => await setEnabled(session, args.provider, true),
    }),
    disable: command({
      summary: 'stop sign-ins with a provider; linked accounts stay',
      args: { provider: provider_ },
      examples: ['atrium provider disable company --yes'],
      async run(session, { args }) {
        await confirm(session, `Stop all sign-ins with ${args.provider}?`);
        return await setEnabled(session, args.provider, false);
      },
    }),
  },
};
