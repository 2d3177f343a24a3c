import type { Answer, Item } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { shortTime } from '../moments.ts';
import { all } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import { confirm } from '../terminal.ts';

type Factors = Answer<'GET /user/factors'>;

const fields: Columns<Factors> = {
  required: (row) => row.required,
  'authenticator app': (row) => (row.totp ? `yes, last used ${shortTime(row.totp.last_used_at)}` : 'no'),
  passkeys: (row) => row.passkeys.map(({ name, last_used_at }) => `${name}, last used ${shortTime(last_used_at)}`),
  'recovery codes left': (row) => row.recovery_codes?.left ?? 0,
};

/** Also of the members of an organization. */
export const holderColumns: Columns<Item<'GET /admin/factors'>> = {
  login: (row) => row.login,
  name: (row) => row.full_name,
  'authenticator app': (row) => row.totp,
  passkeys: (row) => row.passkeys,
  'recovery codes left': (row) => row.recovery_codes_left,
};
export const MISSING = { missing: { about: 'only users who have none' } } as const;

export const factor: Group = {
  summary: 'show second factors; they are added in the console',
  commands: {
    show: command({
      summary: 'show your second factors',
      options: { user: { about: 'for site administrators: whose; yours by default', value: 'USER', kind: 'user' } },
      examples: ['atrium factor show', 'atrium factor show --user ann'],
      watch: {},
      async run({ client }, { options }) {
        const found =
          options.user === undefined
            ? await client().call('GET /user/factors')
            : await client().call('GET /admin/users/{username}/factors', { path: { username: options.user } });
        return one(found, fields);
      },
    }),
    list: command({
      summary: 'list which second factors users have, for site administrators',
      options: MISSING,
      examples: ['atrium factor list', 'atrium factor list --missing'],
      watch: {},
      async run(session, { options }) {
        const query = options.missing ? { missing: true } : {};
        return list(await all(session.client().each('GET /admin/factors', { query })), holderColumns, 'none');
      },
    }),
    reset: command({
      summary: 'remove all second factors of a user who has lost them, for site administrators',
      details: 'Also ends the sessions of the user.',
      args: { user: { about: 'name of the user', kind: 'user' } },
      examples: ['atrium factor reset ann --yes'],
      async run(session, { args }) {
        await confirm(session, `Remove all second factors of ${args.user}?`);
        await session.client().call('DELETE /admin/users/{username}/factors', { path: { username: args.user } });
        return said(`removed all second factors of ${args.user} and ended their sessions`);
      },
    }),
  },
};
