import { hash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { OutsideToken } from '../changes/audit-entry.ts';
import { createExactCache, type Loaded } from '../changes/exact-cache.ts';
import type { Done, Revisions } from '../changes/revision.ts';
import { verifyAbsentPassword, verifyPassword } from './passwords/passwords.ts';
import type { FactorKind, SessionMethod } from './sessions/proof-kinds.ts';
import type { LivingSession, SessionLiveness } from './sessions/session-liveness.ts';
import type { MaybeLimits, TokenLimits } from './tokens/token-limits.ts';
import { hashSecret, isTokenText } from './tokens/token-text.ts';

export type Permission = 'none' | 'read' | 'write' | 'admin' | 'owner';

/**
 * A user as the server knows them, with the organizations that they are in. A robot, too: its ID is the number of
 * changes/principal.ts, and it passes the gate of its own organization, without being a member.
 */
export interface Person {
  readonly id: bigint;
  readonly login: string;
  readonly fullName: string;
  readonly email: string;
  readonly language: string;
  readonly location: string;
  readonly website: string;
  readonly description: string;
  readonly isAdmin: boolean;
  readonly active: boolean;
  readonly prohibitLogin: boolean;
  readonly lastLoginAt: Date | null;
  readonly createdAt: Date;
  readonly passwordHash: string | null;
  /** Organization → the highest permission among the user's teams there. */
  readonly organizations: ReadonlyMap<bigint, Permission>;
  readonly inClientOrganization: boolean;
  /** What the user has besides a password. If there is any, the password alone is not enough. */
  readonly secondFactors: readonly FactorKind[];
}

export interface TokenGrant {
  readonly person: Person;
  readonly tokenId: bigint;
  /** The robot that the token is for. Then `person` is the robot, too. */
  readonly robot: RobotIdentity | null;
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  readonly expiresAt: Date | null;
  /** The outside token that it was issued for, if it was. */
  readonly outside?: OutsideToken;
  /** What the user calls the agent that they gave the token to, if they did. */
  readonly delegate?: string;
}

/** A robot, and the organization that it works for. */
export interface RobotIdentity {
  readonly id: bigint;
  readonly name: string;
  readonly organization: Organization;
}

export interface SessionGrant extends LivingSession {
  readonly person: Person;
  readonly csrf: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** How the user last proved who they are, and when. */
  readonly method: SessionMethod;
  readonly provenAt: Date;
  /** The token that opened the session, if one did. */
  readonly token: { readonly id: bigint; readonly expiresAt: Date | null } | null;
}

export interface Organization {
  readonly id: bigint;
  readonly name: string;
}

export interface CallerStore {
  byToken(hash: Buffer): Promise<Loaded<TokenGrant>>;
  bySession(hash: Buffer): Promise<Loaded<SessionGrant>>;
  /** By login name, or by a verified email address. */
  byLogin(login: string): Promise<Loaded<Person>>;
  byId(id: bigint): Promise<Loaded<Person>>;
  byTokenId(id: bigint): Promise<Loaded<TokenGrant>>;
  bySessionId(id: bigint): Promise<Loaded<SessionGrant>>;
  organization(name: string): Promise<Loaded<Organization>>;
}

type Guard = (look: () => Promise<TokenGrant>) => Promise<TokenGrant>;

export type Callers = ReturnType<typeof createCallers>;

const MAX_REMEMBERED = 50_000;
/** A login name or an email address; anything else would only burden the database. */
const PLAUSIBLE_NAME = /^[\x20-\x7e]{1,254}$/;

/**
 * Turns a credential into the user behind it. Each method that takes a credential waits for the current revision, so
 * from then on everything that is remembered is exact for the request: nothing later in the request needs to wait
 * again.
 */
export function createCallers(
  store: CallerStore,
  revisions: Omit<Revisions, 'write' | 'writes' | 'queries' | 'prune' | 'addExpirer'>,
  key: Buffer,
  hasPasswords = true,
  liveness: Pick<SessionLiveness, 'isAlive'> = { isAlive: async () => true },
) {
  // Tokens are not kept here in clear text: a plain fast hash of 160 random bits identifies a token just as well.
  const tokens = createExactCache<TokenGrant>({
    revisions,
    load: (text) => store.byToken(Buffer.from(text, 'base64')),
    // A change of a robot names its organization.
    dependsOn: (grant) => [grant.robot?.organization.id ?? grant.person.id],
    max: MAX_REMEMBERED,
  });
  const keyed = new Map<string, string>();
  const sessions = createExactCache<SessionGrant>({
    revisions,
    load: (text) => store.bySession(Buffer.from(text, 'base64')),
    dependsOn: (grant) => [grant.person.id],
    max: MAX_REMEMBERED,
  });
  // What a credential for something else was made with: it ends with that.
  const tokensById = createExactCache<TokenGrant>({
    revisions,
    load: (id) => store.byTokenId(BigInt(id)),
    dependsOn: (grant) => [grant.robot?.organization.id ?? grant.person.id],
    max: MAX_REMEMBERED,
  });
  const sessionsById = createExactCache<SessionGrant>({
    revisions,
    load: (id) => store.bySessionId(BigInt(id)),
    dependsOn: (grant) => [grant.person.id],
    max: MAX_REMEMBERED,
  });
  const logins = createExactCache<Person>({
    revisions,
    load: (login) => store.byLogin(login),
    dependsOn: (person) => [person.id],
    max: MAX_REMEMBERED,
  });
  const organizations = createExactCache<Organization>({
    revisions,
    load: (name) => store.organization(name),
    dependsOn: (organization) => [organization.id],
    max: MAX_REMEMBERED,
  });

  return {
    byToken,
    bySession,
    byPassword,
    tokenWithId,
    sessionWithId,
    personNamed,
    rememberedPerson,
    personSigningIn,
    personWithId,
    organizationNamed,
    tokenName,
    /** For code that does not need a promise: from the callback on, what is remembered is exact for the request. */
    whenCurrent: (done: Done) => revisions.whenCurrent(done),
    rememberedToken: tokens.remembered,
    rememberedOrganization,
  };

  /** `guarded` wraps the lookup in the store, which happens only for a token that is not remembered. */
  async function byToken(text: string, now: Date, guarded: Guard = (look) => look()): Promise<TokenGrant> {
    const name = tokenName(text);
    if (name === undefined) throw wrongCredential();
    await revisions.current();
    const grant = tokens.remembered(name) ?? (await guarded(() => lookUp(name)));
    if (grant.expiresAt && grant.expiresAt <= now) throw wrongCredential();
    return grant;
  }

  async function lookUp(name: string): Promise<TokenGrant> {
    const grant = await tokens.get(name);
    if (!grant) throw wrongCredential();
    return grant;
  }

  async function bySession(text: string, now: Date): Promise<SessionGrant> {
    await revisions.current();
    const grant = await sessions.get(hashSecret(key, text).toString('base64'));
    if (!grant || grant.expiresAt <= now || !(await liveness.isAlive(grant, now))) throw wrongCredential();
    return grant;
  }

  /** `address` is where the password came from. */
  async function byPassword(login: string, password: string, address?: string): Promise<Person> {
    if (!hasPasswords) throw passwordsOff();
    await revisions.current();
    const person = PLAUSIBLE_NAME.test(login) ? await logins.get(login.trim().toLowerCase()) : undefined;
    const right = person?.passwordHash
      ? await verifyPassword(password, person.passwordHash, address)
      : await verifyAbsentPassword(password, address);
    if (!person || !right) throw wrongCredential();
    return person;
  }

  /** For a request whose caller is known already. Undefined if the token is gone or has expired. */
  async function tokenWithId(id: bigint, now: Date): Promise<TokenGrant | undefined> {
    const key = String(id);
    const grant = tokensById.remembered(key) ?? (await tokensById.get(key));
    return grant?.expiresAt && grant.expiresAt <= now ? undefined : grant;
  }

  /** For a request whose caller is known already. Undefined if the session has ended. */
  async function sessionWithId(id: bigint, now: Date): Promise<SessionGrant | undefined> {
    const key = String(id);
    const grant = sessionsById.remembered(key) ?? (await sessionsById.get(key));
    const isAlive = grant && grant.expiresAt > now && (await liveness.isAlive(grant, now));
    return isAlive ? grant : undefined;
  }

  /** Without waiting, if the user is known. */
  function rememberedPerson(name: string): Person | undefined {
    const person = logins.remembered(name.toLowerCase());
    return person?.login.toLowerCase() === name.toLowerCase() ? person : undefined;
  }

  /** For a request whose caller is known already; by login name only. */
  async function personNamed(name: string): Promise<Person | undefined> {
    const login = name.toLowerCase();
    const person = PLAUSIBLE_NAME.test(login) ? await logins.get(login) : undefined;
    return person?.login.toLowerCase() === login ? person : undefined;
  }

  /** For a request whose caller is not known yet, but whose user proves themselves in another way. */
  async function personSigningIn(name: string): Promise<Person | undefined> {
    await revisions.current();
    return await personNamed(name);
  }

  /** For a request whose caller is not known yet, but whom a provider has proven to own this account. */
  async function personWithId(id: bigint): Promise<Person | undefined> {
    return (await store.byId(id)).value;
  }

  /** For a request whose caller is known already. */
  async function organizationNamed(name: string): Promise<Organization | undefined> {
    // Characters beyond ASCII can turn into ASCII when their case is changed.
    return PLAUSIBLE_NAME.test(name) ? await organizations.get(name.toLowerCase()) : undefined;
  }

  /** Most requests write the name as it is remembered, so it is looked up before it is checked. */
  function rememberedOrganization(name: string): Organization | undefined {
    const known = organizations.remembered(name);
    return known ?? (PLAUSIBLE_NAME.test(name) ? organizations.remembered(name.toLowerCase()) : undefined);
  }

  /**
   * The name of a token in memory and in the store; undefined for a text that cannot be a token. The keyed hash takes
   * ten times as long as the plain one, so it is computed once for each token in use.
   */
  function tokenName(text: string): string | undefined {
    if (!isTokenText(text)) return undefined;
    const plain = hash('sha256', text, 'base64');
    let stored = keyed.get(plain);
    if (stored === undefined) {
      stored = hashSecret(key, text).toString('base64');
      if (keyed.size >= MAX_REMEMBERED) keyed.clear();
      keyed.set(plain, stored);
    }
    return stored;
  }
}

/** Not a wrong credential: trying reveals nothing. */
export function passwordsOff(): AppError {
  const message = 'passwords are turned off on this deployment: sign in with a provider, or use a token';
  return new AppError('forbidden', message, { reason: 'passwords_off' });
}

export function wrongCredential(): AppError {
  return new AppError('unauthenticated', 'invalid username, password or token');
}

/** Rejects an account that may not be used, although the credential is right. */
export function rejectUnusable(person: Pick<Person, 'active' | 'prohibitLogin'>): void {
  if (!person.active) throw new AppError('forbidden', 'This account is not activated.');
  if (person.prohibitLogin) {
    const advice = 'please contact your site administrator';
    throw new AppError('forbidden', `This account is prohibited from signing in, ${advice}.`);
  }
}

/**
 * The owner of a token with limits, as far as the token reaches: in no other organization, and not a site administrator.
 * A site administrator is a member everywhere, and so in each of the organizations.
 */
export function personWithin(person: Person, limits: TokenLimits): Person {
  const within = limits.organizations.flatMap(({ id }): [bigint, Permission][] => {
    const permission = person.organizations.get(id) ?? (person.isAdmin ? 'none' : undefined);
    return permission === undefined ? [] : [[id, permission]];
  });
  return { ...person, isAdmin: false, organizations: new Map(within) };
}
