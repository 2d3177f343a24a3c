import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port that is currently free. */
export async function freePort(): Promise<number> {
  const { port, close } = await occupyPort();
  await close();
  return port;
}

export async function occupyPort(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
