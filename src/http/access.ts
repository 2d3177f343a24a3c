import type { FastifyRequest } from 'fastify';
import type { Actor } from '../directory/audit.ts';
import { type Callers, type Organization, type Person, refuseUnusable, type TokenGrant } from '../directory/callers.ts';
import { type Scope, type ScopeArea, type ScopeLevel, scopesAllow } from '../directory/scopes.ts';
import type { TokenUsage } from '../directory/token-usage.ts';
import { AppError } from '../errors.ts';
import type { Brake } from './brake.ts';
import { type Credential, isBasic, readCredential } from './credential.ts';

/** Who may call a route, in the words of the specification. Stands beside the path, feeds the documentation too. */
export type Access = { readonly who: 'anyone' } | { readonly who: 'webhook' } | SignedAccess;

export interface SignedAccess extends AccessOptions {
  readonly who: 'signedIn' | 'siteAdmin' | 'member' | 'holds';
  readonly area: ScopeArea;
  /** With `holds`: the relation that the caller must hold, in the words of the specification. */
  readonly relation?: NamedRelation;
}

/** A relation and what it is held on, as the specification writes it: `view:role`. */
export type NamedRelation = `${string}:${string}`;

/** Asks the engine, and refuses a person who does not hold a relation. */
export interface Relations {
  /** In an organization; `id` is the object that the path names, if it names one. */
  require(person: Person, organizationId: bigint, relation: NamedRelation, id: string | undefined): Promise<void>;
  /** On an object that is known by its ID alone; answers whose it is. */
  requireOn(person: Person, relation: NamedRelation, id: string): Promise<bigint>;
  /** Whose the object is that a relation is asked about, if it exists. */
  ownerOf(relation: NamedRelation, id: string): Promise<bigint | undefined>;
}

interface AccessOptions {
  /** Where the request says what it is about: an organization in `?org=` or as `/orgs/:org`, an object as `/teams/:id`. */
  readonly about?: 'query' | 'path' | 'object';
  /** Robot accounts may call this about what their own organization owns, whatever relation people need. */
  readonly robots?: boolean;
  /** The token may also stand in the query. */
  readonly queryToken?: boolean;
  /** Only with Basic authentication. */
  readonly basic?: boolean;
  /** What a token needs when the method does not say it: a POST that only reads. */
  readonly level?: ScopeLevel;
}

export const anyone: Access = { who: 'anyone' };
export const webhook: Access = { who: 'webhook' };
export const signedIn = (area: ScopeArea, options: AccessOptions = {}): Access => ({
  who: 'signedIn',
  area,
  ...options,
});
export const siteAdmin = (area: ScopeArea): Access => ({ who: 'siteAdmin', area });
export const member = (area: ScopeArea, options: AccessOptions = {}): Access => ({
  who: 'member',
  area,
  about: 'query',
  ...options,
});
/** A member who also holds the relation, on the object that the path names with `:id` or else on the organization. */
export const holds = (relation: NamedRelation, area: ScopeArea): Access => ({
  who: 'holds',
  area,
  relation,
  about: 'query',
});
/** Who holds the relation on the organization of `/orgs/:org`. It does not exist for those who are not in it. */
export const holdsIn = (relation: NamedRelation, area: ScopeArea): Access => ({
  who: 'holds',
  area,
  relation,
  about: 'path',
});
/** Who holds the relation on the object of `/teams/:id`. It does not exist for those who may not see it. */
export const holdsOn = (relation: NamedRelation, area: ScopeArea, options: { robots?: boolean } = {}): Access => ({
  who: 'holds',
  area,
  relation,
  about: 'object',
  ...options,
});

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** The person behind a request, and how far the request may use their rights. */
export interface Caller {
  readonly person: Person;
  readonly via: 'token' | 'password' | 'session';
  readonly credentialKey: string;
  readonly scopes: readonly string[];
  /** What the page of a session must repeat to change something. */
  readonly csrf?: string;
  /** Where the route asks for one. */
  readonly organization?: Organization;
  /** The account that owns the object which the route is about. */
  readonly ownerId?: bigint;
  /** The robot account whose token was shown; then `person` is the organization that it works for. */
  readonly robotId?: bigint;
  /** The administrator who acts in this person's name, if one does. */
  readonly onBehalf?: string;
}

export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new AppError('internal', 'route has no signed-in caller');
  return request.caller;
}

/** The caller of a route that asks for an organization. */
export function callerIn(request: FastifyRequest): Caller & { readonly organization: Organization } {
  const caller = callerOf(request);
  if (!caller.organization) throw new AppError('internal', 'route has no organization');
  return { ...caller, organization: caller.organization };
}

/** The account that owns the object of a route that is about one. */
export function ownerIn(request: FastifyRequest): bigint {
  const { ownerId } = callerOf(request);
  if (ownerId === undefined) throw new AppError('internal', 'route is about no object');
  return ownerId;
}

export function actorOf(request: FastifyRequest): Actor {
  const { person, onBehalf, robotId } = callerOf(request);
  if (robotId !== undefined)
    return { id: person.id, name: `robot ${robotId} of ${person.login}`, requestId: request.id };
  const name = onBehalf === undefined ? person.login : `${onBehalf} as ${person.login}`;
  return { id: person.id, name, requestId: request.id };
}

