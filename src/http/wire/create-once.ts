import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { Once } from '../../changes/write.ts';
import type { Idempotency, KeyedRequest, StoredResponse } from '../../idempotency/idempotency.ts';
import { callerOf } from '../admission/access.ts';
import type { Scope } from '../server.ts';
import { originFormTarget } from '../target.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route creates something, and honors an Idempotency-Key: its handler answers with `createOnce`. */
    creates?: boolean;
  }
  interface FastifyInstance {
    idempotency: Pick<Idempotency, 'run'>;
  }
}

/** The part of a reply that is used here. `Body` is what the route has declared to send. */
interface Reply<Body> {
  readonly statusCode: number;
  send(body: Body): unknown;
  serialize(body: unknown): unknown;
  serializer(write: (body: unknown) => unknown): unknown;
  header(name: string, value: string): unknown;
  getHeader(name: string): unknown;
  removeHeader(name: string): unknown;
  code(status: number): unknown;
}

export const KEY_HEADER = 'Idempotency-Key';
export const REPLAY_HEADER = 'Idempotency-Replayed';
/** Headers that belong to what was created. All other headers belong to the one response. */
const KEPT_HEADERS = ['etag', 'location'];
const KEY = /^[\x21-\x7e]{1,255}$/;

export function honorKeys(app: Scope, idempotency: Pick<Idempotency, 'run'>): void {
  app.decorate('idempotency', idempotency);
}

/**
 * Answers a request that creates something, with the status that the reply has. If the request has a key and was
 * answered before, nothing is created, and the answer is the same as then.
 *
 * With a key, `present` is called inside the transaction of `create`, so it must not query the database.
 */
export async function createOnce<Made, Body>(
  request: FastifyRequest,
  reply: Reply<Body>,
  create: (once?: Once<Made>) => Promise<Made>,
  present: (made: Made) => Body,
): Promise<void> {
  const key = request.headers['idempotency-key'];
  if (key === undefined) {
    await reply.send(present(await create()));
    return;
  }
  const { response, isReplay } = await request.server.idempotency
    .run(readRequest(request, key), create, (made) => toResponse(reply, present(made)))
    .catch((error: unknown) => {
      // They were meant for a response that is not sent.
      for (const name of KEPT_HEADERS) reply.removeHeader(name);
      throw error;
    });
  if (isReplay) reply.header(REPLAY_HEADER, 'true');
  for (const [name, value] of Object.entries(response.headers)) reply.header(name, value);
  reply.code(response.status);
  if (response.body !== '') reply.header('content-type', 'application/json; charset=utf-8');
  // The body is text already. The type of the reply is that of what the text was made of.
  reply.serializer((text) => text);
  await reply.send((response.body === '' ? undefined : response.body) as Body);
}

function toResponse(reply: Reply<never>, body: unknown): StoredResponse {
  const text = body === undefined ? '' : String(reply.serialize(body));
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)]];
  });
  return { status: reply.statusCode, headers: Object.fromEntries(headers), body: text };
}

/**
 * Two requests are the same if they have the same address and body, byte for byte, and the same rights: a narrower
 * token, or a user who is no longer an administrator, must not read what was created with more. An organization that
 * was created again under the same name is another one. A request that is about its own token is that of this token.
 */
function readRequest(request: FastifyRequest, key: string | string[]): KeyedRequest {
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw new AppError('invalid', `${KEY_HEADER} must be sent once, with 1 to 255 visible ASCII characters`);
  }
  const { person, sudoBy, scopes, limits, organization, ownerId, tokenId } = callerOf(request);
  const { method, routeOptions, url, bodyHash } = request;
  const { access } = routeOptions.config;
  const isAboutToken = access !== undefined && 'scope' in access && access.scope === 'any';
  return {
    accountId: person.id,
    now: new Date(),
    name: [String(person.id), String(sudoBy?.id ?? ''), `${method} ${routeOptions.url}`, key],
    content: [
      originFormTarget(url),
      bodyHash,
      String(person.isAdmin),
      [...scopes].sort().join(),
      String(organization?.id),
      String(ownerId),
      ...(limits ? [JSON.stringify(limits, (_key, value) => (typeof value === 'bigint' ? String(value) : value))] : []),
      ...(isAboutToken ? [`token ${tokenId}`] : []),
    ],
  };
}
