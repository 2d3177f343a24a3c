import Type from 'typebox';
import { anyone, callerOf, signedIn } from '../http/access.ts';
import type { Scope } from '../http/server.ts';
import type { HostedTokens } from './hosted-token.ts';

/** On hosted deployments only. */
export function hostedTokenRoutes(scope: Scope, tokens: HostedTokens): void {
  scope.get(
    '/user/hosted-token',
    {
      config: { access: signedIn('user') },
      schema: {
        summary: 'Get a short-lived signed token that identifies the caller',
        tags: ['user'],
        response: { 200: Type.Object({ hostedToken: Type.String() }) },
      },
    },
    async (request) => ({ hostedToken: await tokens.issue(callerOf(request).person, new Date()) }),
  );
}

export function keySetRoutes(scope: Scope, tokens: HostedTokens): void {
  scope.get(
    '/.well-known/jwks.json',
    {
      config: { access: anyone },
      schema: {
        summary: 'Get the public keys that hosted tokens are verified with',
        tags: ['user'],
        extension: true,
        response: { 200: Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) }) },
      },
    },
    async () => await tokens.keySet(),
  );
}
