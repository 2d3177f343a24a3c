import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { originFormTarget } from './target.ts';

export interface AdminServer {
  readonly port: number;
  /** From now on the server is not ready: load balancers send no more requests. */
  drain(): void;
  close(): Promise<void>;
}

/** What the admin port shows, of one process or of several. Every answer comes soon, or is a rejection. */
export interface AdminSource {
  /** Rejects if requests would not be answered well; the message says why. */
  readonly ready: () => Promise<unknown>;
  /** Rejects if only a restart would help. Without it, an answer is proof enough. */
  readonly alive?: () => Promise<unknown>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
}

/** A probe sends its few lines in one piece. A client that takes longer only holds a connection. */
const TIMES = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
};
/** Also for clients that do not read their response. */
const SILENCE_MS = 10_000;
const MAX_CONNECTIONS = 100;

/**
 * The operator's port: health, readiness and metrics. Not for the public. At the maximum of connections, a new one
 * replaces the one on which nothing has begun or ended for longest. So probes get in however many clients hold
 * connections: turning away new ones would make Kubernetes restart a server that is well.
 */
export async function openAdmin(
  place: { host: string; port: number },
  { ready, alive, metrics }: AdminSource,
): Promise<AdminServer> {
  let draining = false;
  // In the order in which they were opened, or their last request began or ended.
  const connections = new Set<Socket>();
  const server = createServer(TIMES, (request, response) => {
    moveUp(request.socket);
    response.once('close', () => moveUp(request.socket));
    answer(originFormTarget(request.url ?? '').split('?', 1)[0] ?? '', response).catch(() =>
      send(response, 500, 'text/plain', 'internal error\n'),
    );
  });
  server.setTimeout(SILENCE_MS);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    const [longest] = connections.size > MAX_CONNECTIONS ? connections : [];
    if (longest === undefined) return;
    connections.delete(longest);
    longest.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ port: place.port, host: place.host, exclusive: true }, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      draining = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function moveUp(socket: Socket): void {
    if (connections.delete(socket)) connections.add(socket);
  }

  async function answer(url: string, response: ServerResponse): Promise<void> {
    if (url === '/healthz') await report(response, 'ok', alive);
    else if (url === '/readyz' && draining) send(response, 503, 'text/plain', 'draining\n');
    else if (url === '/readyz') await report(response, 'ready', ready);
    else if (url === '/metrics') {
      const { type, text } = await metrics();
      send(response, 200, type, text);
    } else send(response, 404, 'text/plain', 'not found: try /healthz, /readyz or /metrics\n');
  }

  async function report(response: ServerResponse, word: string, look = async (): Promise<unknown> => undefined) {
    try {
      await look();
      send(response, 200, 'text/plain', `${word}\n`);
    } catch (error) {
      send(response, 503, 'text/plain', `${(error as Error).message}\n`);
    }
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
