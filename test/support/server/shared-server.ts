import { after } from 'node:test';
import { openTestServer, type TestServer } from './server.ts';

export type Deployment = 'standard' | 'hosted' | 'marketplace';

const servers = new Map<Deployment, Promise<TestServer>>();
after(async () => {
  for (const atrium of servers.values()) await (await atrium).close();
});

/**
 * One server for all files of a process, for tests that change nothing in it that another test could notice. Must not
 * be closed.
 */
export function sharedServer(deployment: Deployment = 'standard'): Promise<TestServer> {
  // Without any address range the listener could not check callers at all.
  const env = { DEPLOYMENT: deployment, CLOUD_A_RANGES: 'src/operations/demo/address-ranges.json' };
  const atrium = servers.get(deployment) ?? openTestServer({ env });
  servers.set(deployment, atrium);
  return atrium;
}
