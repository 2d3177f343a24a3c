import type { FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { actorOf, callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import type { IssuedToken } from '../identity/tokens/token-issuer.ts';
import { rejectRenewal } from './renewal.ts';
import { AccessToken, presentToken, RotateOwnToken, readRotation } from './token.view.ts';
import type { OwnToken, Tokens } from './tokens.ts';

/** What a token may ask about itself, whatever its scopes and limits are. */
export function ownTokenRoutes(scope: Scope, tokens: Tokens, soon: () => Date): void {
  const common = { tags: ['tokens'], extension: true };
  const access = signedIn('user', 'as users', { scope: 'any', limited: 'filtered' });

  scope.get(
    '/user/token',
    {
      config: { access },
      schema: {
        ...common,
        summary: 'Get the access token that the request was made with',
        response: { 200: AccessToken },
      },
    },
    async (request) => {
      const { tokens: found, rules } = await tokens.own(ownOf(request));
      const [token] = found;
      if (!token) throw new AppError('notFound', 'access token does not exist', { reason: 'token_not_found' });
      return presentToken(token, { soon: soon(), rules });
    },
  );

  scope.post(
    '/user/token/rotate',
    {
      config: { access, creates: true },
      preValidation: dropAbsent(),
      schema: {
        ...common,
        summary: 'Replace the access token that the request was made with, if it may rotate itself',
        body: RotateOwnToken,
        optionalBody: true,
        errors: [404, 409],
        response: { 201: AccessToken },
      },
    },
    async (request, reply) => {
      rejectRenewal(callerOf(request));
      const { overlapMs } = readRotation(request.body);
      return await createOnce(
        request,
        reply.code(201),
        (once) => tokens.rotateOwn(ownOf(request), overlapMs, once),
        (token: IssuedToken) => presentToken(token, { text: token.text, soon: soon() }),
      );
    },
  );
}

function ownOf(request: FastifyRequest): OwnToken {
  const { person, owner, via, tokenId, robot, sudoBy } = callerOf(request);
  if (via !== 'token' || tokenId === undefined) {
    throw new AppError('forbidden', 'this call is for access tokens; the request was made without one');
  }
  if (sudoBy) {
    const message = 'an access token cannot be looked at on behalf of another user';
    throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
  }
  return { id: tokenId, person: owner ?? person, robot, actor: actorOf(request) };
}
