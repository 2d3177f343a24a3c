import type { NewTokenInput } from '../../client/api.gen.ts';
import { wordOf } from '../../client/object-kinds.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { hoursIn, momentIn, shortTime } from '../moments.ts';
import { all, findObject } from '../names.ts';
import { type Columns, list, one, said, verbatim } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';

export interface TokenRow {
  readonly id: bigint;
  readonly name: string;
  readonly token_last_eight: string;
  readonly scopes: readonly string[];
  readonly last_used_at: string;
  readonly expires_at: string | null;
  readonly limits?: {
    readonly organizations: readonly { readonly name: string }[];
    readonly objects: readonly { readonly type: string; readonly name: string }[];
  };
  readonly delegated: boolean;
  readonly replaces?: bigint;
  readonly replaced_by?: bigint;
  readonly beyond_policy: readonly string[];
}
export const tokenColumns: Columns<TokenRow> = {
  id: (row) => row.id,
  name: (row) => row.name,
  'ends with': (row) => `…${row.token_last_eight}`,
  scopes: (row) => row.scopes,
  'last used': (row) => shortTime(row.last_used_at),
  expires: (row) => shortTime(row.expires_at),
  notes: notesOf,
};

/** The unusual properties of a token. */
function notesOf({ limits, delegated, replaces, replaced_by, beyond_policy }: TokenRow): string {
  const objects = limits?.objects.map(({ type, name }) => `${wordOf(type)}:${name}`) ?? [];
  const within = [...(limits?.organizations.map(({ name }) => name) ?? []), ...objects];
  return [
    ...(delegated ? ['for an agent'] : []),
    ...(limits ? [`only ${within.join(', ')}`] : []),
    ...(replaces === undefined ? [] : [`replaces ${replaces}`]),
    ...(replaced_by === undefined ? [] : [`replaced by ${replaced_by}`]),
    ...(beyond_policy.length > 0 ? [`breaks ${beyond_policy.join(', ')}`] : []),
  ].join('; ');
}

/** The options of a new token, shared with the tokens of robot accounts. */
export const newTokenOptions = {
  scope: { about: 'scope of the token, such as read:user; all by default', value: 'SCOPE', many: true },
  expires: { about: 'when it expires, such as 90d or 2027-01-31; in 30 days by default', value: 'WHEN' },
  never: { about: 'it does not expire' },
  'limit-org': { about: 'limit it to this organization', value: 'NAME', many: true, kind: 'org' },
  limit: { about: 'limit it to this object, such as cluster:prod', value: 'OBJECT', many: true, kind: 'object' },
  'can-rotate': { about: 'it may rotate itself' },
} as const;

export const rotationOptions = {
  overlap: { about: 'how long the old token goes on working, such as 90m or 7d; 24h by default', value: 'SPAN' },
  expires: { about: 'when the new token expires; by default, it gets the lifetime of the old one', value: 'WHEN' },
} as const;

interface NewTokenValues {
  readonly scope: readonly string[];
  readonly expires: string | undefined;
  readonly never: boolean;
  readonly 'limit-org': readonly string[];
  readonly limit: readonly string[];
  readonly 'can-rotate': boolean;
}

/** Whatever the user typed: the server says which scopes there are. */
export function asScopes(texts: readonly string[]): NonNullable<NewTokenInput['scopes']> {
  return texts as NonNullable<NewTokenInput['scopes']>;
}

interface NewTokenBody {
  readonly name: string;
  readonly scopes?: NonNullable<NewTokenInput['scopes']>;
  readonly expires_at?: string;
  readonly can_rotate?: boolean;
  readonly limits?: NonNullable<NewTokenInput['limits']>;
}

/** How long a new token works unless the user says otherwise. */
export const USUAL_LIFE = '30d';

/**
 * Creates a token that expires, unless the user wants one that does not. A token cannot outlive the one that creates it:
 * if the usual time is too long for that, the server chooses the end.
 */
