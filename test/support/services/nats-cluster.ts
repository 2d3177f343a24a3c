import type { NatsConnection } from '@nats-io/transport-node';
import { openTestServer, type TestServer } from '../server/server.ts';
import { newNats, type TestNats } from './nats.ts';
import { freePort } from './ports.ts';

export interface TestCluster {
  readonly atrium: TestServer;
  readonly servers: readonly TestNats[];
  close(): Promise<void>;
}

/** A server on PostgreSQL or PGlite, and next to it several NATS servers with the configurations that it prints. */
export async function openTestCluster(size: number): Promise<TestCluster> {
  const servers: TestNats[] = [];
  const routes: string[] = [];
  for (let count = 0; count < size; count++) {
    servers.push(await newNats());
    routes.push(`127.0.0.1:${await freePort()}`);
  }
  const env = { BUS_URL: servers.map(({ url }) => url).join(), BUS_WS_URL: servers.map(({ wsUrl }) => wsUrl).join() };
  const atrium = await openTestServer({ env });
  const starting = servers.map(async (server, index) => {
    const which = { number: index + 1, routes };
    await server.start(await atrium.instance.features.bus.serverConfig(server.folder, which));
  });
  try {
    await Promise.all(starting);
  } catch (error) {
    // What is left open would keep the process of the test from ending.
    await Promise.allSettled(starting);
    await close();
    throw error;
  }
  return { atrium, servers, close };

  async function close(): Promise<void> {
    await atrium.close();
    for (const server of servers) await server.kill();
  }
}

/** Whether a server rejects these credentials. Anything but a rejection of them is a fault. */
export async function rejects(server: TestNats, credentials: string): Promise<boolean> {
  let connection: NatsConnection;
  try {
    connection = await server.connect(credentials);
  } catch (error) {
    if (/authorization|authentication/i.test(String(error))) return true;
    throw error;
  }
  await connection.close();
  return false;
}
