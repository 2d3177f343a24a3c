import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { anyone, callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { named } from '../http/wire/schemas.ts';
import type { HostedTokens } from './hosted-token.ts';

/** On hosted deployments only. */
export function hostedTokenRoutes(scope: Scope, tokens: HostedTokens): void {
  scope.get(
    '/user/hosted-token',
    {
      config: { access: signedIn('user', 'never', { scope: 'all' }) },
      schema: {
        summary: 'Get a short-lived signed token that identifies the caller',
        tags: ['user'],
        response: { 200: named('HostedToken', Type.Object({ hostedToken: Type.String() })) },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      // It would prove to other services that this is the other user, and nothing would show who it really was.
      if (caller.sudoBy) {
        const message = 'a hosted token cannot be issued on behalf of another user';
        throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
      }
      return { hostedToken: await tokens.issue(caller.person, caller, new Date()) };
    },
  );
}

export function keySetRoutes(scope: Scope, keySet: () => Promise<{ keys: object[] }>): void {
  scope.get(
    '/.well-known/jwks.json',
    {
      config: { access: anyone },
      schema: {
        summary: 'Get the public keys that hosted tokens and tokens for clusters are verified with',
        tags: ['user'],
        extension: true,
        response: {
          200: named(
            'JsonWebKeySet',
            Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) }),
          ),
        },
      },
    },
    async () => await keySet(),
  );
}
