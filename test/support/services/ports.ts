import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

/** Below it, system services listen. */
const FIRST_PORT = 10_000;
const LAST_PORT = 65_535;
const ATTEMPTS = 100;

/**
 * A port that is currently free, and that no connection takes in the meantime: the system gives those only ports of its
 * own range.
 */
export async function freePort(): Promise<number> {
  const ports = portsOutside(ephemeralRange());
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = ports[Math.floor(Math.random() * ports.length)] ?? 0;
    const taken = await occupy(port).catch(() => undefined);
    if (taken === undefined) continue;
    await taken.close();
    return taken.port;
  }
  throw new Error(`none of ${ATTEMPTS} ports between ${ports[0]} and ${ports.at(-1)} is free`);
}

export function occupyPort(): Promise<{ port: number; close: () => Promise<void> }> {
  return occupy(0);
}

async function occupy(wanted: number): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** All ports from FIRST_PORT on that are not in the range. If there are too few, port 0 lets the system choose. */
export function portsOutside([low, high]: readonly [low: number, high: number]): readonly number[] {
  const all = Array.from({ length: LAST_PORT - FIRST_PORT + 1 }, (_, index) => FIRST_PORT + index);
  const outside = all.filter((port) => port < low || port > high);
  return outside.length < 1000 ? [0] : outside;
}

function ephemeralRange(): readonly [low: number, high: number] {
  try {
    const [low = 0, high = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
    return [low, high];
  } catch {
    // The range that most other systems use.
    return [49_152, LAST_PORT];
  }
}
