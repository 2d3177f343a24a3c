import type { Answer } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { all } from '../names.ts';
import { type Columns, list, said } from '../output.ts';
import { confirm } from '../terminal.ts';

const columns: Columns<Answer<'GET /user/sessions'>[number]> = {
  id: (row) => row.id,
  browser: (row) => row.user_agent,
  address: (row) => row.ip,
  'signed in': (row) => shortTime(row.created_at),
  'last seen': (row) => shortTime(row.last_seen_at),
  expires: (row) => shortTime(row.expires_at),
};
const user = {
  about: 'for site administrators: whose sessions; yours by default',
  value: 'USER',
  kind: 'user',
} as const;

export const session: Group = {
  summary: 'manage your browser sessions',
  commands: {
    list: command({
      summary: 'list the browsers that you are signed in with',
      options: { user },
      examples: ['atrium session list', 'atrium session list --user ann'],
      watch: { ignore: ['last_seen_at'] },
      async run({ client }, { options }) {
        const found =
          options.user === undefined
            ? client().each('GET /user/sessions', {})
            : client().each('GET /admin/users/{username}/sessions', { path: { username: options.user } });
        return list(await all(found), columns, 'none');
      },
    }),
    end: command({
      summary: 'sign a browser out, or all of them',
      args: { id: { about: 'ID of the session', optional: true } },
      options: { all: { about: 'end all sessions' }, user },
      examples: ['atrium session end 7', 'atrium session end --all --yes', 'atrium session end --all --user ann --yes'],
      async run(here, { args, options }) {
        if ((args.id === undefined) !== options.all) throw misuse('give either the ID of a session or --all');
        if (args.id !== undefined) {
          if (options.user !== undefined) throw misuse('--user needs --all');
          await here.client().call('DELETE /user/sessions/{id}', { path: { id: args.id } });
          return said(`ended session ${args.id}`);
        }
        const whose = options.user === undefined ? 'your browser sessions' : `the browser sessions of ${options.user}`;
        await confirm(here, `End all ${whose}?`);
        if (options.user === undefined) await here.client().call('DELETE /user/sessions');
        else {
          const path = { username: options.user };
          await here.client().call('DELETE /admin/users/{username}/sessions', { path });
        }
        return said(`ended all ${whose}`);
      },
    }),
  },
};
