import type { FastifyRequest } from 'fastify';
import { AppError, type KeptFrom } from '../../base/errors.ts';
import type { Actor, OutsideToken } from '../../changes/audit-entry.ts';
import type { Organization, Person, RobotIdentity } from '../../identity/callers.ts';
import { type KUBE, PUBLIC_ONLY, SCIM, type Scope, type ScopeArea, type ScopeLevel } from '../../identity/scopes.ts';
import type { SessionMethod } from '../../identity/sessions/proof-kinds.ts';
import { reauthenticationNeeded } from '../../identity/sessions/reauthentication.ts';
import type { MaybeLimits } from '../../identity/tokens/token-limits.ts';

/** Who may call a route, in the words of the specification. Declared next to the path; feeds the documentation too. */
export type Access = { readonly who: 'anyone' } | { readonly who: 'webhook' } | SignedAccess;

export interface SignedAccess extends AccessOptions {
  readonly who: 'signedIn' | 'siteAdmin' | 'member' | 'holds';
  readonly area: ScopeArea;
  readonly robots: RobotAccess;
  /** With `holds`: the relation that the caller must hold, in the words of the specification. */
  readonly relation?: NamedRelation;
  /** What the caller must hold instead if the request asks about a past moment with `?at=`. */
  readonly inPast?: NamedRelation;
}

/** A relation and what it is held on, as the specification writes it: `view:role`. */
export type NamedRelation = `${string}:${string}`;

/**
 * Whether robots may call a route. Every route says so.
 *
 * - `never`: the route is about the account of a person, or administers the site.
 * - `as users`: a robot needs what a user needs. It passes where membership of its own organization is required.
 * - a relation: membership is enough for users. A robot is no member, so it needs this relation in addition.
 * - `of the owner`: also a robot of the account that owns the object, whatever it holds.
 * - `only`: no other caller may.
 */
export type RobotAccess = 'never' | 'as users' | 'of the owner' | 'only' | NamedRelation;

/** Queries the engine, and rejects a user who does not hold a relation. */
export interface Relations {
  /** In an organization; `id` is the object that the path names, if it names one. */
  require(person: Person, organizationId: bigint, relation: NamedRelation, id: string | undefined): Promise<void>;
  /**
   * On an object that is known only by its ID. Returns the ID of the owner. What is not reached does not exist for the
   * caller.
   */
  requireOn(
    person: Person,
    relation: NamedRelation,
    id: string,
    isReached: (object: KeptFrom) => boolean,
  ): Promise<bigint>;
  /** A user or robot was admitted because they are in the organization, so that counts as used. */
  noteMember(personId: bigint, organizationId: bigint): void;
  /** The owner of the object that a relation is about, if it exists. */
  ownerOf(relation: NamedRelation, id: string): Promise<bigint | undefined>;
}

interface AccessOptions {
  /** Where the request names its subject: an organization in `?org=` or as `/orgs/:org`, an object as `/teams/:id`. */
  readonly about?: 'query' | 'path' | 'object';
  /** For callers outside it, the organization of the path is forbidden, not missing: each one alike, known or not. */
  readonly isNamedOpenly?: boolean;
  /**
   * For proxies that pass the credential of their users on: no caller acts for another, and only callers are counted.
   */
  readonly isForProxies?: boolean;
  /** Only with a token in the header, never in a session, and never on behalf of another user. */
  readonly isTokenOnly?: boolean;
  /** The token may also be in the query. */
  readonly queryToken?: boolean;
  /** Only with Basic authentication, or in a session. */
  readonly basic?: boolean;
  /** What a token needs if the method does not imply it: a POST that only reads. */
  readonly level?: ScopeLevel;
  /** With `?dry_run=true`, the request writes nothing, so that a token which may read is enough. */
  readonly dryRun?: boolean;
  /** Shows every signed-in user the same, so that a public-only token is enough. */
  readonly isPublic?: boolean;
  /** The response lasts, so the caller can be admitted again while it does. */
  readonly lasts?: boolean;
  /**
   * In a session, the user must have proven lately who they are. Tokens are not concerned. What site administrators
   * change needs it in any case. `owners`: only if the request makes a user an owner, which the handler finds out.
   * `in person`: the proof is more than the token that the session was opened with, if its user has more.
   */
  readonly proven?: boolean | 'owners' | 'in person';
  /** A request without any credential passes, without a caller. One whose credential is not valid is rejected. */
  readonly orAnonymous?: boolean;
  /** Also for users who must add a second factor before anything else. */
  readonly enrolling?: boolean;
  /**
   * What a token needs, whatever the method and the area. `all`: the route hands out something that may do everything.
   * `any`: the route is about the token itself.
   */
  readonly scope?: 'all' | 'any' | typeof SCIM | typeof KUBE;
  /**
   * The handler finds the object and asks for the relation itself, for every caller whose credential is valid: it knows
   * how to do so without the database.
   */
  readonly checkedByHandler?: boolean;
  /** Requests of admitted callers are not counted by the rate limit: the handler has an allowance for them. */
  readonly hasOwnAllowance?: boolean;
  /**
   * How far a token with limits may call the route. By default, it must reach the object or the whole organization that
   * the route is about, and cannot call a route that is about neither. `filtered`: the handler looks at the limits
   * itself, and single objects of the organization are enough. `whole`: the route is about an object, but shows or
   * changes other members of the organization, too.
   */
  readonly limited?: 'filtered' | 'whole';
  /** Whether agents may call the route with a delegated token. By default, they may if the call only reads. */
  readonly delegates?: boolean;
}

