import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https, { type Agent } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { debianTool } from '../support/services/deploy-tools.ts';
import { freePort } from '../support/services/ports.ts';
import { endProxies, runNginx, runProxy } from '../support/services/proxy-process.ts';

const MIB = 1024 * 1024;
/** Per minute. More than all other requests of a client in this file, and little enough to be exceeded. */
const RATE_LIMIT = 150;
after(endProxies);

interface Proxy {
  readonly name: string;
  /** Starts it with the configuration of deploy/. Returns its address, or undefined if it is missing. */
  start(ports: Ports): Promise<string | { missing: string }>;
  readonly maxBody: number;
}

interface Ports {
  readonly server: number;
  readonly admin: number;
  /** Nothing listens there. */
  readonly dead: number;
}

const nginx: Proxy = {
  name: 'nginx',
  maxBody: 16 * MIB,
  async start({ server, dead }) {
    const program = await debianTool('nginx', 'usr/sbin/nginx');
    if ('missing' in program) return program;
    const folder = temporaryFolder();
    const [plain, secure] = [await freePort(), await freePort()];
    const subject = ['-subj', '/CN=atrium.example.com', '-days', '2', '-nodes'];
    const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...files], { stdio: 'ignore' });
    const site = readFileSync('deploy/nginx/atrium.conf', 'utf8')
      .replace('127.0.0.1:3000', `127.0.0.1:${server}`)
      .replace('127.0.0.1:3010', `127.0.0.1:${dead}`)
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ', `listen 127.0.0.1:${secure} `)
      .replaceAll('/etc/ssl/atrium', folder);
    await runNginx(program.path, site, secure, folder);
    return `https://127.0.0.1:${secure}`;
  },
};

const caddy: Proxy = {
  name: 'Caddy',
  maxBody: Number.POSITIVE_INFINITY,
  async start({ server, admin, dead }) {
    const program = await debianTool('caddy', 'usr/bin/caddy');
    if ('missing' in program) return program;
    const port = await freePort();
    const file = join(temporaryFolder(), 'Caddyfile');
    // Like every server under test, only on loopback.
    const text = readFileSync('deploy/caddy/Caddyfile', 'utf8').replace(
      'admin off',
      'admin off\n\tdefault_bind 127.0.0.1',
    );
    writeFileSync(file, text);
    const env = {
      SITE_ADDRESS: `http://atrium.example.com:${port}`,
      UPSTREAMS: `127.0.0.1:${server} 127.0.0.3:${dead}`,
      ADMIN_PORT: String(admin),
      HOME: temporaryFolder(),
    };
    await runProxy(program.path, ['run', '--adapter', 'caddyfile', '--config', file], env, port);
    return `http://127.0.0.1:${port}`;
  },
};

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
}

interface Sending {
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly agent?: http.Agent | Agent;
}

/** Sends a request from one of the addresses of loopback. */
function send(
  url: string,
  { from = '127.0.0.2', method = 'GET', headers = {}, body, agent }: Sending = {},
): Promise<Reply> {
  const isSecure = url.startsWith('https:');
  const options = {
    method,
    localAddress: from,
    agent: agent ?? false,
    headers: { Host: 'atrium.example.com', ...(body && { 'Content-Length': body.length }), ...headers },
    ...(isSecure && { rejectUnauthorized: false, servername: 'atrium.example.com' }),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https : http).request(url, options as https.RequestOptions, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    // Whoever answers before the whole body has arrived may close the connection.
    request.once('error', reject);
    request.end(body);
  });
}

