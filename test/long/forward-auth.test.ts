import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/checks/until.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { caddy, envoy, nginx, traefik } from '../support/services/gateways.ts';
import { endProxies } from '../support/services/proxy-process.ts';
import { openRelay, type Relay } from '../support/services/relay.ts';
import { assign, openPlace, type Place } from '../support/world/assignments.ts';

const MIB = 1024 * 1024;
const GUIDE = 'docs/gateways.md';
/** Other ways to write a header that applications take for X-Atrium-User. */
const FORGED = ['X-Atrium-User', 'x-atrium-user', 'X_Atrium_User', 'X-Atrium_User', 'x_atrium-user'];

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
}

/** What the application got. */
interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: number;
}

for (const gateway of [nginx(), caddy, traefik, envoy]) {
  describe(`An application behind ${gateway.name} that asks Atrium`, () => {
    let atrium: TestServer;
    let place: Place;
    let relay: Relay;
    let app: App;
    let url: string;
    let missing: string | undefined;
    before(async () => {
      const tool = await gateway.tool();
      if ('missing' in tool) {
        missing = tool.missing;
        return;
      }
      const env = { RATE_LIMIT: '0', TRUSTED_PROXIES: '127.0.0.1', BASE_URL: 'https://atrium.example.com' };
      atrium = await openTestServer({ driver: 'pglite', env });
      place = await openPlace(atrium);
      relay = await openRelay(atrium.url);
      app = await openApp();
      const asked = { atrium: relay.url.slice('http://'.length), app: app.address, organization: place.org.name };
      url = await gateway.start(tool.path, asked);
    });
    after(async () => {
      endProxies();
      await app?.close();
      await relay?.cut();
      await atrium?.close();
    });
    const there = (title: string, work: () => Promise<void>) =>
      it(title, async (test) => (missing === undefined ? work() : test.skip(missing)));
    const asOwner = () => ({ Authorization: `token ${place.owner.token}` });
    const asDan = () => ({ Authorization: `token ${place.dan.token}` });
    const get = (headers: http.OutgoingHttpHeaders, path = '/some/page?a=b') => send(`${url}${path}`, { headers });
    const lastHeaders = (): http.IncomingHttpHeaders => app.heard.at(-1)?.headers ?? {};
    /** The request does not reach the application. */
    const rejected = async (sending: () => Promise<Reply>, ...statuses: number[]): Promise<Reply> => {
      const before = app.heard.length;
      const reply = await sending();
      assert.ok(statuses.includes(reply.status), `${reply.status}: ${reply.text}`);
      assert.equal(app.heard.length, before);
      return reply;
    };

    there(`${gateway.name} says who it is, and keeps their credential to itself`, async () => {
      const { status, text } = await get(asOwner());
      assert.equal(status, 200, text);
      const heard = app.heard.at(-1);
      assert.deepEqual([heard?.method, heard?.url], ['GET', '/some/page?a=b']);
      assert.equal(heard?.headers.host, 'app.example.com');
      assert.equal(heard.headers['x-atrium-user'], place.owner.name);
      assert.equal(heard.headers['x-atrium-user-id'], String(place.owner.id));
      assert.match(String(heard.headers['x-atrium-reason']), /can connect to prod because/);
      assert.deepEqual([heard.headers.authorization, heard.headers.cookie], [undefined, undefined]);
    });

    there(`Without a credential, or with a wrong one, ${gateway.name} answers 401`, async () => {
      await rejected(() => get({}), 401);
      await rejected(() => get({ Authorization: 'token nonsense' }), 401);
      await rejected(() => get({}, `/?token=${place.owner.token}`), 401);
    });

    there(`Who may not gets 403 from ${gateway.name}, and passes as soon as they may, until they may not`, async () => {
      const reply = await rejected(() => get(asDan()), 403);
      if (gateway.passesAnswers) assert.equal(JSON.parse(reply.text).reason, 'forbidden', reply.text);
      const dan = { type: 'user', id: Number(place.dan.id) };
      const { id } = await assign(place, place.operator.id, dan, { type: 'cluster', id: place.prod.id });
      assert.equal((await get(asDan())).status, 200);
      assert.equal(app.heard.at(-1)?.headers['x-atrium-user'], place.dan.name);
      assert.equal((await place.call('DELETE', place.at(id))).status, 204);
      await rejected(() => get(asDan()), 403);
    });

    there(`Nobody can tell the application behind ${gateway.name} that they are another`, async () => {
      for (const name of FORGED) {
        const { status, text } = await get({ ...asOwner(), [name]: 'root', 'X-Atrium-Id': '1', X_Atrium_Reason: 'x' });
        assert.equal(status, 200, text);
        const headers = lastHeaders();
        const claims = Object.entries(headers).filter(([key]) => key.replaceAll('_', '-') === 'x-atrium-user');
        assert.deepEqual(claims, [['x-atrium-user', place.owner.name]], name);
        const reasons = Object.entries(headers).filter(([key]) => key.replaceAll('_', '-') === 'x-atrium-reason');
        assert.equal(reasons.length, 1, JSON.stringify(reasons));
        await rejected(() => get({ [name]: place.owner.name }), 401);
        await rejected(() => get({ ...asDan(), [name]: place.owner.name }), 403);
      }
    });

    there(`What a client says to Atrium through ${gateway.name} changes nothing, or is rejected`, async () => {
      const root = { Authorization: `token ${atrium.world.users.root?.token}` };
      for (const [headers, path] of [
        [{ Sudo: place.owner.name }, '/'],
        [{}, `/?sudo=${place.owner.name}`],
        [{ 'X-Original-URI': '/', 'X-Forwarded-Uri': '/', 'X-Forwarded-For': '127.0.0.1', Prefer: 'status=500' }, '/'],
      ] as const) {
        await rejected(() => get({ ...asDan(), ...headers }, path), 403);
        const reply = await get({ ...root, ...headers }, path);
        if (reply.status === 200) assert.equal(app.heard.at(-1)?.headers['x-atrium-user'], 'root');
        else assert.equal(reply.status, 403, reply.text);
      }
    });

    there(`A session counts behind ${gateway.name}, and the application never sees it`, async () => {
      const session = await atrium.as()('POST', '/user/signin', { token: place.owner.token });
      const [cookie = ''] = session.headers.getSetCookie().map((one) => one.split(';')[0]);
      assert.match(cookie, /atrium_session=/);
      const { status, text } = await get({ Cookie: `theme=dark; ${cookie}` });
      assert.equal(status, 200, text);
      const headers = lastHeaders();
      assert.deepEqual([headers['x-atrium-user'], headers.cookie], [place.owner.name, undefined]);
      await rejected(() => get({ Cookie: `${cookie}x` }), 401);
    });

    there(`${gateway.name} passes bodies on to the application, and not to Atrium`, async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const body = Buffer.alloc(method === 'POST' ? MIB / 2 : 10, 'x');
        const headers = { ...asOwner(), 'Content-Type': 'application/octet-stream' };
        const { status, text } = await send(`${url}/upload`, { method, headers, body });
        assert.equal(status, 200, text);
        const { method: heard, bytes } = app.heard.at(-1) ?? {};
        assert.deepEqual([heard, bytes], [method, body.length]);
      }
      await rejected(() => send(`${url}/upload`, { method: 'POST', headers: asDan(), body: Buffer.alloc(10) }), 403);
    });

    there(`A WebSocket opens through ${gateway.name} for users who may, and for no other`, async () => {
      const { status, echo } = await upgrade(`${url}/socket`, asOwner(), 'hello');
      assert.deepEqual([status, echo], [101, 'hello']);
      assert.equal(app.heard.at(-1)?.headers['x-atrium-user'], place.owner.name);
      await rejected(() => upgrade(`${url}/socket`, asDan(), 'hello'), 403);
      await rejected(() => upgrade(`${url}/socket`, {}, 'hello'), 401);
    });

    if (gateway.name === 'nginx') {
      there('Cookies that the guide names reach the application behind nginx, and no others', async () => {
        const tool = await gateway.tool();
        assert.ok('path' in tool);
        const [line = ''] = /^proxy_set_header Cookie .*;$/m.exec(readFileSync(GUIDE, 'utf8')) ?? [];
        const asked = { atrium: new URL(atrium.url).host, app: app.address, organization: place.org.name };
        const other = await nginx({ 'proxy_set_header Cookie "";': line }).start(tool.path, asked);
        const headers = { ...asOwner(), Cookie: 'atrium_session=a; app_session=b; atrium_session=c; theme=dark' };
        assert.equal((await send(`${other}/`, { headers: { ...headers } })).status, 200);
        assert.equal(app.heard.at(-1)?.headers.cookie, 'app_session=b');
      });
    }

    there(`While Atrium is gone, ${gateway.name} lets nobody in`, async () => {
      await relay.cut();
      for (const headers of [asOwner(), asDan(), {}]) await rejected(() => get(headers), 403, 500, 502, 503, 504);
      await relay.restore();
      await until(async () => (await get(asOwner())).status === 200);
      await rejected(() => get(asDan()), 403);
    });
  });
}

