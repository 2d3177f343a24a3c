import { anyone } from './admission/access.ts';
import type { Scope } from './server.ts';
import { ServerVersion } from './wire/schemas.ts';

export function versionRoutes(scope: Scope, version: string): void {
  scope.get(
    '/version',
    {
      config: { access: anyone },
      schema: { summary: 'Get the server version', tags: ['server'], response: { 200: ServerVersion } },
    },
    async () => ({ version }),
  );
}