export const anyone: Access = { who: 'anyone' };
export const webhook: Access = { who: 'webhook' };
export const signedIn = (
  area: ScopeArea,
  robots: Extract<RobotAccess, 'never' | 'as users'>,
  options: AccessOptions = {},
): Access => ({
  who: 'signedIn',
  area,
  robots,
  ...options,
});
export const siteAdmin = (area: ScopeArea, options: AccessOptions = {}): Access => ({
  who: 'siteAdmin',
  area,
  robots: 'never',
  ...options,
});
/** A member of the organization. With `as users`, the handler asks for what else is needed. */
export const member = (
  area: ScopeArea,
  robots: Extract<RobotAccess, 'as users' | NamedRelation>,
  options: AccessOptions = {},
): Access => ({
  who: 'member',
  area,
  robots,
  about: 'query',
  ...options,
});
/** A robot whose token has the scope `scim` and no other: an identity provider that provisions its organization. */
export const provisioner = (options: Pick<AccessOptions, 'level'> = {}): Access => ({
  who: 'signedIn',
  area: 'organization',
  robots: 'only',
  scope: SCIM,
  ...options,
});
/** A member who also holds the relation, on the object that the path names with `:id` or else on the organization. */
export const holds = (
  relation: NamedRelation,
  area: ScopeArea,
  options: { readonly inPast?: NamedRelation; readonly limited?: 'filtered'; readonly dryRun?: boolean } = {},
): Access => ({
  who: 'holds',
  area,
  robots: 'as users',
  relation,
  about: 'query',
  ...options,
});
/** A user who holds the relation on the organization of `/orgs/:org`. For users outside it, it does not exist. */
export const holdsIn = (
  relation: NamedRelation,
  area: ScopeArea,
  options: Pick<AccessOptions, 'proven'> & { readonly limited?: 'filtered' } = {},
): Access => ({
  who: 'holds',
  area,
  robots: 'as users',
  relation,
  about: 'path',
  ...options,
});
/** A user who holds the relation on the object of `/teams/:id`. For users who may not see it, it does not exist. */
export const holdsOn = (
  relation: NamedRelation,
  area: ScopeArea,
  options: Pick<AccessOptions, 'proven' | 'level' | 'scope'> & {
    robots?: 'of the owner' | 'never';
    limited?: 'whole';
  } = {},
): Access => ({
  who: 'holds',
  area,
  robots: 'as users',
  relation,
  about: 'object',
  ...options,
});

/** A robot that may review the cluster of `/clusters/:id`, for the agent in that cluster. Its handler checks that. */
export const clusterAgent: SignedAccess = {
  who: 'holds',
  area: 'authz',
  robots: 'only',
  relation: 'review:cluster',
  about: 'object',
  level: 'read',
  checkedByHandler: true,
};
/** The same for its API server, which asks about every request of its users. */
export const reviewer: SignedAccess = { ...clusterAgent, hasOwnAllowance: true };

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    caller: Caller | null;
    /** Who sent the request, also if they may not call the route; null on the fast path, where `caller` is set. */
    identified: Caller | null;
    /** On a route that `lasts`: the caller as of now, or the rejection. */
    readmit: (() => Promise<Caller>) | null;
  }
}

export interface CallerSession {
  readonly id: bigint;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** How the user last proved who they are, and when. */
  readonly method: SessionMethod;
  readonly provenAt: Date;
  /** From then on they must do so again, before anything sensitive. */
  readonly provenUntil: Date;
}

