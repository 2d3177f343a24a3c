import { API_VERSION } from '../base/release.ts';
import { anyone } from './admission/access.ts';
import type { Scope } from './server.ts';
import { ServerVersion } from './wire/schemas.ts';

/** The version of the API is the answer; clients that want to know the release read the header. */
export const RELEASE_HEADER = 'X-Atrium-Release';

export function versionRoutes(scope: Scope, release: string): void {
  scope.get(
    '/version',
    {
      config: { access: anyone },
      schema: { summary: 'Get the version of the API', tags: ['server'], response: { 200: ServerVersion } },
    },
    async (_request, reply) => {
      reply.header(RELEASE_HEADER, release);
      return { version: API_VERSION };
    },
  );
}
