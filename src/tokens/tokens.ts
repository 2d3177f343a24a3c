import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Person, RobotIdentity } from '../identity/callers.ts';
import { readDelegation } from '../identity/tokens/delegated-token.ts';
import type { IssuedToken, TokenIssuer, TokenOrigin } from '../identity/tokens/token-issuer.ts';
import type { MaybeLimits } from '../identity/tokens/token-limits.ts';
import { findToken, readTokenRequest, type TokenDetails, type TokenRequest } from '../identity/tokens/token-request.ts';
import { type RotationRequest, type Rotator, successorEnd } from '../identity/tokens/token-rotation.ts';
import type { LimitReader, WantedLimits } from './limit-request.ts';
import { latestEnd, requireExpiry, type TokenPolicies, type TokenRules } from './token-policy.ts';

export interface TokenStore {
  personNamed(name: string): Promise<bigint | undefined>;
  /** Ordered by ID; does not include tokens of robots. */
  list(accountId: bigint): Promise<TokenDetails[]>;
  /** A token of a user or a robot. */
  get(id: bigint): Promise<TokenDetails | undefined>;
}

/** The caller and its rights: a token cannot create a token that may do more than itself. */
export interface TokenCaller {
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  /** When its own token expires, if it does. */
  readonly until: Date | null;
  readonly actor: Actor;
  /** What a token for an agent ends with, and when that ends in any case. */
  readonly origin: TokenOrigin & { readonly until: Date | null };
}

/** A token that asks about itself. */
export interface OwnToken {
  readonly id: bigint;
  readonly person: Person;
  /** The robot that the token is for. It belongs to the account of the organization. */
  readonly robot: RobotIdentity | undefined;
  readonly actor: Actor;
}

/** Tokens, and the rules of now that some of them may break. */
export interface ListedTokens {
  readonly tokens: readonly TokenDetails[];
  readonly rules: TokenRules;
}

/** A request for a token, with limits that are yet to be looked up. */
export type WantedToken = Omit<TokenRequest, 'limits'> & { readonly limits: WantedLimits | undefined };

interface TokensParts {
  readonly store: TokenStore;
  readonly issuer: TokenIssuer;
  readonly policies: TokenPolicies;
  readonly limits: LimitReader;
  readonly flushUsage: () => Promise<void>;
}

export type Tokens = ReturnType<typeof createTokens>;

/** Personal access tokens. Users manage their own; site administrators manage those of any user. */
export function createTokens({ store, issuer, policies, limits, flushUsage }: TokensParts) {
  return { list, create, delegate, remove, rotate, own, rotateOwn };

  async function list(caller: TokenCaller, username: string): Promise<ListedTokens> {
    const accountId = await ownerOf(caller, username);
    await flushUsage();
    return { tokens: await store.list(accountId), rules: await policies.rulesForUsers() };
  }

  async function create(
    caller: TokenCaller,
    username: string,
    wanted: WantedToken,
    now: Date,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    const accountId = await ownerOf(caller, username);
    await policies.requireCreator(caller.person);
    const asked = { ...wanted, limits: await limits.read(caller.person, wanted.limits) };
    const held = { held: caller.scopes, heldUntil: caller.until, heldLimits: caller.limits };
    const request = readTokenRequest(asked, { ...held, unsaid: ['all'], now });
    requireExpiry(await policies.rulesForUsers(), request.expiresAt, now);
    return await issuer.issue({ accountId, actor: caller.actor, ...request }, once);
  }

  /**
   * A token that users give to an agent, with less than they have, and never for another user: the audit log says that
   * the agent acts for the user who wanted it.
   */
  async function delegate(
    caller: TokenCaller,
    username: string,
    wanted: WantedToken,
    now: Date,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    const { person, actor, origin } = caller;
    if (actor.sudoBy || (await ownerOf(caller, username)) !== person.id) {
      const message = 'only the user can give a token of theirs to an agent';
      throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
    }
    await policies.requireCreator(person);
    // An agent never administers the site, so it reaches only the organizations that its user is in.
    const reached = await limits.read({ ...person, isAdmin: false }, wanted.limits);
    const asked = readDelegation({ ...wanted, limits: reached }, earliest(caller.until, origin.until), now);
    const held = { held: caller.scopes, heldUntil: caller.until, heldLimits: caller.limits };
    const request = readTokenRequest(asked, { ...held, unsaid: [], now });
    requireExpiry(await policies.rulesForUsers(), request.expiresAt, now);
    return await issuer.issue({ accountId: person.id, actor, origin, ...request }, once);
  }

  /** By ID, otherwise by name. */
  async function remove(caller: TokenCaller, username: string, idOrName: string): Promise<void> {
    const present = await store.list(await ownerOf(caller, username));
    await issuer.revoke(findToken(present, idOrName).id, caller.actor);
  }

  async function rotate(
    caller: TokenCaller,
    username: string,
    idOrName: string,
    asked: RotationRequest,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    const accountId = await ownerOf(caller, username);
    const { id } = findToken(await store.list(accountId), idOrName);
    await policies.requireCreator(caller.person);
    const rules = await policies.rulesForUsers();
    const { overlapMs } = asked;
    const decide = endOf(asked.expiresAt, { ...caller, isOwn: false }, rules);
    return await issuer.rotate(
      { id, accountId, robotId: null, overlapMs, actor: caller.actor, isOwn: false, decide },
      once,
    );
  }

  async function own({ id, robot }: OwnToken): Promise<ListedTokens> {
    await flushUsage();
    const token = await store.get(id);
    if (!token) throw new AppError('notFound', 'access token does not exist', { reason: 'token_not_found' });
    return { tokens: [token], rules: await rulesFor(robot) };
  }

  /** Nothing is asked for, because a leaked token must not get more than it has. */
  async function rotateOwn(
    { id, person, robot, actor }: OwnToken,
    overlapMs: number,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    if (robot === undefined) await policies.requireCreator(person);
    const by = { scopes: [], limits: undefined, until: null, isOwn: true };
    const decide = endOf(undefined, by, await rulesFor(robot));
    const about = { id, accountId: robot?.organization.id ?? person.id, robotId: robot?.id ?? null };
    return await issuer.rotate({ ...about, overlapMs, actor, isOwn: true, decide }, once);
  }

  async function rulesFor(robot: RobotIdentity | undefined): Promise<TokenRules> {
    if (robot === undefined) return await policies.rulesForUsers();
    return await policies.rulesForRobots(robot.organization.id);
  }

  async function ownerOf({ person }: TokenCaller, username: string): Promise<bigint> {
    if (username.toLowerCase() === person.login.toLowerCase()) return person.id;
    if (!person.isAdmin) {
      throw new AppError('forbidden', 'only the owner of the tokens and site administrators can call this route');
    }
    const id = await store.personNamed(username);
    if (id === undefined)
      throw new AppError('notFound', `user does not exist: ${username.slice(0, 60)}`, { reason: 'user_not_found' });
    return id;
  }
}

function earliest(one: Date | null, other: Date | null): Date | null {
  return one && other ? (one < other ? one : other) : (one ?? other);
}

/** The end of a successor. What was asked for must be within the rules; the usual end is cut off there. */
export function endOf(asked: RotationRequest['expiresAt'], by: Rotator, rules: TokenRules) {
  return (current: TokenDetails, now: Date): Date | null => {
    const end = successorEnd(current, asked, by, now);
    const settled = asked === undefined ? latestEnd(rules, end, now) : end;
    requireExpiry(rules, settled, now);
    return settled;
  };
}
