import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { actorOf, callerOf, signedIn, siteAdmin } from '../http/admission/access.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Scope } from '../http/server.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { Int64, NoBody, named, PathId, readId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { SessionCard, Sessions } from '../identity/sessions/sessions.ts';
import type { Users } from './users.ts';

const UserSession = named(
  'Session',
  Type.Object({
    id: Int64,
    created_at: Timestamp,
    last_seen_at: Type.Unsafe<string>({ ...Timestamp, description: 'To within five minutes.' }),
    expires_at: Timestamp,
    user_agent: Type.String({ description: 'The browser that signed in, as it calls itself; at most 200 characters.' }),
    ip: Type.String({ description: 'The address that signed in. Empty for sessions that are older than this field.' }),
    current: Type.Boolean({ description: 'Whether this request came with this session.' }),
  }),
);

interface UserSessionsRoutesOptions {
  readonly sessions: Pick<Sessions, 'list' | 'end' | 'endOthers'>;
  readonly users: Pick<Users, 'idOf'>;
  readonly cookies: Pick<Cookies, 'clear'>;
  readonly baseUrl: () => string;
}

/** Where users are signed in, and how they end that. */
export function userSessionRoutes(
  scope: Scope,
  { sessions, users, cookies, baseUrl }: UserSessionsRoutesOptions,
): void {
  const own = { config: { access: signedIn('user', 'never') } };
  const admin = { config: { access: siteAdmin('admin') } };
  const response = { 200: Type.Array(UserSession) };
  const Username = Type.Object({ username: Type.String() });

  scope.get(
    '/user/sessions',
    {
      ...own,
      schema: {
        summary: 'List the browser sessions of the caller',
        tags: ['user'],
        extension: true,
        querystring: Type.Object(PageQuery),
        response,
      },
    },
    async (request, reply) => await list(request, reply, callerOf(request).person.id),
  );

  scope.delete(
    '/user/sessions/:id',
    {
      ...own,
      schema: {
        summary: 'End a browser session of the caller',
        tags: ['user'],
        extension: true,
        params: Type.Object({ id: PathId }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person, session } = callerOf(request);
      const id = readId(request.params.id, 'session ID');
      await sessions.end(person.id, id, new Date(), actorOf(request));
      if (session?.id === id) cookies.clear(reply);
      return reply.code(204).send();
    },
  );

  scope.delete(
    '/user/sessions',
    {
      ...own,
      schema: {
        summary: 'End all other browser sessions of the caller',
        tags: ['user'],
        extension: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person, session } = callerOf(request);
      await sessions.endOthers(person.id, session?.id, new Date(), actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.get(
    '/admin/users/:username/sessions',
    {
      ...admin,
      schema: {
        summary: 'List the browser sessions of a user',
        tags: ['users'],
        extension: true,
        params: Username,
        querystring: Type.Object(PageQuery),
        response,
      },
    },
    async (request, reply) => await list(request, reply, await users.idOf(request.params.username)),
  );

  scope.delete(
    '/admin/users/:username/sessions',
    {
      ...admin,
      schema: {
        summary: 'End all browser sessions of a user',
        tags: ['users'],
        extension: true,
        params: Username,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const id = await users.idOf(request.params.username);
      await sessions.endOthers(id, undefined, new Date(), actorOf(request));
      return reply.code(204).send();
    },
  );

  async function list(request: FastifyRequest<{ Querystring: PageFields }>, reply: FastifyReply, accountId: bigint) {
    const page = readPage(request.query);
    const { items, total } = await sessions.list(accountId, new Date(), page);
    showPage(request, reply, baseUrl(), page, total);
    const current = callerOf(request).session?.id;
    return items.map((card) => present(card, card.id === current));
  }
}

interface PageFields {
  readonly page?: unknown;
  readonly limit?: unknown;
}

function present({ id, createdAt, lastSeenAt, expiresAt, userAgent, ip }: SessionCard, current: boolean) {
  const moments = { created_at: timestamp(createdAt), last_seen_at: timestamp(lastSeenAt) };
  return { id, ...moments, expires_at: timestamp(expiresAt), user_agent: userAgent, ip, current };
}
