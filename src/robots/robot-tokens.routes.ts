import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalidField } from '../base/errors.ts';
import { actorOf, callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, PathId, readId } from '../http/wire/schemas.ts';
import type { IssuedToken } from '../identity/tokens/token-issuer.ts';
import { rejectRenewal, rejectTokenCreation } from '../tokens/renewal.ts';
import {
  AccessToken,
  NewAccessToken,
  presentToken,
  RotateToken,
  readNewToken,
  readRotation,
} from '../tokens/token.view.ts';
import type { AskedRobot, RobotTokens } from './robot-tokens.ts';

const RobotPath = { id: PathId };

export function robotTokenRoutes(scope: Scope, tokens: RobotTokens, soon: () => Date, baseUrl: () => string): void {
  const common = { tags: ['robots'], extension: true };

  scope.get(
    '/robots/:id/tokens',
    {
      config: { access: holdsOn('view:robot_ac', 'organization') },
      schema: {
        ...common,
        summary: 'List the access tokens of a robot account',
        params: Type.Object(RobotPath),
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(AccessToken) },
      },
    },
    async (request, reply) => {
      const { tokens: all, rules } = await tokens.list(askedOf(request));
      const shown = { soon: soon(), rules };
      const page = readPage(request.query);
      showPage(request, reply, baseUrl(), page, all.length);
      return all.slice(page.offset, page.offset + page.limit).map((token) => presentToken(token, shown));
    },
  );

  scope.post(
    '/robots/:id/tokens',
    {
      config: { access: holdsOn('edit:robot_ac', 'organization', { proven: true }), creates: true },
      preValidation: dropAbsent(),
      schema: {
        ...common,
        summary: 'Create an access token for a robot account',
        params: Type.Object(RobotPath),
        body: NewAccessToken,
        response: { 201: AccessToken },
      },
    },
    async (request, reply) => {
      rejectTokenCreation(callerOf(request));
      if (request.body.delegated) throw invalidField('delegated', 'only users can give an agent a token');
      const wanted = readNewToken(request.body);
      return await createOnce(
        request,
        reply.code(201),
        (once) => tokens.create(askedOf(request), wanted, new Date(), once),
        (token: IssuedToken) => presentToken(token, { text: token.text, soon: soon() }),
      );
    },
  );

  scope.post(
    '/robots/:id/tokens/:token/rotate',
    {
      config: { access: holdsOn('edit:robot_ac', 'organization', { proven: true }), creates: true },
      preValidation: dropAbsent(),
      schema: {
        ...common,
        summary: 'Replace an access token of a robot account, by ID or name; the old one works for a while longer',
        params: Type.Object({ ...RobotPath, token: Type.String() }),
        body: RotateToken,
        optionalBody: true,
        errors: [409],
        response: { 201: AccessToken },
      },
    },
    async (request, reply) => {
      rejectRenewal(callerOf(request));
      const wanted = readRotation(request.body);
      return await createOnce(
        request,
        reply.code(201),
        (once) => tokens.rotate(askedOf(request), request.params.token, wanted, once),
        (token: IssuedToken) => presentToken(token, { text: token.text, soon: soon() }),
      );
    },
  );

  scope.delete(
    '/robots/:id/tokens/:token',
    {
      config: { access: holdsOn('view:robot_ac', 'organization') },
      schema: {
        ...common,
        summary: 'Revoke an access token of a robot account, by ID or name',
        params: Type.Object({ ...RobotPath, token: Type.String() }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await tokens.remove(askedOf(request), request.params.token);
      return reply.code(204).send();
    },
  );
}

function askedOf(request: FastifyRequest<{ Params: { id: string } }>): AskedRobot {
  const { person, scopes, limits, until } = callerOf(request);
  const robotId = readId(request.params.id, 'robot ID');
  return { robotId, ownerId: ownerIn(request), person, scopes, limits, until, actor: actorOf(request) };
}
