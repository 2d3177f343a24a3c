import type { Answer, Item } from '../../client/client.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { all } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import type { Session } from '../session.ts';
import { askSecret, confirm, readInput } from '../terminal.ts';

type User = Answer<'GET /users/{username}'>;
type Link = Answer<'GET /admin/users/{username}/linked_accounts'>[number];

const user_ = { about: 'name of the user', kind: 'user' } as const;
const password = {
  'password-stdin': { about: 'read the password from standard input' },
  'ask-password': { about: 'ask for the password on the terminal' },
} as const;
const yesNo = ['yes', 'no'] as const;

const fields: Columns<User> = {
  id: (row) => row.id,
  login: (row) => row.login,
  name: (row) => row.full_name,
  email: (row) => row.email,
  'site administrator': (row) => row.is_admin,
  active: (row) => row.active,
  'login prohibited': (row) => row.prohibit_login,
  location: (row) => row.location,
  website: (row) => row.website,
  description: (row) => row.description,
};

/**
 * A password is never an argument: the shell would keep it in its history, and other users of the machine could see it.
 */
async function passwordIn(session: Session, options: Readonly<Record<keyof typeof password, boolean>>) {
  if (options['password-stdin']) return (await readInput('-')).split(/\r?\n/, 1)[0];
  if (!options['ask-password']) return undefined;
  if (!session.screen.isInteractive) throw misuse('--ask-password needs a terminal; use --password-stdin instead');
  return await askSecret('Password: ');
}

const isYes = (text: string | undefined) => (text === undefined ? undefined : text === 'yes');

async function setActive(session: Session, username: string, active: boolean) {
  await session.client().call('PATCH /admin/users/{username}', { path: { username }, body: { active } });
  return said(
    `${username} is ${active ? 'active again' : 'deactivated; their tokens, password and sessions do not work'}`,
  );
}

/** Without a password, only an account at a provider or a token lets a user in. */
function cannotSignIn(login: string): string {
  return (
    `${login} has no password and cannot sign in with one yet; set one with ` +
    `atrium user edit ${login} --ask-password, or let ${login} sign in with a provider`
  );
}

