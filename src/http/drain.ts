import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_EVERY_MS = 50;

/** How a server stops without losing a request. */
export interface Drain {
  /** From now on every response says `Connection: close`, so that clients send their next request elsewhere. */
  announce(): void;
  /**
   * Leaves new connections to the other workers of this port. One that arrived at the last moment would be closed before
   * its first request is read.
   */
  decline(): void;
  /** Closes connections as they become idle, and all other connections when the time is up. */
  start(patienceMs: number): void;
  /** Closes all connections now. */
  cut(): void;
  stop(): void;
}

/**
 * Closing a server waits for every connection to end. Node closes those that are idle at that moment, but neither those
 * that become idle after their response is sent, nor those on which a browser has not sent anything yet.
 */
export function createDrain(server: Server): Drain {
  const sockets = new Set<Socket>();
  let isAnnounced = false;
  let look: NodeJS.Timeout | undefined;
  let impatience: NodeJS.Timeout | undefined;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return {
    announce() {
      if (isAnnounced) return;
      isAnnounced = true;
      server.prependListener('request', (_request, response: ServerResponse) => {
        response.shouldKeepAlive = false;
      });
    },
    decline() {
      server.maxConnections = 0;
    },
    start(patienceMs) {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      look = setInterval(() => server.closeIdleConnections(), LOOK_EVERY_MS);
      impatience = setTimeout(() => server.closeAllConnections(), patienceMs);
    },
    cut: () => server.closeAllConnections(),
    stop() {
      clearInterval(look);
      clearTimeout(impatience);
    },
  };
}
