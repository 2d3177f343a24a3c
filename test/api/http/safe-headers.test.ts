import assert from 'node:assert/strict';
import { get } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** The names and values as they were on the wire. A header that was sent twice is in the list twice. */
function headersOf(url: string, sent: Record<string, string> = {}): Promise<[string, string][]> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { 'x-request-id': 'mine', ...sent } }, (answer) => {
      answer.resume();
      const { rawHeaders } = answer;
      resolve(rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? '']] : [])));
    }).on('error', reject);
  });
}

const JSON_POLICY = "default-src 'none'; frame-ancestors 'none'";

describe('Response headers', () => {
  let atrium: TestServer;
  let behindTls: TestServer;
  let limited: TestServer;
  before(async () => {
    atrium = await openTestServer();
    behindTls = await openTestServer({ env: { BASE_URL: 'https://atrium.example' } });
    limited = await openTestServer({ env: { RATE_LIMIT: '1000' } });
  });
  after(async () => {
    await atrium.close();
    await behindTls.close();
    await limited.close();
  });

  for (const [path, cache, policy] of [
    ['/api/v1/version', 'no-store', JSON_POLICY],
    ['/api/v1/user', 'no-store', JSON_POLICY],
    ['/api/v1/nowhere', 'no-store', JSON_POLICY],
    ['/api/v1/%zz', 'no-store', JSON_POLICY],
    ['/api/v1/docs', 'no-store', undefined],
    ['/api/v1/docs/swagger-ui.css', 'public, max-age=86400', JSON_POLICY],
    ['/', 'private, no-cache', undefined],
  ] as const) {
    it(`GET ${path} sends each header once, and a value of the route replaces the default`, async () => {
      const headers = await headersOf(`${atrium.url}${path}`);
      const names = headers.map(([name]) => name);
      assert.deepEqual(names, [...new Set(names)]);
      const found = new Map(headers);
      assert.equal(found.get('x-request-id'), 'mine');
      assert.equal(found.get('cache-control'), cache);
      assert.equal(found.get('x-content-type-options'), 'nosniff');
      assert.equal(found.get('x-frame-options'), 'DENY');
      assert.equal(found.get('referrer-policy'), 'no-referrer');
      if (policy) assert.equal(found.get('content-security-policy'), policy);
      else assert.match(found.get('content-security-policy') ?? '', /default-src .*'self'|script-src/);
      assert.equal(found.get('strict-transport-security'), undefined);
    });
  }

  it('Strict-Transport-Security is sent when BASE_URL uses https', async () => {
    const found = new Map(await headersOf(`${behindTls.url}/api/v1/version`));
    assert.equal(found.get('strict-transport-security'), 'max-age=31536000');
  });

  // A short text is not sent by Fastify, and one with a header of its own is.
  it('a short answer has the headers, the type and the length that Fastify would send', async () => {
    const headers = { authorization: `token ${limited.world.users.ann?.token}` };
    const short = await headersOf(`${limited.url}/api/v1/user`, headers);
    const usual = await headersOf(`${limited.url}/api/v1/user?check_client_org=1`, headers);
    const names = (list: [string, string][]) => list.map(([name]) => name).sort();
    assert.deepEqual(names(short), names(usual));
    const [one, other] = [new Map(short), new Map(usual)];
    for (const name of ['date', 'ratelimit', 'content-length']) [one, other].map((map) => map.delete(name));
    assert.deepEqual([...one].sort(), [...other].sort());
    assert.match(new Map(short).get('ratelimit') ?? '', /^"default";r=\d+;t=\d+$/);
  });

  it('a short answer has its length in bytes, with characters beyond ASCII too', async () => {
    const ann = limited.as('ann');
    for (const full_name of ['Ann Müller', 'Ann 🎉', 'Ann']) {
      await ann('PATCH', '/user', { full_name });
      const { status, headers, text, body } = await ann('GET', '/user');
      assert.equal(status, 200);
      assert.equal(body.full_name, full_name);
      assert.equal(Number(headers.get('content-length')), Buffer.byteLength(text));
    }
  });

  it('a client of HTTP/1.0, such as nginx by default, learns the length, too', async () => {
    const { hostname, port } = new URL(limited.url);
    const token = limited.world.users.ann?.token;
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      connect({ host: hostname, port: Number(port) })
        .on('error', reject)
        .on('data', (chunk) => {
          text += chunk;
        })
        .on('end', () => resolve(text))
        .write(`GET /api/v1/user HTTP/1.0\r\nHost: x\r\nAuthorization: token ${token}\r\n\r\n`);
    });
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    assert.match(head, /^HTTP\/1.1 200 /);
    assert.equal(Number(/^content-length: (\d+)$/im.exec(head)?.[1]), Buffer.byteLength(body));
    assert.match(head, /^connection: close$/im);
  });

  it('HEAD has the headers of GET, and no body', async () => {
    const ann = limited.as('ann');
    const [got, looked] = [await ann('GET', '/user'), await ann('HEAD', '/user')];
    assert.equal(looked.text, '');
    assert.equal(looked.headers.get('content-length'), got.headers.get('content-length'));
    assert.equal(looked.headers.get('content-type'), got.headers.get('content-type'));
  });

  it('each answer is counted once, with its status', async () => {
    const ann = limited.as('ann');
    const count = async () => {
      const text = await limited.instance.metrics.registry.metrics();
      const of = (status: number) =>
        new RegExp(
          `_count\\{http_request_method="GET",http_route="/api/v1/user",http_response_status_code="${status}"\\} (\\d+)`,
        );
      return [200, 401].map((status) => Number(of(status).exec(text)?.[1] ?? 0));
    };
    const [okBefore = 0, rejectedBefore = 0] = await count();
    await ann('GET', '/user');
    await ann('GET', '/user?check_client_org=1');
    await limited.as()('GET', '/user');
    assert.deepEqual(await count(), [okBefore + 2, rejectedBefore + 1]);
  });
});
