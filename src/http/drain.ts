import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_EVERY_MS = 50;

/**
 * Closing a server waits for every connection to end. Node ends those that are idle at that moment, but neither those
 * that become idle when their answer is sent, nor those on which a browser has not said a word yet.
 */
export function createDrain(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  /** Until it is stopped: ends connections as they fall idle, and all the others when patience is over. */
  return function drain(patienceMs: number): () => void {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const look = setInterval(() => server.closeIdleConnections(), LOOK_EVERY_MS);
    const impatience = setTimeout(() => server.closeAllConnections(), patienceMs);
    return () => {
      clearInterval(look);
      clearTimeout(impatience);
    };
  };
}