export async function createToken<T>(
  session: Session,
  name: string,
  { scope, expires, never, limit, 'limit-org': organizations, 'can-rotate': canRotate }: NewTokenValues,
  create: (body: NewTokenBody) => Promise<T>,
): Promise<T> {
  if (never && expires !== undefined) throw misuse('--never cannot be combined with --expires');
  const isLimited = organizations.length + limit.length > 0;
  const limits = await limitsOf(session, organizations, limit);
  const body = {
    name,
    ...(scope.length > 0 && { scopes: asScopes(scope) }),
    ...(canRotate && { can_rotate: true }),
    ...(isLimited && { limits }),
  };
  if (never) return await create(body);
  try {
    return await create({ ...body, expires_at: momentIn(expires ?? USUAL_LIFE, 1) });
  } catch (error) {
    if (expires !== undefined || (error as { status?: unknown }).status !== 403) throw error;
    return await create(body);
  }
}

async function limitsOf(session: Session, organizations: readonly string[], limit: readonly string[]) {
  const found = await Promise.all(limit.map((text) => findObject(session, text)));
  const names = found.filter(({ type }) => type === 'organization').map((one) => one.name);
  const objects = found.filter(({ type }) => type !== 'organization').map(({ type, id }) => ({ type, id }));
  return { organizations: [...organizations, ...names], objects } as NonNullable<NewTokenInput['limits']>;
}

/** Writes only the token to standard output, so that it can be piped. */
export function showNewToken(session: Session, made: TokenRow & { readonly sha1: string }) {
  if (session.format === 'text' || session.format === 'wide') {
    const end = made.expires_at === null ? 'it does not expire' : `it expires at ${shortTime(made.expires_at)}`;
    session.screen.note(`The token, shown only once; ${end}:`);
  }
  return verbatim(made.sha1, made);
}

/** What a rotation is asked with. */
export function rotationOf({
  overlap,
  expires,
}: {
  readonly overlap?: string | undefined;
  readonly expires?: string | undefined;
}) {
  return {
    ...(overlap !== undefined && { overlap_hours: hoursIn(overlap) }),
    ...(expires !== undefined && { expires_at: momentIn(expires, 1) }),
  };
}

/** Says until when both tokens work. */
export function showSuccessor(session: Session, made: TokenRow & { readonly sha1: string }, overlap = '24h') {
  if (session.format === 'text' || session.format === 'wide') {
    const until = momentIn(overlap, 1).replace(/\.\d+Z$/, 'Z');
    session.screen.note(`Token ${made.replaces} works until ${shortTime(until)}, unless it expires before.`);
  }
  return showNewToken(session, made);
}

const user = {
  about: 'for site administrators: owner of the tokens; you by default',
  value: 'USER',
  kind: 'user',
} as const;

async function ownerOf(session: Session, given: string | undefined): Promise<string> {
  return given ?? (await session.client().call('GET /user')).login;
}

interface PolicyRow {
  readonly max_days: number | null;
  readonly expiry_required: boolean;
  readonly may_create?: boolean;
  readonly personal_tokens?: string;
}
const policyColumns: Columns<PolicyRow> = {
  'maximum days': (row) => row.max_days ?? 'any',
  'must expire': (row) => (row.expiry_required || row.max_days !== null ? 'yes' : 'no'),
  creators: (row) => row.personal_tokens ?? (row.may_create ? 'you may create tokens' : 'you may not create tokens'),
};