interface App {
  readonly address: string;
  readonly heard: readonly Heard[];
  close(): Promise<void>;
}

/** Notes each request, and repeats what comes over a connection that has become another. */
async function openApp(): Promise<App> {
  const heard: Heard[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    heard.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, bytes });
    response.end('the application');
  });
  server.on('upgrade', (request, socket: Socket) => {
    heard.push({ method: 'upgrade', url: request.url ?? '', headers: request.headers, bytes: 0 });
    sockets.add(socket);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.on('error', () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    heard,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Sending {
  readonly method?: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body?: Buffer;
}

function send(url: string, { method = 'GET', headers, body }: Sending): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = body && { 'Content-Length': body.length };
    const own = { Host: 'app.example.com', ...length };
    const sent = http.request(url, { method, agent: false, headers: { ...own, ...headers } });
    sent.once('error', reject);
    sent.once('response', (response) => void read(response).then(resolve, reject));
    sent.end(body);
  });
}

async function read(response: http.IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  };
}

/** Asks for a WebSocket, and sends a text over it. */
function upgrade(url: string, more: http.OutgoingHttpHeaders, text: string): Promise<Reply & { echo: string }> {
  const asking = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
  const headers = { Host: 'app.example.com', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', ...asking, ...more };
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { agent: false, headers });
    sent.once('error', reject);
    sent.once('response', (response) => {
      read(response).then((reply) => resolve({ ...reply, echo: '' }), reject);
    });
    sent.once('upgrade', ({ statusCode = 0, headers: answered }, socket) => {
      socket.once('data', (chunk: Buffer) => {
        socket.destroy();
        resolve({ status: statusCode, headers: answered, text: '', echo: chunk.toString() });
      });
      socket.write(text);
    });
    sent.end();
  });
}
