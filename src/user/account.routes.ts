import Type from 'typebox';
import { callerOf, signedIn } from '../http/access.ts';
import type { Scope } from '../http/server.ts';
import { presentSelf, User } from '../http/user.view.ts';

export function accountRoutes(scope: Scope, baseUrl: () => string): void {
  scope.get(
    '/user',
    {
      config: { access: signedIn('user') },
      schema: {
        summary: 'The signed-in user',
        tags: ['user'],
        querystring: Type.Object({
          check_client_org: Type.Optional(Type.String({ description: '"true" fills clientOrgUser' })),
        }),
        response: { 200: User },
      },
    },
    async (request) => presentSelf(callerOf(request).person, baseUrl(), request.query.check_client_org === 'true'),
  );
}
