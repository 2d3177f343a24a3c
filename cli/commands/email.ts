import { command, type Group } from '../command.ts';
import { type Columns, list, said } from '../output.ts';

interface Email {
  readonly email: string;
  readonly verified: boolean;
  readonly primary: boolean;
}
const columns: Columns<Email> = {
  email: (row) => row.email,
  primary: (row) => row.primary,
  verified: (row) => row.verified,
};
const addresses = { about: 'email addresses; if one is rejected, none is changed', many: true } as const;

export const email: Group = {
  summary: 'manage your email addresses',
  commands: {
    list: command({
      summary: 'list your email addresses',
      examples: ['atrium email list'],
      run: async (session) => list(await session.client().call('GET /user/emails'), columns, 'none'),
    }),
    add: command({
      summary: 'add email addresses',
      args: { address: addresses },
      examples: ['atrium email add ann@work.example'],
      async run(session, { args }) {
        const emails = args.address;
        return list(await session.client().call('POST /user/emails', { body: { emails } }), columns, 'none');
      },
    }),
    delete: command({
      summary: 'remove email addresses',
      args: { address: addresses },
      examples: ['atrium email delete ann@work.example'],
      async run(session, { args }) {
        await session.client().call('DELETE /user/emails', { body: { emails: args.address } });
        return said(`removed ${args.address.join(', ')}`);
      },
    }),
  },
};
