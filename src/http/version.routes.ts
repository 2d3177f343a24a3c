import { anyone } from './access.ts';
import { ServerVersion } from './schemas.ts';
import type { Scope } from './server.ts';

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
