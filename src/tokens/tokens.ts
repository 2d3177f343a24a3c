import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Person } from '../identity/callers.ts';
import type { IssuedToken, TokenIssuer } from '../identity/token-issuer.ts';
import { findToken, readTokenRequest, type TokenDetails, type TokenRequest } from '../identity/token-request.ts';

export interface TokenStore {
  personNamed(name: string): Promise<bigint | undefined>;
  /** Ordered by ID; does not include tokens of robots. */
  list(accountId: bigint): Promise<TokenDetails[]>;
}

/** The caller and its rights: a token cannot create a token that may do more than itself. */
export interface TokenCaller {
  readonly person: Person;
  readonly scopes: readonly string[];
  /** When its own token expires, if it does. */
  readonly until: Date | null;
  readonly actor: Actor;
}

export type Tokens = ReturnType<typeof createTokens>;

/** Personal access tokens. Users manage their own; site administrators manage those of any user. */
export function createTokens(store: TokenStore, issuer: TokenIssuer, flushUsage: () => Promise<void>) {
  return { list, create, remove };

  async function list(caller: TokenCaller, username: string): Promise<TokenDetails[]> {
    const accountId = await ownerOf(caller, username);
    await flushUsage();
    return await store.list(accountId);
  }

  async function create(
    caller: TokenCaller,
    username: string,
    wanted: TokenRequest,
    now: Date,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    const accountId = await ownerOf(caller, username);
    const request = readTokenRequest(wanted, { held: caller.scopes, heldUntil: caller.until, unsaid: ['all'], now });
    return await issuer.issue({ accountId, actor: caller.actor, ...request }, once);
  }

  /** By ID, otherwise by name. */
  async function remove(caller: TokenCaller, username: string, idOrName: string): Promise<void> {
    const present = await store.list(await ownerOf(caller, username));
    await issuer.revoke(findToken(present, idOrName).id, caller.actor);
  }

  async function ownerOf({ person }: TokenCaller, username: string): Promise<bigint> {
    if (username.toLowerCase() === person.login.toLowerCase()) return person.id;
    if (!person.isAdmin) {
      throw new AppError('forbidden', 'doer should be the site admin or be same as the contextUser');
    }
    const id = await store.personNamed(username);
    if (id === undefined)
      throw new AppError('notFound', `user does not exist: ${username.slice(0, 60)}`, { reason: 'user_not_found' });
    return id;
  }
}
