import { readFileSync } from 'node:fs';
import { command } from '../command.ts';
import { Failure } from '../failure.ts';
import { one } from '../output.ts';

const UNKNOWN = 'unknown: no server is configured';

export const version = command({
  summary: 'show the versions of this program and of the server',
  examples: ['atrium version'],
  async run(session) {
    const row = { program: `v${ownVersion()}`, node: process.version, server: await serverVersion() };
    return one(row, { program: (it) => it.program, node: (it) => it.node, server: (it) => it.server });

    /** Prints the version of the program even if the user is not signed in. */
    async function serverVersion(): Promise<string> {
      const url = session.env.ATRIUM_URL || session.context()?.context.url;
      if (!url) return UNKNOWN;
      try {
        return (await session.connect({ url }).call('GET /version')).version;
      } catch (error) {
        if (error instanceof Failure) throw error;
        return `unknown: ${(error as Error).message}`;
      }
    }
  },
});

/** package.json is one folder above cli/, and two above dist/cli/. */
export function ownVersion(): string {
  for (const place of ['../../package.json', '../../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {}
  }
  return '0.0.0';
}