interface Options {
  readonly callers: Callers;
  readonly relations: Relations;
  readonly usage: Pick<TokenUsage, 'note'>;
  readonly brake: Brake;
  readonly queryTokens: boolean;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The one place that turns a credential into a caller, or refuses. */
export function createAdmission({ callers, relations, usage, brake, queryTokens }: Options) {
  return async function admit(request: FastifyRequest): Promise<void> {
    const access = request.routeOptions.config?.access;
    if (!access || access.who === 'anyone' || access.who === 'webhook') return;
    const credential = readCredential(request, queryTokens && access.queryToken === true);
    if (access.basic && credential.kind !== 'none' && !isBasic(credential)) {
      throw new AppError('unauthenticated', 'this call needs Basic authentication');
    }
    const shown = await identify(credential, request, access);
    refuseUnusable(shown.person);
    refuseNarrowToken(shown, access, request.method);
    const other = (request.query as { sudo?: unknown }).sudo ?? request.headers.sudo;
    const caller = other === undefined ? shown : await inTheNameOf(shown, other);
    if (access.who === 'siteAdmin' && !caller.person.isAdmin) {
      throw new AppError('forbidden', 'user should be the site admin');
    }
    request.caller = caller;
    if (!access.about) return;
    const { id, org } = request.params as { id?: string; org?: string };
    if (access.about === 'object') {
      request.caller = { ...caller, ownerId: await ownerOfObject(caller, access, id ?? '') };
      return;
    }
    const organization =
      access.about === 'path'
        ? await organizationOfPath(org ?? '', caller)
        : await findOrganization(request, caller, access);
    if (access.relation) await relations.require(caller.person, organization.id, access.relation, id);
    request.caller = { ...caller, organization };
  };

  async function ownerOfObject(caller: Caller, access: SignedAccess, id: string): Promise<bigint> {
    const { relation } = access;
    if (!relation) throw new AppError('internal', 'a route about an object names no relation');
    if (caller.robotId === undefined) return await relations.requireOn(caller.person, relation, id);
    const ownerId = await relations.ownerOf(relation, id);
    if (ownerId !== caller.person.id) throw new AppError('notFound', `${relation.split(':')[1]} does not exist`);
    return ownerId;
  }

  /** What a stranger cannot tell from an organization that does not exist. */
  async function organizationOfPath(name: string, { person }: Caller): Promise<Organization> {
    const organization = await callers.organizationNamed(name);
    if (organization && (person.isAdmin || person.organizations.has(organization.id))) return organization;
    throw new AppError('notFound', 'organization does not exist');
  }

  /** A site administrator may do what another user would, by their name in `?sudo=` or the Sudo header. */
  async function inTheNameOf(caller: Caller, name: unknown): Promise<Caller> {
    if (name === '') return caller;
    if (!caller.person.isAdmin) throw new AppError('forbidden', 'Only administrators allowed to sudo.');
    const person = typeof name === 'string' ? await callers.personNamed(name) : undefined;
    if (!person) throw new AppError('notFound', 'user does not exist');
    return { ...caller, person, onBehalf: caller.person.login };
  }

  async function identify(credential: Credential, request: FastifyRequest, access: SignedAccess): Promise<Caller> {
    const now = new Date();
    switch (credential.kind) {
      case 'none':
        throw new AppError('unauthenticated', 'token is required');
      case 'token': {
        const grant = await byToken(credential.text, request.ip, now);
        const { person, robotId, scopes } = grant;
        if (robotId !== null && !access.robots) throw new AppError('forbidden', 'robot accounts cannot call this');
        usage.note(grant.tokenId, now);
        const robot = robotId === null ? undefined : { robotId };
        return { person, via: 'token', credentialKey: `t${grant.tokenId}`, scopes, ...robot };
      }
      case 'password': {
        const { login, password } = credential;
        const person = await brake.password(login, request.ip, () => callers.byPassword(login, password));
        return { person, via: 'password', credentialKey: `p${person.id}`, scopes: ['all'] };
      }
      case 'session': {
        const grant = await callers.bySession(credential.text, now);
        if (!SAFE_METHODS.has(request.method) && credential.csrf !== grant.csrf) {
          throw new AppError('forbidden', 'the X-Csrf-Token header must repeat the value of the _csrf cookie');
        }
        const { person, csrf } = grant;
        return { person, via: 'session', credentialKey: `p${person.id}`, scopes: ['all'], csrf };
      }
    }
  }

  async function byToken(text: string, address: string, now: Date): Promise<TokenGrant> {
    try {
      return await callers.byToken(text, now);
    } catch (error) {
      throw brake.failedToken(error, text, address);
    }
  }

  /** An organization that does not exist and one that the caller is not in are told apart by nobody. */
  async function findOrganization(request: FastifyRequest, caller: Pick<Caller, 'person'>, access: SignedAccess) {
    const { org } = request.query as { org?: unknown };
    if (org === undefined || org === '') throw new AppError('invalid', 'query parameter org is required');
    if (typeof org !== 'string') throw new AppError('invalid', 'query parameter org is given more than once');
    const organization = await callers.organizationNamed(org);
    const isIn = organization && (caller.person.isAdmin || caller.person.organizations.has(organization.id));
    if (!organization || (access.who !== 'signedIn' && !isIn)) {
      throw new AppError('forbidden', 'Must be an organization member');
    }
    return organization;
  }
}

export function neededScope(access: SignedAccess, method: string): Scope {
  return `${access.level ?? (SAFE_METHODS.has(method) ? 'read' : 'write')}:${access.area}`;
}

function refuseNarrowToken(caller: Pick<Caller, 'scopes'>, access: SignedAccess, method: string): void {
  if (caller.scopes.includes('all')) return;
  const needed = neededScope(access, method);
  if (!scopesAllow(caller.scopes, needed)) {
    throw new AppError(
      'forbidden',
      `token does not have at least one of required scope(s), required=[${needed}], token scope=${caller.scopes.join(',')}`,
    );
  }
}
