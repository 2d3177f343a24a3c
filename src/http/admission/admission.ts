/**
 * Turns a credential into a caller, or rejects it.
 *
 * 1. Only this file and identify.ts do so: identify.ts finds the caller, this file decides whether the route is theirs.
 * 2. No token is kept in clear text for longer than the connection that it came over.
 * 3. The fast path serves most requests: a remembered token on a route that needs no relation. Everything else,
 *    including every rejection, goes through the slow path.
 * 4. If a route rejects callers who are not in an organization, they cannot tell it from one that does not exist.
 * 5. A robot passes where membership of its own organization is required. It is no member, so where membership is
 *    enough for users, the route names the relation that robots need. Elsewhere it is a stranger.
 * 6. An agent that a user gave a token to reads, and asks for access. Every other route rejects it.
 * 7. A token with limits gets no further than to what it is limited to, and every other route rejects it. Handlers get
 *    its owner without rights elsewhere. Only a route that declares `limited: 'filtered'` has to look at the limits.
 */
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError, type ErrorDetail, type KeptFrom, reasonOf } from '../../base/errors.ts';
import type { Done } from '../../changes/revision.ts';
import { type Organization, rejectUnusable } from '../../identity/callers.ts';
import { scopesAllow } from '../../identity/scopes.ts';
import type { SecondFactors } from '../../identity/second-factor.ts';
import { reauthenticationNeeded } from '../../identity/sessions/reauthentication.ts';
import { reachesInto, reachesObject, reachesOrganization } from '../../identity/tokens/token-limits.ts';
import {
  type Access,
  type Caller,
  levelOf,
  neededScope,
  proofNeeded,
  type Relations,
  relationOfRobot,
  requireProven,
  type SignedAccess,
} from './access.ts';
import { type Credential, isAnonymous, isBasic, readCredential } from './credential.ts';
import { createIdentify, type IdentifyOptions } from './identify.ts';
import { isOpenToDelegates, rejectDelegate, rejectLimitedToken, rejectNarrowToken } from './reject-narrow-token.ts';

interface AdmissionOptions extends IdentifyOptions {
  readonly relations: Relations;
  readonly queryTokens: boolean;
  readonly secondFactors: Pick<SecondFactors, 'isMissing'>;
  /** Whether passwords are accepted at all. */
  readonly hasPasswords?: boolean;
}

/** Calls back once the caller of a request is known, or with the rejection. */
export type Admit = (request: FastifyRequest, done: Done) => void;

/** The Authorization header that a connection sent last, and the name of the token in it. */
interface Shown {
  readonly header: string;
  readonly name: string;
}

const TOKEN_HEADER = /^(?:token|bearer) +([^ ]+)$/i;

