import Type from 'typebox';
import { AppError } from '../errors.ts';
import { callerOf, signedIn } from '../http/access.ts';
import { PageQuery, readPage, showPage } from '../http/paging.ts';
import { Int64, NoBody, Timestamp, timestamp } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { AccessTokens, TokenDetails } from './tokens.ts';

const AccessToken = Type.Object({
  id: Int64,
  name: Type.String(),
  sha1: Type.String({ description: 'The token itself, shown only when it is made.' }),
  token_last_eight: Type.String(),
  scopes: Type.Array(Type.String()),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Type.Union([Timestamp, Type.Null()], { description: 'null for a token that never expires' }),
});
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59Z');
const Owner = { username: Type.String() };

export function tokenRoutes(scope: Scope, tokens: AccessTokens, baseUrl: () => string): void {
  const tags = ['tokens'];
  const config = { access: signedIn('user') };

  scope.get(
    '/users/:username/tokens',
    {
      config,
      schema: {
        summary: 'The access tokens of a user',
        tags,
        extension: true,
        params: Type.Object(Owner),
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(AccessToken) },
      },
    },
    async (request, reply) => {
      const all = await tokens.list(callerOf(request), request.params.username);
      const page = readPage(request.query);
      showPage(request, reply, baseUrl(), page, all.length);
      return all.slice(page.offset, page.offset + page.limit).map((token) => present(token, ''));
    },
  );

  scope.post(
    '/users/:username/tokens',
    {
      config: { access: signedIn('user', { basic: true }) },
      schema: {
        summary: 'Make an access token; with Basic authentication only',
        tags,
        extension: true,
        params: Type.Object(Owner),
        body: Type.Object({
          name: Type.String(),
          scopes: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
          expires_at: Type.Optional(Type.Union([Timestamp, Type.Null()])),
        }),
        response: { 201: AccessToken },
      },
    },
    async (request, reply) => {
      const { name, scopes, expires_at } = request.body;
      const wanted = { name, scopes, expiresAt: expires_at ? readMoment(expires_at) : null };
      const made = await tokens.create(callerOf(request), request.params.username, wanted, new Date());
      return reply.code(201).send(present(made, made.text));
    },
  );

  scope.delete(
    '/users/:username/tokens/:token',
    {
      config,
      schema: {
        summary: 'Revoke an access token, by id or name',
        tags,
        extension: true,
        params: Type.Object({ ...Owner, token: Type.String() }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await tokens.remove(callerOf(request), request.params.username, request.params.token);
      return reply.code(204).send();
    },
  );
}

function readMoment(text: string): Date {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime()) || moment.getTime() > LAST_MOMENT) {
    const message = 'expires_at must be a date-time before the year 10000';
    throw new AppError('malformed', message, { errors: [{ field: 'expires_at', message }] });
  }
  return moment;
}

function present(token: TokenDetails, text: string) {
  return {
    id: token.id,
    name: token.name,
    sha1: text,
    token_last_eight: token.lastEight,
    scopes: [...token.scopes],
    created_at: timestamp(token.createdAt),
    last_used_at: timestamp(token.lastUsedAt),
    expires_at: token.expiresAt && timestamp(token.expiresAt),
  };
}
