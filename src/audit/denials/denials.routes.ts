import type { FastifyRequest } from 'fastify';
import { AppError, type KeptFrom, reasonOf } from '../../base/errors.ts';
import { PLATFORM } from '../../changes/write.ts';
import { actorFor, type Caller, levelOf, type SignedAccess } from '../../http/admission/access.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import type { Denial } from './denials.ts';

const NOTHING: KeptFrom = { ownerId: PLATFORM, type: 'platform', id: PLATFORM };

/**
 * The denial that a rejected request is, if it is one: a signed-in caller tried to change something, or to use what is
 * for site administrators. A 404 counts only if the object exists and was hidden from the caller.
 */
export function denialOf(request: FastifyRequest, error: unknown): Denial | undefined {
  const { access } = request.routeOptions.config;
  const caller = request.caller ?? request.identified;
  if (!(error instanceof AppError) || !caller || !access || access.who === 'anyone' || access.who === 'webhook') {
    return undefined;
  }
  const { keptFrom, relation } = error.detail;
  if (error.kind !== 'forbidden' && !(error.kind === 'notFound' && keptFrom)) return undefined;
  const sudo = sudoOf(request, caller);
  if (levelOf(access, request) === 'read' && access.who !== 'siteAdmin' && sudo === undefined) return undefined;
  const { ownerId, type, id } = keptFrom ?? objectOf(caller, access, request);
  return {
    actor: actorFor(caller, request.id),
    ownerId,
    isStranger: isStranger(caller, ownerId),
    objectType: type === 'org' ? 'organization' : type,
    objectId: id,
    attempt: {
      method: request.method,
      route: request.routeOptions.url,
      ...parametersOf(request),
      ...(sudo !== undefined && { sudo }),
      ...((relation ?? access.relation) !== undefined && { relation: relation ?? access.relation }),
      reason: reasonOf(error),
    },
  };
}

/** The name that a caller who is no administrator wanted to act in, if it can be a name. */
function sudoOf(request: FastifyRequest, { sudoBy }: Caller): string | undefined {
  const name = (request.query as { sudo?: unknown }).sudo ?? request.headers.sudo;
  if (sudoBy !== undefined || name === undefined || name === '') return undefined;
  return typeof name === 'string' ? nameKey(name).slice(0, 40) : '';
}

/** What the route is about, if the caller got as far as that. */
function objectOf(caller: Caller, { relation }: SignedAccess, request: FastifyRequest): KeptFrom {
  const ownerId = caller.organization?.id ?? caller.ownerId;
  if (ownerId === undefined) return NOTHING;
  const type = relation?.split(':')[1] ?? 'org';
  const { id = '' } = request.params as { id?: string };
  return type !== 'org' && /^\d{1,18}$/.test(id)
    ? { ownerId, type, id: BigInt(id) }
    : { ownerId, type: 'organization', id: ownerId };
}

function isStranger({ person }: Caller, ownerId: bigint): boolean {
  return !(ownerId === PLATFORM || ownerId === person.id || person.isAdmin || person.organizations.has(ownerId));
}

/** The names in the path, if they can be names: the log is no place for what callers make up, nor for codes. */
function parametersOf(request: FastifyRequest): object {
  const given = Object.entries(request.params as Readonly<Record<string, string>>);
  const plain = given.filter(([name, value]) => name !== 'code' && value.length <= 40 && nameKey(value) !== '');
  return plain.length === 0 ? {} : { path: Object.fromEntries(plain) };
}
