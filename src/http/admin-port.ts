import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../base/metrics.ts';
import { originForm } from './target.ts';

export interface AdminServer {
  readonly port: number;
  /** From now on the server is not ready: load balancers send no more requests. */
  drain(): void;
  close(): Promise<void>;
}

/** Something that the server cannot work without. */
export interface Need {
  readonly reach: () => Promise<void>;
  /** Says in words what is wrong; the error is undefined if there was no answer in time. */
  readonly fault: (error: unknown) => string;
}

const READY_WITHIN_MS = 2000;

/** The operator's port: health, readiness and metrics. Not for the public. */
export async function openAdmin(
  place: { host: string; port: number },
  metrics: Metrics,
  needs: readonly Need[],
): Promise<AdminServer> {
  let draining = false;
  const server = createServer((request, response) => {
    answer(originForm(request.url ?? '').split('?', 1)[0] ?? '', response).catch(() =>
      send(response, 500, 'text/plain', 'internal error\n'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(place.port, place.host, () => resolve());
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

  async function answer(url: string, response: ServerResponse): Promise<void> {
    if (url === '/healthz') send(response, 200, 'text/plain', 'ok\n');
    else if (url === '/readyz') await answerReady(response);
    else if (url === '/metrics') {
      send(response, 200, metrics.registry.contentType, await metrics.registry.metrics());
    } else send(response, 404, 'text/plain', 'not found: try /healthz, /readyz or /metrics\n');
  }

  async function answerReady(response: ServerResponse): Promise<void> {
    if (draining) return send(response, 503, 'text/plain', 'draining\n');
    const timeout = new Promise((_resolve, reject) => setTimeout(reject, READY_WITHIN_MS).unref());
    for (const { reach, fault } of needs) {
      const wrong = await Promise.race([reach(), timeout]).then(() => undefined, fault);
      if (wrong !== undefined) return send(response, 503, 'text/plain', `${wrong}\n`);
    }
    send(response, 200, 'text/plain', 'ready\n');
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
