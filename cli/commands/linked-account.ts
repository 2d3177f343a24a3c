import type { Item } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { shortTime } from '../moments.ts';
import { readId } from '../names.ts';
import { type Columns, list, said } from '../output.ts';
import { confirm } from '../terminal.ts';

const columns: Columns<Item<'GET /user/linked_accounts'>> = {
  id: (row) => row.id,
  provider: (row) => row.provider,
  email: (row) => row.email,
  linked: (row) => shortTime(row.created_at),
  'last used': (row) => shortTime(row.last_used_at),
};

export const linkedAccount: Group = {
  summary: 'manage the accounts at providers that you sign in with',
  commands: {
    list: command({
      summary: 'list the accounts at providers that you have linked; link one in the console',
      examples: ['atrium linked-account list'],
      watch: { ignore: ['last_used_at'] },
      run: async (session) => list(await session.client().call('GET /user/linked_accounts'), columns, 'none'),
    }),
    delete: command({
      summary: 'unlink an account, and end the sessions that were opened with it',
      args: { id: { about: 'ID of the linked account' } },
      examples: ['atrium linked-account delete 7 --yes'],
      async run(session, { args }) {
        const id = readId(args.id);
        await confirm(session, `Unlink the account ${id}?`);
        await session.client().call('DELETE /user/linked_accounts/{id}', { path: { id } });
        return said(`unlinked the account ${id}`);
      },
    }),
  },
};
