import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** The names and values as they were on the wire. A header that was sent twice is in the list twice. */
function headersOf(url: string): Promise<[string, string][]> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { 'x-request-id': 'mine' } }, (answer) => {
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
  before(async () => {
    atrium = await openTestServer();
    behindTls = await openTestServer({ env: { BASE_URL: 'https://atrium.example' } });
  });
  after(async () => {
    await atrium.close();
    await behindTls.close();
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
});
