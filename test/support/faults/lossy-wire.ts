import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export interface LossyWire {
  /** The database, reached through this proxy. */
  readonly url: string;
  /** The next COMMIT reaches the database, but its answer is lost and the connection breaks. */
  loseNextCommit(): void;
  close(): void;
}

/** The name of the prepared statement, which may follow others in the same piece. */
const COMMIT = Buffer.from('db.commit\0');

/** A proxy between a server and PostgreSQL that can lose the answer to a COMMIT. */
export async function openLossyWire(databaseUrl: string): Promise<LossyWire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isArmed = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let isLosing = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.on('data', (chunk) => {
      if (isArmed && chunk.includes(COMMIT)) {
        isArmed = false;
        isLosing = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (isLosing) near.destroy();
      else near.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    loseNextCommit() {
      isArmed = true;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
