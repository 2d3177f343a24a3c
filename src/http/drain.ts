import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_EVERY_MS = 50;

/**
 * Closing a server waits for every connection to end. Node closes those that are idle at that moment, but neither those
 * that become idle after their response is sent, nor those on which a browser has not sent anything yet.
 */
export function createDrain(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  /** Until it is stopped: closes connections as they become idle, and all the others when the time is up. */
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