/** Creates the admission check of each route. */
export function createAdmission(options: AdmissionOptions) {
  const { callers, relations, tokenUsage, queryTokens, secondFactors, hasPasswords = true } = options;
  // Invariant 2: an entry lives no longer than its connection.
  const shownOn = new WeakMap<Socket, Shown>();
  const { identify, callerOfToken } = createIdentify(options);

  /** The admission check of one route. */
  return function door(access: Access): Admit {
    if (access.who === 'anyone' || access.who === 'webhook') return (_request, done) => done();
    const needs: SignedAccess = access;
    const isHidden = needs.about === 'path' && !needs.isNamedOpenly;
    const needsRelation = needs.robots === 'only' || needs.who === 'holds' || isHidden;
    const isPlain = !needs.basic && (needs.checkedByHandler || !needsRelation);
    return function admit(request, done) {
      if (needs.orAnonymous && isAnonymous(request)) return done();
      const name = isPlain ? tokenShown(request, needs) : undefined;
      if (name === undefined) return void admitFull(request, needs).then(() => done(), done);
      callers.whenCurrent((error) => {
        if (error !== undefined) done(error);
        else if (admitFast(request, needs, name)) done();
        else admitFull(request, needs).then(() => done(), done);
      });
    };
  };

  /**
   * The name of the token in the header, unless the request carries more than that: a sudo name, or a token in the
   * query.
   */
  function tokenShown(request: FastifyRequest, access: SignedAccess): string | undefined {
    const { headers, socket } = request.raw;
    const header = headers.authorization;
    const query = request.query as Readonly<Record<string, unknown>>;
    if (header === undefined || headers.sudo !== undefined || query.sudo !== undefined) return undefined;
    if (access.queryToken && (query.token !== undefined || query.access_token !== undefined)) return undefined;
    const before = shownOn.get(socket);
    if (before?.header === header) return before.name;
    const name = callers.tokenName(TOKEN_HEADER.exec(header)?.[1] ?? '');
    if (name !== undefined) shownOn.set(socket, { header, name });
    return name;
  }

  /**
   * The fast path: a remembered token on a route that needs no relation. Returns false for everything else, including
   * every rejection, which the slow path handles (invariant 3).
   */
  function admitFast(request: FastifyRequest, access: SignedAccess, name: string): boolean {
    const grant = callers.rememberedToken(name);
    const { checkedByHandler = false } = access;
    if (grant === undefined || (grant.limits !== undefined && !checkedByHandler)) return false;
    const { person, scopes, robot } = grant;
    if (grant.delegate !== undefined && !isOpenToDelegates(access, request)) return false;
    if (robot !== null && access.robots !== 'as users' && !checkedByHandler) return false;
    const now = Date.now();
    if (grant.expiresAt !== null && grant.expiresAt.getTime() <= now) return false;
    if (!person.active || person.prohibitLogin || (access.who === 'siteAdmin' && !person.isAdmin)) return false;
    const needed = neededScope(access, request);
    if (needed !== undefined && !scopesAllow(scopes, needed, access.isPublic)) return false;
    let caller = callerOfToken(grant);
    if (access.about !== undefined && !checkedByHandler) {
      const { at } = request.query as { at?: unknown };
      const { org } = (access.about === 'path' ? request.params : request.query) as { org?: unknown };
      const organization = typeof org === 'string' ? callers.rememberedOrganization(org) : undefined;
      if (!organization) return false;
      const isForMembers = access.who === 'member' || at !== undefined;
      if (isForMembers && !person.isAdmin && !person.organizations.has(organization.id)) return false;
      if (access.who === 'member') relations.noteMember(person.id, organization.id);
      caller = { ...caller, organization };
    }
    tokenUsage.note(grant.tokenId, new Date(now));
    request.caller = caller;
    return true;
  }

  async function admitFull(request: FastifyRequest, access: SignedAccess): Promise<void> {
    const sent = readCredential(request, queryTokens && access.queryToken === true);
    const isOther = access.isTokenOnly && (sent.kind !== 'token' || isBasic(sent));
    const credential: Credential = isOther ? { kind: 'none' } : sent;
    if (access.basic && credential.kind === 'token' && !isBasic(credential)) {
      throw new AppError('unauthenticated', 'this call needs Basic authentication');
    }
    const shown = await identify(credential, request, access);
    request.identified = shown;
    rejectUnusable(shown.person);
    rejectDelegate(shown, access, request);
    rejectNarrowToken(shown, access, request);
    rejectLimitedToken(shown, access);
    if (access.robots === 'only' && shown.robot === undefined && !access.checkedByHandler) {
      throw new AppError('forbidden', 'only the token of a robot can call this route');
    }
    if (!access.enrolling && mustEnroll(shown) && (await secondFactors.isMissing(shown.person))) throw enrollFirst();
    const other = (request.query as { sudo?: unknown }).sudo ?? request.headers.sudo;
    if (other !== undefined && (access.isForProxies || access.isTokenOnly)) throw sudoForbidden();
    const caller = other === undefined ? shown : await inTheNameOf(shown, other);
    request.identified = caller;
    if (access.who === 'siteAdmin' && !caller.person.isAdmin) {
      throw new AppError('forbidden', 'only site administrators can call this route');
    }
    rejectUnproven(shown, access, request.method, caller.sudoBy !== undefined);
    request.caller = caller;
    if (!access.about || access.checkedByHandler) return;
    try {
      await admitTo(request, caller, access);
    } catch (error) {
      throw caller.limits ? withHint(error) : error;
    }
  }

  /** To the organization or object that the route is about. */
  async function admitTo(request: FastifyRequest, caller: Caller, access: SignedAccess): Promise<void> {
    const { id, org } = request.params as { id?: string; org?: string };
    if (access.about === 'object') {
      request.caller = { ...caller, ownerId: await ownerOfObject(caller, access, id ?? '') };
      return;
    }
    const organization =
      access.about === 'path'
        ? await organizationOfPath(org ?? '', caller, access)
        : await findOrganization(request, caller, access);
    const isPast = (request.query as { at?: unknown }).at !== undefined;
    const relation = (isPast ? access.inPast : undefined) ?? access.relation ?? relationOfRobot(caller, access);
    if (relation) await relations.require(caller.person, organization.id, relation, id);
    if (access.who === 'member') relations.noteMember(caller.person.id, organization.id);
    request.caller = { ...caller, organization };
  }

  async function ownerOfObject(caller: Caller, access: SignedAccess, id: string): Promise<bigint> {
    const { relation } = access;
    if (!relation) throw new AppError('internal', 'a route about an object names no relation');
    const { limits, robot, person } = caller;
    const isReached = (object: KeptFrom) =>
      access.limited === 'whole' ? reachesOrganization(limits, object.ownerId) : reachesObject(limits, object);
    if (robot !== undefined && access.robots === 'of the owner') {
      const ownerId = await relations.ownerOf(relation, id);
      const [, type = ''] = relation.split(':');
      const isOwn = ownerId === robot.organization.id;
      if (isOwn && isReached({ ownerId, type, id: BigInt(id) })) return ownerId;
    }
    return await relations.requireOn(person, relation, id, isReached);
  }

  /** For a caller who is not in it, the organization looks like one that does not exist (invariant 4). */
  async function organizationOfPath(name: string, caller: Caller, access: SignedAccess): Promise<Organization> {
    const organization = await callers.organizationNamed(name);
    if (organization && isIn(caller, organization, access)) return organization;
    if (access.isNamedOpenly) throw notMember(organization);
    throw new AppError('notFound', 'organization does not exist', {
      reason: 'organization_not_found',
      ...keptFrom(organization),
    });
  }

  /** A site administrator may do what another user may, by that user's name in `?sudo=` or the Sudo header. */
  async function inTheNameOf(caller: Caller, name: unknown): Promise<Caller> {
    if (name === '') return caller;
    if (caller.robot !== undefined) {
      throw new AppError('forbidden', 'robots cannot act on behalf of a user', { reason: 'sudo_forbidden' });
    }
    if (!caller.person.isAdmin) throw new AppError('forbidden', 'Only administrators allowed to sudo.');
    const person = typeof name === 'string' ? await callers.personNamed(name) : undefined;
    if (!person) throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    return { ...caller, person, sudoBy: caller.person };
  }

  /** Changing something on behalf of another user is as sensitive as what site administrators change. */
  function rejectUnproven(shown: Caller, access: SignedAccess, method: string, isForAnother: boolean): void {
    const proof = proofNeeded(access, method);
    const { session, person } = shown;
    // A user who has nothing but the token is not kept out, such as the first administrator.
    const hasMore = (hasPasswords && person.passwordHash !== null) || person.secondFactors.length > 0;
    if (proof === 'in person' && session?.method === 'token' && hasMore) throw reauthenticationNeeded();
    const isSensitive = proof === 'always' || proof === 'in person';
    if (isSensitive || (isForAnother && levelOf(access, { method }) === 'write')) requireProven(shown, new Date());
  }

  /**
   * An organization that does not exist and one that the caller is not in are rejected alike (invariant 4). A
   * `signedIn` route accepts an organization that the caller is not in, except in questions about its past: when
   * something happened there is for its members only, and finding out is expensive.
   */
  async function findOrganization(request: FastifyRequest, caller: Caller, access: SignedAccess) {
    const { org, at } = request.query as { org?: unknown; at?: unknown };
    if (org === undefined || org === '') throw new AppError('invalid', 'query parameter org is required');
    if (typeof org !== 'string') throw new AppError('invalid', 'query parameter org is given more than once');
    const organization = await callers.organizationNamed(org);
    const isOpen = access.who === 'signedIn' && !caller.limits && at === undefined;
    const mayAsk = organization && (isOpen || isIn(caller, organization, access));
    if (!mayAsk) throw notMember(organization);
    return organization;
  }
}

