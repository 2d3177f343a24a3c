import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { actorOf, callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody } from '../http/wire/schemas.ts';
import type { IssuedToken } from '../identity/tokens/token-issuer.ts';
import { AccessToken, NewAccessToken, presentToken, RotateToken, readNewToken, readRotation } from './token.view.ts';
import type { TokenCaller, Tokens } from './tokens.ts';

const Owner = { username: Type.String() };

export function tokenRoutes(scope: Scope, tokens: Tokens, soon: () => Date, baseUrl: () => string): void {
  const tags = ['tokens'];
  const config = { access: signedIn('user', 'never') };

  scope.get(
    '/users/:username/tokens',
    {
      config,
      schema: {
        summary: 'List the access tokens of a user',
        tags,
        extension: true,
        params: Type.Object(Owner),
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(AccessToken) },
      },
    },
    async (request, reply) => {
      const { tokens: all, rules } = await tokens.list(whoAsks(request), request.params.username);
      const shown = { soon: soon(), rules };
      const page = readPage(request.query);
      showPage(request, reply, baseUrl(), page, all.length);
      return all.slice(page.offset, page.offset + page.limit).map((token) => presentToken(token, shown));
    },
  );

  scope.post(
    '/users/:username/tokens',
    {
      config: { access: signedIn('user', 'never', { basic: true, proven: true }), creates: true },
      preValidation: dropAbsent(),
      schema: {
        summary: 'Create an access token; requires Basic authentication, or a session',
        tags,
        extension: true,
        params: Type.Object(Owner),
        body: NewAccessToken,
        response: { 201: AccessToken },
      },
    },
    async (request, reply) => {
      const wanted = readNewToken(request.body);
      const create = request.body.delegated ? tokens.delegate : tokens.create;
      return await createOnce(
        request,
        reply.code(201),
        (once) => create(whoAsks(request), request.params.username, wanted, new Date(), once),
        (token: IssuedToken) => presentToken(token, { text: token.text, soon: soon() }),
      );
    },
  );

  scope.post(
    '/users/:username/tokens/:token/rotate',
    {
      config: { access: signedIn('user', 'never', { basic: true, proven: true }), creates: true },
      preValidation: dropAbsent(),
      schema: {
        summary:
          'Replace an access token, by ID or name; the old one works for a while longer; requires Basic authentication',
        tags,
        extension: true,
        params: Type.Object({ ...Owner, token: Type.String() }),
        body: RotateToken,
        optionalBody: true,
        errors: [409],
        response: { 201: AccessToken },
      },
    },
    async (request, reply) => {
      const asked = readRotation(request.body);
      const { username, token: idOrName } = request.params;
      return await createOnce(
        request,
        reply.code(201),
        (once) => tokens.rotate(whoAsks(request), username, idOrName, asked, once),
        (token: IssuedToken) => presentToken(token, { text: token.text, soon: soon() }),
      );
    },
  );

  scope.delete(
    '/users/:username/tokens/:token',
    {
      config,
      schema: {
        summary: 'Revoke an access token, by ID or name',
        tags,
        extension: true,
        params: Type.Object({ ...Owner, token: Type.String() }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await tokens.remove(whoAsks(request), request.params.username, request.params.token);
      return reply.code(204).send();
    },
  );
}

function whoAsks(request: FastifyRequest): TokenCaller {
  const { person, scopes, limits, until, session, tokenId } = callerOf(request);
  const origin = {
    sessionId: session?.id ?? null,
    tokenId: session === undefined ? (tokenId ?? null) : null,
    until: session?.expiresAt ?? null,
  };
  return { person, scopes, limits, until, actor: actorOf(request), origin };
}
