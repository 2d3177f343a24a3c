import type { Person } from '../directory/callers.ts';
import { SCOPES, scopesCover } from '../directory/scopes.ts';
import type { Tokens } from '../directory/tokens.ts';
import { AppError } from '../errors.ts';

export interface TokenDetails {
  readonly id: bigint;
  readonly name: string;
  readonly lastEight: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
}

export interface AccessTokenStore {
  personNamed(name: string): Promise<bigint | undefined>;
  /** By id; tokens of robot accounts are not among them. */
  list(accountId: bigint): Promise<TokenDetails[]>;
}

/** Who asks, and with which rights: a token can make no token that may do more than itself. */
export interface TokenCaller {
  readonly person: Person;
  readonly scopes: readonly string[];
}

export interface NewAccessToken {
  readonly name: string;
  readonly scopes: readonly string[] | undefined;
  readonly expiresAt: Date | null;
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;

const MOST_NAME = 255;

/** Personal access tokens, for oneself, or for anybody by a site administrator. */
export function createAccessTokens(store: AccessTokenStore, tokens: Tokens, flushUsage: () => Promise<void>) {
  return { list, create, remove };

  async function list(caller: TokenCaller, username: string): Promise<TokenDetails[]> {
    const accountId = await ownerOf(caller, username);
    await flushUsage();
    return await store.list(accountId);
  }

  async function create(caller: TokenCaller, username: string, wanted: NewAccessToken, now: Date) {
    const accountId = await ownerOf(caller, username);
    const name = wanted.name.trim();
    if (name === '' || [...name].length > MOST_NAME) throw fault('name', `name must have 1 to ${MOST_NAME} characters`);
    const scopes = readScopes(wanted.scopes ?? ['all']);
    if (!scopesCover(caller.scopes, scopes)) {
      throw new AppError(
        'forbidden',
        'cannot create an access token with a broader scope than the authenticating token',
      );
    }
    if (wanted.expiresAt && wanted.expiresAt <= now) throw fault('expires_at', 'expires_at must be in the future');
    const { id, text } = await tokens.issue({ accountId, name, scopes, expiresAt: wanted.expiresAt });
    const made = (await store.list(accountId)).find((token) => token.id === id);
    if (!made) throw new AppError('internal', 'the token was removed while it was made');
    return { ...made, text };
  }

  /** By id, or else by name. */
  async function remove(caller: TokenCaller, username: string, idOrName: string): Promise<void> {
    const present = await store.list(await ownerOf(caller, username));
    const found = present.find(({ id }) => String(id) === idOrName) ?? present.find(({ name }) => name === idOrName);
    if (!found) throw new AppError('notFound', 'access token does not exist');
    await tokens.revoke(found.id);
  }

  async function ownerOf({ person }: TokenCaller, username: string): Promise<bigint> {
    if (username.toLowerCase() === person.login.toLowerCase()) return person.id;
    if (!person.isAdmin) {
      throw new AppError('forbidden', 'doer should be the site admin or be same as the contextUser');
    }
    const id = await store.personNamed(username);
    if (id === undefined) throw new AppError('notFound', `user does not exist: ${username.slice(0, 60)}`);
    return id;
  }
}

/** Known ones, each once, without those that another one includes. */
function readScopes(scopes: readonly string[]): string[] {
  if (scopes.length === 0) throw fault('scopes', 'access token must have a scope');
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope));
  if (unknown.length > 0) {
    throw new AppError('invalid', `invalid access token scope provided: ${unknown.join(', ').slice(0, 200)}`);
  }
  if (scopes.includes('all')) return ['all'];
  return SCOPES.filter(
    (one) => scopes.includes(one) && !(one.startsWith('read:') && scopes.includes(one.replace('read:', 'write:'))),
  );
}

function fault(field: string, message: string): AppError {
  return new AppError('malformed', message, { errors: [{ field, message }] });
}
