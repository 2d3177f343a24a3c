import { command, type Group } from '../command.ts';
import { momentIn, shortTime } from '../moments.ts';
import { all } from '../names.ts';
import { type Columns, list, said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';

export interface TokenRow {
  readonly id: bigint;
  readonly name: string;
  readonly token_last_eight: string;
  readonly scopes: readonly string[];
  readonly last_used_at: string;
  readonly expires_at: string | null;
}
export const tokenColumns: Columns<TokenRow> = {
  id: (row) => row.id,
  name: (row) => row.name,
  'ends with': (row) => `…${row.token_last_eight}`,
  scopes: (row) => row.scopes,
  'last used': (row) => shortTime(row.last_used_at),
  expires: (row) => shortTime(row.expires_at),
};

/** The options of a new token, shared with the tokens of robot accounts. */
export const newTokenOptions = {
  scope: { about: 'scope of the token, such as read:user; all by default', value: 'SCOPE', many: true },
  expires: { about: 'when it expires, such as 90d or 2027-01-31; never by default', value: 'WHEN' },
} as const;

export function newToken(name: string, options: { scope: readonly string[]; expires: string | undefined }) {
  return {
    name,
    ...(options.scope.length > 0 && { scopes: options.scope }),
    ...(options.expires !== undefined && { expires_at: momentIn(options.expires, 1) }),
  };
}

/** Writes only the token to standard output, so that it can be piped. */
export function showNewToken(session: Session, made: TokenRow & { readonly sha1: string }) {
  if (session.format === 'text') session.screen.note('The token, shown only once:');
  return verbatim(made.sha1, made);
}

const user = {
  about: 'for site administrators: owner of the tokens; you by default',
  value: 'USER',
  kind: 'user',
} as const;

async function ownerOf(session: Session, given: string | undefined): Promise<string> {
  return given ?? (await session.client().call('GET /user')).login;
}

export const token: Group = {
  summary: 'manage your access tokens',
  commands: {
    list: command({
      summary: 'list your access tokens',
      options: { user },
      examples: ['atrium token list'],
      async run(session, { options }) {
        const path = { username: await ownerOf(session, options.user) };
        return list(await all(session.client().each('GET /users/{username}/tokens', { path })), tokenColumns, 'none');
      },
    }),
    create: command({
      summary: 'create an access token and show it once',
      details: 'It cannot do more than the token that you are signed in with.',
      args: { name: { about: 'name of the token' } },
      options: { ...newTokenOptions, user },
      examples: [
        'atrium token create laptop',
        'atrium token create backup --scope read:user --scope read:authz --expires 90d',
      ],
      async run(session, { args, options }) {
        const { login } = await session.client().call('GET /user');
        // The server creates tokens only with Basic authentication, which accepts a token instead of the password.
        const basic = Buffer.from(`${login}:${session.token()}`).toString('base64');
        const made = await session.client().call('POST /users/{username}/tokens', {
          path: { username: options.user ?? login },
          headers: { Authorization: `Basic ${basic}` },
          body: newToken(args.name, options),
        });
        return showNewToken(session, made);
      },
    }),
    delete: command({
      summary: 'revoke an access token',
      args: { token: { about: 'name or ID of the token' } },
      options: { user },
      examples: ['atrium token delete laptop --yes'],
      async run(session, { args, options }) {
        const username = await ownerOf(session, options.user);
        await confirm(session, `Revoke the token ${args.token} of ${username}?`);
        const path = { username, token: args.token };
        await session.client().call('DELETE /users/{username}/tokens/{token}', { path });
        return said(`revoked ${args.token}`);
      },
    }),
  },
};
