import { createServer } from 'node:net';
import type { Config } from '../base/config/config.ts';

/**
 * Opens each port for a moment, before anything is changed: a server that cannot serve must not migrate the database
 * first. Throws what listening there throws.
 */
export async function requireFreePorts(config: Config): Promise<void> {
  const { HOST, PORT, ADMIN_HOST, ADMIN_PORT, DEPLOYMENT, MARKETPLACE_PORT } = config;
  await open(HOST, PORT);
  await open(ADMIN_HOST, ADMIN_PORT);
  if (DEPLOYMENT === 'marketplace') await open(HOST, MARKETPLACE_PORT ?? 0);
}

async function open(host: string, port: number): Promise<void> {
  if (port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}
