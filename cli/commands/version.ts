import { command } from '../command.ts';
import { Failure } from '../failure.ts';
import { one } from '../output.ts';
import { ownVersion } from '../release.ts';

const UNKNOWN = 'unknown: no server is configured';

export const version = command({
  summary: 'show the versions of this program and of the server',
  details: 'The API has a version of its own, by which client libraries choose their calls.',
  examples: ['atrium version'],
  async run(session) {
    const row = { program: `v${ownVersion()}`, node: process.version, ...(await ofServer()) };
    return one(row, {
      program: (it) => it.program,
      node: (it) => it.node,
      server: (it) => it.server,
      api: (it) => it.api,
    });

    /** Prints the version of the program even if the user is not signed in. */
    async function ofServer(): Promise<{ server: string; api: string }> {
      const url = session.env.ATRIUM_URL || session.context()?.context.url;
      if (!url) return { server: UNKNOWN, api: UNKNOWN };
      try {
        const { data, headers } = await session.connect({ url }).request('GET /version');
        return { server: headers.get('x-atrium-release') ?? 'unknown: from before v0.9.0', api: data.version };
      } catch (error) {
        if (error instanceof Failure) throw error;
        const unknown = `unknown: ${(error as Error).message}`;
        return { server: unknown, api: unknown };
      }
    }
  },
});