export const user: Group = {
  summary: 'manage users',
  commands: {
    list: command({
      summary: 'list all users, for site administrators',
      options: { search: { about: 'only users whose name or email address contains this text', value: 'TEXT' } },
      examples: ['atrium user list', 'atrium user list --search ann'],
      watch: {},
      async run(session, { options }) {
        const columns: Columns<User> = {
          id: (row) => row.id,
          login: (row) => row.login,
          name: (row) => row.full_name,
          email: (row) => row.email,
          admin: (row) => row.is_admin,
          active: (row) => row.active,
        };
        const query = { q: options.search };
        return list(await all(session.client().each('GET /admin/users', { query })), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a user',
      args: { user: user_ },
      examples: ['atrium user show ann'],
      watch: {},
      async run(session, { args }) {
        const path = { username: args.user };
        const { data, etag } = await session.client().request('GET /users/{username}', { path });
        // Only callers who may see everything get an ETag. For other callers, the remaining fields would only look like
        // real values.
        const { id, login, name, location, website, description } = fields;
        const shown = { id, login, name, location, website, description } as Columns<User>;
        return one(data, etag === undefined ? shown : fields);
      },
    }),
    create: command({
      summary: 'create a user',
      args: { name: { about: 'login name' }, email: { about: 'email address' } },
      options: {
        'full-name': { about: 'full name', value: 'TEXT' },
        admin: { about: 'create a site administrator' },
        ...password,
      },
      examples: [
        'atrium user create fay fay@example.com --full-name "Fay Fisher"',
        'atrium user create fay fay@example.com --password-stdin < password.txt',
      ],
      async run(session, { args, options }) {
        const body = {
          username: args.name,
          email: args.email,
          full_name: options['full-name'],
          password: await passwordIn(session, options),
          admin: options.admin || undefined,
        };
        const made = await session.client().call('POST /admin/users', { body });
        if (body.password === undefined) session.screen.note(cannotSignIn(made.login));
        return one(made, fields);
      },
    }),
    edit: command({
      summary: 'change a user; only the given fields change',
      args: { user: user_ },
      options: {
        'full-name': { about: 'new full name', value: 'TEXT' },
        email: { about: 'new primary email address', value: 'ADDRESS' },
        admin: { about: 'whether the user is a site administrator', value: 'YES-NO', choices: yesNo },
        'prohibit-login': { about: 'whether signing in is prohibited', value: 'YES-NO', choices: yesNo },
        ...password,
      },
      examples: ['atrium user edit fay --full-name "Fay Miller"', 'atrium user edit fay --admin yes'],
      async run(session, { args, options }) {
        const body = changesIn(
          {
            full_name: options['full-name'],
            email: options.email,
            admin: isYes(options.admin),
            prohibit_login: isYes(options['prohibit-login']),
            password: await passwordIn(session, options),
          },
          'user edit',
        );
        const path = { username: args.user };
        return one(await session.client().call('PATCH /admin/users/{username}', { path, body }), fields);
      },
    }),
    'password-link': command({
      summary: 'create a link with which a user sets a new password; it works once, within 30 minutes',
      args: { user: user_ },
      examples: ['atrium user password-link fay'],
      async run(session, { args }) {
        const path = { username: args.user };
        const made = await session.client().call('POST /admin/users/{username}/password_link', { path });
        session.screen.note(
          `Give this link to ${args.user} only: any person who opens it can set the password. It is not shown again.`,
        );
        return one(made, { link: (row) => row.link, expires: (row) => row.expires_at });
      },
    }),
    links: command({
      summary: 'list the accounts at providers that are linked to a user',
      args: { user: user_ },
      examples: ['atrium user links fay'],
      async run(session, { args }) {
        const path = { username: args.user };
        const columns: Columns<Link> = {
          id: (row) => row.id,
          provider: (row) => row.provider_display_name,
          subject: (row) => row.subject,
          email: (row) => row.email,
          'last used': (row) => row.last_used_at,
        };
        const links = await session.client().call('GET /admin/users/{username}/linked_accounts', { path });
        return list(links, columns, 'none');
      },
    }),
    unlink: command({
      summary: 'unlink an account at a provider from a user, and end the sessions that were opened with it',
      args: { user: user_, link: { about: 'ID of the link, as "atrium user links" shows it' } },
      examples: ['atrium user unlink fay 7 --yes'],
      async run(session, { args }) {
        if (!/^\d+$/.test(args.link)) throw misuse('the link is an ID: "atrium user links" shows it');
        await confirm(session, `Unlink ${args.link} from ${args.user}?`);
        const path = { username: args.user, id: BigInt(args.link) };
        await session.client().call('DELETE /admin/users/{username}/linked_accounts/{id}', { path });
        return said(`unlinked ${args.link} from ${args.user}`);
      },
    }),
    'link-next': command({
      summary: 'link the next sign-in with the primary address of a user without asking them',
      args: { user: user_ },
      examples: ['atrium user link-next fay'],
      async run(session, { args }) {
        const path = { username: args.user };
        const { until } = await session.client().call('PUT /admin/users/{username}/link_permission', { path });
        return said(`until ${until}, the next sign-in with the primary address of ${args.user} is linked`);
      },
    }),
    deactivate: command({
      summary: 'block all access by a user, until activated again',
      args: { user: user_ },
      examples: ['atrium user deactivate fay'],
      run: async (session, { args }) => await setActive(session, args.user, false),
    }),
    activate: command({
      summary: 'activate a deactivated user again',
      args: { user: user_ },
      examples: ['atrium user activate fay'],
      run: async (session, { args }) => await setActive(session, args.user, true),
    }),
    delete: command({
      summary: 'delete a user permanently',
      args: { user: user_ },
      options: {
        orphan: { about: 'delete even the last owner of organizations; site administrators then manage them' },
        erase: {
          about: 'also remove what identifies the user from the audit log, for good; id:17 names a deleted user',
        },
      },
      examples: ['atrium user delete fay --yes', 'atrium user delete fay --erase', 'atrium user delete id:17 --erase'],
      async run(session, { args, options }) {
        const rest = options.erase ? ', and erase what identifies them in the audit log' : '';
        await confirm(session, `Delete the user ${args.user} permanently${rest}?`);
        const query = { ...(options.orphan && { orphan: true }), ...(options.erase && { erase: true }) };
        await session.client().call('DELETE /admin/users/{username}', { path: { username: args.user }, query });
        return said(options.erase ? `deleted and erased ${args.user}` : `deleted ${args.user}`);
      },
    }),
    hold: command({
      summary: 'prevent that a user is erased: a legal hold',
      args: { user: { about: 'login name, or id:17 for a deleted user' } },
      options: { reason: { about: 'why, such as the number of a lawsuit', value: 'TEXT' } },
      examples: ['atrium user hold fay --reason "case 4711"'],
      async run(session, { args, options }) {
        if (options.reason === undefined) throw misuse('say why: --reason "case 4711"');
        const path = { username: args.user };
        await session.client().call('PUT /admin/users/{username}/hold', { path, body: { reason: options.reason } });
        return said(`${args.user} cannot be erased until the hold is released`);
      },
    }),
    release: command({
      summary: 'release the legal hold on a user',
      args: { user: { about: 'login name, or id:17 for a deleted user' } },
      examples: ['atrium user release fay'],
      async run(session, { args }) {
        await session.client().call('DELETE /admin/users/{username}/hold', { path: { username: args.user } });
        return said(`the legal hold on ${args.user} is released`);
      },
    }),
    holds: command({
      summary: 'list the users who must not be erased',
      examples: ['atrium user holds'],
      async run(session) {
        const columns: Columns<Item<'GET /admin/holds'>> = {
          id: (row) => row.user.id,
          user: (row) => row.user.username,
          reason: (row) => row.reason,
          since: (row) => row.created_at,
        };
        return list(await all(session.client().each('GET /admin/holds')), columns, 'none');
      },
    }),
  },
};