function notMember(organization: Organization | undefined): AppError {
  return new AppError('forbidden', 'Must be an organization member', keptFrom(organization));
}

function sudoForbidden(): AppError {
  return new AppError('forbidden', 'this route does not accept sudo', { reason: 'sudo_forbidden' });
}

/** A provider that asks for a second factor is enough, and so is a token. */
function mustEnroll({ via, session }: Caller): boolean {
  return via !== 'token' && session?.method !== 'trusted_provider';
}

function enrollFirst(): AppError {
  const message = 'a second factor is required: add one (POST /user/factors/…) before anything else';
  return new AppError('forbidden', message, { reason: 'second_factor_enrollment' });
}

/** For the audit log: which organization a caller was kept from, if it exists. The caller does not learn that. */
function keptFrom(organization: Organization | undefined): Pick<ErrorDetail, 'keptFrom'> {
  if (organization === undefined) return {};
  return { keptFrom: { ownerId: organization.id, type: 'organization', id: organization.id } };
}

/** Whether the caller is in the organization, and their token reaches as much of it as the route needs. */
function isIn({ person, limits, owner }: Caller, { id }: Organization, access: SignedAccess): boolean {
  if (limits === undefined || owner === undefined) return person.isAdmin || person.organizations.has(id);
  const isReached = access.limited === 'filtered' ? reachesInto(limits, id) : reachesOrganization(limits, id);
  return isReached && (owner.isAdmin || owner.organizations.has(id));
}

/** Said about what does not exist, or is hidden from the owner, as well as about what the token does not reach. */
function withHint(error: unknown): unknown {
  if (!(error instanceof AppError) || reasonOf(error) === 'missing_relation') return error;
  if (error.kind !== 'notFound' && error.kind !== 'forbidden') return error;
  return new AppError(error.kind, `${error.message}, or it is outside the limits of this token`, error.detail);
}
