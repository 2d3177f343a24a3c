import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';
import { temporaryFolder } from '../server/db.ts';

export type Relay = Awaited<ReturnType<typeof openRelay>>;

/**
 * Passes connections on to a server, or from `leadTo` on to another one, until it is cut: then the port is closed, and
 * every connection is reset. With `tls`, its own address is https: clients of Kubernetes send their tokens over nothing else.
 */
export async function openRelay(target: string, way: 'plain' | 'tls' = 'plain') {
  let { hostname, port } = new URL(target);
  const tls = way === 'tls' ? createCertificate() : undefined;
  const sockets = new Set<Socket>();
  let server = await listen(0);
  const address = server.address();
  const own = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${own}`,
    /** What its certificate is verified with. */
    ca: tls?.cert,
    leadTo(next: string): void {
      ({ hostname, port } = new URL(next));
    },
    async cut() {
      const closed = new Promise((done) => server.close(done));
      // A connection with TLS cannot be reset.
      for (const socket of sockets)
        if (socket instanceof TLSSocket) socket.destroy();
        else socket.resetAndDestroy();
      await closed;
    },
    async restore() {
      server = await listen(own);
    },
  };

  function listen(at: number): Promise<Server> {
    const onConnection = (from: Socket) => {
      const to = connect(Number(port), hostname);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        sockets.add(one);
        one.once('close', () => {
          sockets.delete(one);
          other.destroy();
        });
        one.on('error', () => other.destroy());
        one.pipe(other);
      }
    };
    const opened: Server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection);
    return new Promise((done) => opened.listen(at, '127.0.0.1', () => done(opened)));
  }
}

function createCertificate(): TlsOptions & { readonly cert: string } {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  const names = ['-subj', '/CN=relay', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const files = ['-keyout', path('key'), '-out', path('cert')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...key, ...names, ...files], { stdio: 'ignore' });
  return { key: readFileSync(path('key'), 'utf8'), cert: readFileSync(path('cert'), 'utf8') };
}
