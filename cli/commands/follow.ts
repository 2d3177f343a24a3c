import { command, type Group } from '../command.ts';
import { all } from '../names.ts';
import { list, said } from '../output.ts';

const user = { about: 'name of a user', kind: 'user' } as const;

export const follow: Group = {
  summary: 'whom you follow',
  commands: {
    list: command({
      summary: 'whom you follow, newest first; with --followers, who follows you',
      options: { followers: { about: 'who follows you instead' } },
      examples: ['atrium follow list', 'atrium follow list --followers'],
      async run(session, { options }) {
        const client = session.client();
        const found = options.followers ? client.each('GET /user/followers') : client.each('GET /user/following');
        return list(await all(found), { login: (row) => row.login, name: (row) => row.full_name }, 'nobody');
      },
    }),
    add: command({
      summary: 'follow somebody',
      args: { user },
      examples: ['atrium follow add bob'],
      async run(session, { args }) {
        await session.client().call('PUT /user/following/{username}', { path: { username: args.user } });
        return said(`you follow ${args.user}`);
      },
    }),
    remove: command({
      summary: 'follow somebody no longer',
      args: { user },
      examples: ['atrium follow remove bob'],
      async run(session, { args }) {
        await session.client().call('DELETE /user/following/{username}', { path: { username: args.user } });
        return said(`you follow ${args.user} no longer`);
      },
    }),
  },
};