for (const { name, start, maxBody } of [nginx, caddy]) {
  describe(`${name} in front of Atrium`, () => {
    let server: TestServer;
    let proxy: string;
    let missing: string | undefined;
    let port: number;
    before(async () => {
      const admin = await freePort();
      const dead = await freePort();
      const env = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: String(RATE_LIMIT), ADMIN_PORT: String(admin) };
      server = await openTestServer({ driver: 'pglite', env: { ...env, BASE_URL: 'https://atrium.example.com' } });
      port = Number(new URL(server.url).port);
      const started = await start({ server: port, admin, dead });
      if (typeof started === 'string') proxy = started;
      else missing = started.missing;
    });
    after(() => server.close());
    const withProxy = (title: string, work: () => Promise<void>) =>
      it(title, async (test) => (missing === undefined ? work() : test.skip(missing)));
    const asAnn = () => ({ Authorization: `token ${server.world.users.ann?.token}` });
    const addressesLogged = () =>
      [...server.logged().matchAll(/"route":"\/api\/v1\/\*\*\*","ip":"([^"]+)"/g)].map(([, address]) => address);

    withProxy(`The server behind ${name} sees the address of the client, also if it claims another`, async () => {
      const before = addressesLogged().length;
      const claims = ['9.9.9.9', '127.0.0.1', '9.9.9.9, 127.0.0.1'].map((claim) => ({ 'X-Forwarded-For': claim }));
      for (const headers of [{}, ...claims]) {
        assert.equal((await send(`${proxy}/api/v1/nothing`, { from: '127.0.0.5', headers })).status, 404);
      }
      assert.deepEqual(addressesLogged().slice(before), Array(4).fill('127.0.0.5'));
    });

    withProxy(`A client that exceeds the rate limit behind ${name} does not use up that of the others`, async () => {
      const from = '127.0.0.9';
      let answered = 0;
      // The allowance grows back while the requests are sent.
      while ((await send(`${proxy}/api/v1/version`, { from })).status === 200 && answered < 20 * RATE_LIMIT) answered++;
      assert.ok(answered >= RATE_LIMIT && answered < 20 * RATE_LIMIT, `${answered} requests were answered`);
      assert.equal((await send(`${proxy}/api/v1/version`, { from: '127.0.0.10' })).status, 200);
    });

    withProxy(`A body that is too large gets the same answer through ${name} as without it`, async () => {
      const headers = { ...asAnn(), 'Content-Type': 'application/json' };
      const answers = async (url: string, bytes: number) => {
        const body = Buffer.alloc(bytes, ' ');
        const { status, text, headers: sent } = await send(`${url}/api/v1/orgs`, { method: 'POST', headers, body });
        return { status, text, type: sent['content-type'] };
      };
      for (const bytes of [MIB + 1, 2 * MIB, 15 * MIB]) {
        const direct = await answers(server.url, bytes);
        assert.deepEqual([direct.status, direct.type], [413, 'application/json; charset=utf-8']);
        assert.deepEqual(await answers(proxy, bytes), direct, `${bytes} bytes`);
      }
      if (maxBody < 100 * MIB) assert.equal((await answers(proxy, maxBody + 1)).status, 413);
      const largest = await answers(proxy, MIB);
      assert.equal(largest.status, 422, 'a body of exactly 1 MiB reaches the route');
    });

    withProxy(
      `${name} keeps its connections to the server, and closes none in which a request is under way`,
      async () => {
        let connections = 0;
        const count = (message: unknown) => {
          if ((message as { socket: Socket }).socket.localPort === port) connections += 1;
        };
        subscribe('net.server.socket', count);
        const agent = proxy.startsWith('https:')
          ? new https.Agent({ keepAlive: true })
          : new http.Agent({ keepAlive: true });
        for (let round = 0; round < 50; round++) {
          assert.equal((await send(`${proxy}/api/v1/user`, { headers: asAnn(), agent })).status, 200);
        }
        agent.destroy();
        unsubscribe('net.server.socket', count);
        assert.ok(connections <= 5, `${connections} connections for 50 requests`);
      },
    );

    withProxy(`${name} passes a long response on as it is, and headers of both sides`, async () => {
      const path = '/api/v1/user/audit/export';
      const [direct, through] = await Promise.all(
        [server.url, proxy].map((url) => send(`${url}${path}`, { headers: { ...asAnn(), 'X-Request-Id': 'my-own' } })),
      );
      assert.equal(direct?.status, 200);
      assert.equal(through?.text, direct?.text);
      assert.equal(through?.headers['x-request-id'], 'my-own');
      assert.equal(through?.headers['content-security-policy'], direct?.headers['content-security-policy']);
    });

    withProxy(`A second server that is gone costs no request behind ${name}`, async () => {
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => (await send(`${proxy}/api/v1/version`, { from: '127.0.0.11' })).status),
      );
      assert.deepEqual(new Set(statuses), new Set([200]));
    });
  });
}