/** The user or robot behind a request, and how far the request may use their rights. */
export interface Caller {
  readonly person: Person;
  readonly via: 'token' | 'password' | 'session';
  readonly credentialKey: string;
  readonly scopes: readonly string[];
  /** What the token is limited to. Then `person` is in no other organization, and no site administrator. */
  readonly limits?: MaybeLimits;
  /** The owner of such a token, with all their rights. For admission only. */
  readonly owner?: Person;
  /** What a page of the session must repeat to change something. */
  readonly csrf?: string;
  /** The session that the request came with. */
  readonly session?: CallerSession;
  /** Set if the route asks for one. */
  readonly organization?: Organization;
  /** The account that owns the object which the route is about. */
  readonly ownerId?: bigint;
  /** The robot whose token was used. Then `person` is the robot, too, under its number (changes/principal.ts). */
  readonly robot?: RobotIdentity;
  /** The administrator who acts on behalf of this user, if one does. */
  readonly sudoBy?: Pick<Person, 'id' | 'login'>;
  /** The token that was used, or that the session was opened with. */
  readonly tokenId?: bigint;
  /** The outside token that the robot's token was issued for, if it was. */
  readonly outside?: OutsideToken;
  /** What the user calls the agent that acts for them with a delegated token, if one does. */
  readonly delegate?: string;
  /** When that token expires; null if it does not, or if there is none. Nothing that it creates outlives it. */
  readonly until: Date | null;
}

/** Whether the caller sees what is for site administrators. */
export function seesAsAdmin({ person, scopes }: Caller): boolean {
  return person.isAdmin && !scopes.includes(PUBLIC_ONLY);
}

/** Whether the caller sees what is for this user alone. */
export function seesAsSelf({ person, scopes }: Caller, id: bigint): boolean {
  return person.id === id && !scopes.includes(PUBLIC_ONLY);
}

/** The relation that a robot needs where membership is enough for users, if the route names one. */
export function relationOfRobot({ robot }: Pick<Caller, 'robot'>, { robots }: SignedAccess): NamedRelation | undefined {
  return robot === undefined ? undefined : relationIn(robots);
}

export function relationIn(robots: RobotAccess): NamedRelation | undefined {
  return robots === 'never' || robots === 'only' || robots === 'as users' || robots === 'of the owner'
    ? undefined
    : robots;
}

/** When the user of a session must have proven lately who they are. */
export type Proof = 'never' | 'always' | 'owners' | 'in person';

export function proofNeeded(access: Access, method: string): Proof {
  if (access.who === 'anyone' || access.who === 'webhook') return 'never';
  if (typeof access.proven === 'string') return access.proven;
  const isAdministration = access.who === 'siteAdmin' && levelOf(access, { method }) === 'write';
  return access.proven || isAdministration ? 'always' : 'never';
}

/** In a session whose user has not proven lately who they are, this throws. */
export function requireProven({ session }: Caller, now: Date): void {
  if (session !== undefined && session.provenUntil <= now) throw reauthenticationNeeded();
}

export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new AppError('internal', 'route has no signed-in caller');
  return request.caller;
}

/** The caller of a route that asks for an organization. */
export function callerIn(request: FastifyRequest): Caller & { readonly organization: Organization } {
  const caller = callerOf(request);
  if (!caller.organization) throw new AppError('internal', 'route has no organization');
  return caller as Caller & { readonly organization: Organization };
}

/** The account that owns the object of a route that is about one. */
export function ownerIn(request: FastifyRequest): bigint {
  const { ownerId } = callerOf(request);
  if (ownerId === undefined) throw new AppError('internal', 'route has no object');
  return ownerId;
}

export function actorOf(request: FastifyRequest): Actor {
  return actorFor(callerOf(request), request.id);
}

export function actorFor(caller: Caller, requestId: string): Actor {
  const { person, sudoBy, robot, outside, delegate, tokenId } = caller;
  if (robot !== undefined) return { id: person.id, name: robot.name, requestId, ...(outside && { via: outside }) };
  const actor = { id: person.id, name: person.login, requestId };
  if (delegate !== undefined && tokenId !== undefined) return { ...actor, via: { delegate, tokenId } };
  return sudoBy === undefined ? actor : { ...actor, sudoBy: { id: sudoBy.id, name: sudoBy.login } };
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/** Undefined if every token will do. */
export function neededScope(access: SignedAccess, request: Method): Scope | undefined {
  if (access.scope === 'any') return undefined;
  return access.scope ?? `${levelOf(access, request)}:${access.area}`;
}

/** The query as it was sent: what is not exactly `true` may mean anything to the route, so it is no dry run here. */
type Method = Pick<FastifyRequest, 'method'> & { readonly query?: unknown };

/** Whether a call only reads: the method says so, unless the route does. */
export function levelOf(access: SignedAccess, { method, query }: Method): ScopeLevel {
  const isDryRun = access.dryRun === true && (query as { dry_run?: unknown } | undefined)?.dry_run === 'true';
  return access.level ?? (isSafe(method) || isDryRun ? 'read' : 'write');
}