/** The new token is kept before it is shown: the old one ends anyway. */
async function rotateOwn(
  session: Session,
  options: {
    readonly overlap: string | undefined;
    readonly expires: string | undefined;
    readonly user: string | undefined;
  },
) {
  if (options.expires !== undefined || options.user !== undefined) {
    throw misuse('--expires and --user need the name of a token');
  }
  const old = session.token();
  const made = await session
    .client()
    .call('POST /user/token/rotate', { body: rotationOf({ overlap: options.overlap }) });
  const current = session.context();
  if (current?.context.token === old) {
    const config = session.config();
    const context = { ...current.context, token: made.sha1 };
    session.saveConfig({ ...config, contexts: { ...config.contexts, [current.name]: context } });
    session.screen.note(`The context ${current.name} uses the new token now.`);
  }
  return showSuccessor(session, made, options.overlap);
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
        const made = await createToken(session, args.name, options, (body) =>
          session.client().call('POST /users/{username}/tokens', {
            path: { username: options.user ?? login },
            headers: { Authorization: `Basic ${basic}` },
            body,
          }),
        );
        return showNewToken(session, made);
      },
    }),
    delegate: command({
      summary: 'create a token for an agent that acts for you for an hour, and show it once',
      details:
        'The agent reads what you may read in the organization, or of the objects that you name. With --ask, it also ' +
        'asks for access in your name. It changes and approves nothing, and the audit log shows both of you. ' +
        'The token ends within the hour, with the token that you are signed in with, or by: atrium token delete NAME',
      args: { name: { about: 'name of the agent' } },
      options: {
        ask: { about: 'it may ask for access' },
        expires: { about: 'when it ends, such as 20m; in an hour by default', value: 'WHEN' },
        'limit-org': newTokenOptions['limit-org'],
        limit: newTokenOptions.limit,
      },
      examples: [
        'atrium token delegate assistant',
        'atrium token delegate assistant --ask --expires 20m',
        'atrium token delegate watcher --limit cluster:prod',
      ],
      async run(session, { args, options }) {
        const { login } = await session.client().call('GET /user');
        const isNamed = options['limit-org'].length + options.limit.length > 0;
        const limits = await limitsOf(session, isNamed ? options['limit-org'] : [session.org()], options.limit);
        const basic = Buffer.from(`${login}:${session.token()}`).toString('base64');
        const scopes = ['read:authz', 'read:organization', ...(options.ask ? ['write:authz'] : [])];
        const made = await session.client().call('POST /users/{username}/tokens', {
          path: { username: login },
          headers: { Authorization: `Basic ${basic}` },
          body: {
            ...{ name: args.name, delegated: true, scopes: asScopes(scopes), limits },
            ...(options.expires !== undefined && { expires_at: momentIn(options.expires, 1) }),
          },
        });
        return showNewToken(session, made);
      },
    }),
    rotate: command({
      summary: 'replace an access token; the old one works for a while longer',
      details:
        'Without a name, the token that you are signed in with replaces itself, if it was created with --can-rotate. ' +
        'If it is that of the context, the context gets the new one.',
      args: { token: { about: 'name or ID of the token', optional: true } },
      options: { ...rotationOptions, user },
      examples: ['atrium token rotate server', 'atrium token rotate server --overlap 2h', 'atrium token rotate'],
      async run(session, { args, options }) {
        if (args.token === undefined) return await rotateOwn(session, options);
        const { login } = await session.client().call('GET /user');
        const basic = Buffer.from(`${login}:${session.token()}`).toString('base64');
        const made = await session.client().call('POST /users/{username}/tokens/{token}/rotate', {
          path: { username: options.user ?? login, token: args.token },
          headers: { Authorization: `Basic ${basic}` },
          body: rotationOf(options),
        });
        return showSuccessor(session, made, options.overlap);
      },
    }),
    policy: command({
      summary: 'show the rules for new access tokens, or change those of the deployment',
      details: 'What is left out is not restricted any more. Existing tokens stay as they are.',
      options: {
        'max-days': { about: 'for site administrators: tokens expire within this number of days', value: 'N' },
        'require-expiry': { about: 'for site administrators: tokens must expire' },
        creators: {
          about: 'for site administrators: who may create personal tokens',
          value: 'WHO',
          choices: ['everyone', 'members', 'administrators'],
        },
        unrestricted: { about: 'for site administrators: no rules' },
      },
      examples: ['atrium token policy', 'atrium token policy --max-days 90 --creators members'],
      async run(session, { options }) {
        const days = options['max-days'];
        const isSet = days !== undefined || options['require-expiry'] || options.creators !== undefined;
        if (isSet && options.unrestricted) throw misuse('--unrestricted cannot be combined with rules');
        if (!isSet && !options.unrestricted) {
          return one(await session.client().call('GET /user/token_policy'), policyColumns);
        }
        const body = {
          ...(days !== undefined && { max_days: Number(days) }),
          ...(options['require-expiry'] && { expiry_required: true }),
          ...(options.creators !== undefined && { personal_tokens: options.creators }),
        };
        return one(await session.client().call('PUT /admin/token_policy', { body }), policyColumns);
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
