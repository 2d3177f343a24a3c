import type { NewTokenInput } from '../../client/api.gen.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
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
  expires: { about: 'when it expires, such as 90d or 2027-01-31; in 30 days by default', value: 'WHEN' },
  never: { about: 'it does not expire' },
} as const;

interface NewTokenValues {
  readonly scope: readonly string[];
  readonly expires: string | undefined;
  readonly never: boolean;
}

/** Whatever the user typed: the server says which scopes there are. */
export function asScopes(texts: readonly string[]): NonNullable<NewTokenInput['scopes']> {
  return texts as NonNullable<NewTokenInput['scopes']>;
}

interface NewTokenBody {
  readonly name: string;
  readonly scopes?: NonNullable<NewTokenInput['scopes']>;
  readonly expires_at?: string;
}

const USUAL_LIFE = '30d';

/**
 * Creates a token that expires, unless the user wants one that does not. A token cannot outlive the one that creates it:
 * if the usual time is too long for that, the server chooses the end.
 */
export async function createToken<T>(
  name: string,
  { scope, expires, never }: NewTokenValues,
  create: (body: NewTokenBody) => Promise<T>,
): Promise<T> {
  if (never && expires !== undefined) throw misuse('--never cannot be combined with --expires');
  const body = { name, ...(scope.length > 0 && { scopes: asScopes(scope) }) };
  if (never) return await create(body);
  try {
    return await create({ ...body, expires_at: momentIn(expires ?? USUAL_LIFE, 1) });
  } catch (error) {
    if (expires !== undefined || (error as { status?: unknown }).status !== 403) throw error;
    return await create(body);
  }
}

/** Writes only the token to standard output, so that it can be piped. */
export function showNewToken(session: Session, made: TokenRow & { readonly sha1: string }) {
  if (session.format === 'text' || session.format === 'wide') {
    const end = made.expires_at === null ? 'it does not expire' : `it expires at ${shortTime(made.expires_at)}`;
    session.screen.note(`The token, shown only once; ${end}:`);
  }
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
      watch: { ignore: ['last_used_at'] },
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
        'atrium token create server --never',
        'atrium token create backup --scope read:user --scope read:authz --expires 90d',
      ],
      async run(session, { args, options }) {
        const { login } = await session.client().call('GET /user');
        // The server creates tokens only with Basic authentication, which accepts a token instead of the password.
        const basic = Buffer.from(`${login}:${session.token()}`).toString('base64');
        const made = await createToken(args.name, options, (body) =>
          session.client().call('POST /users/{username}/tokens', {
            path: { username: options.user ?? login },
            headers: { Authorization: `Basic ${basic}` },
            body,
          }),
        );
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
