import { command, type Group } from '../command.ts';
import { all } from '../names.ts';
import { list, said } from '../output.ts';

const user = { about: 'name of a user', kind: 'user' } as const;

export const follow: Group = {
  summary: 'manage the users you follow',
  commands: {
    list: command({
      summary: 'list the users you follow, newest first; with --followers, your followers',
      options: { followers: { about: 'list your followers instead' } },
      examples: ['atrium follow list', 'atrium follow list --followers'],
      async run(session, { options }) {
        const client = session.client();
        const found = options.followers ? client.each('GET /user/followers') : client.each('GET /user/following');
        return list(await all(found), { login: (row) => row.login, name: (row) => row.full_name }, 'none');
      },
    }),
    add: command({
      summary: 'follow a user',
      args: { user },
      examples: ['atrium follow add bob'],
      async run(session, { args }) {
        await session.client().call('PUT /user/following/{username}', { path: { username: args.user } });
        return said(`you follow ${args.user}`);
      },
    }),
    remove: command({
      summary: 'unfollow a user',
      args: { user },
      examples: ['atrium follow remove bob'],
      async run(session, { args }) {
        await session.client().call('DELETE /user/following/{username}', { path: { username: args.user } });
        return said(`you no longer follow ${args.user}`);
      },
    }),
  },
};
