import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { PAGE_ROOTS } from '../../../src/http/web/console.routes.ts';
import { openConsoleFiles } from '../../../src/http/web/console-files.ts';
import { temporaryFolder } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { CONSOLE_ROUTES } from '../../support/world/console-pages.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

describe('The files of the console', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());
  const dataOf = (html: string) => JSON.parse(/id="atrium">(.*?)<\/script>/.exec(html)?.[1] ?? '') as PageData;

  for (const root of PAGE_ROOTS) {
    it(`The page is served at ${root} and below it, under a strict policy`, async () => {
      for (const path of root === '/' ? [root] : [root, `${root}/anything/at/all?x=1`]) {
        const { status, headers, text } = await atrium.call('GET', path);
        assert.equal(status, 200);
        assert.deepEqual((headers.get('content-security-policy') ?? '').split('; '), POLICY);
        assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
        assert.match(headers.get('content-type') ?? '', /^text\/html/);
        assert.doesNotMatch(text, / style=|<style|<script(?![^>]* (src|type="application\/json"))/);
      }
    });
  }

  it('Every page of the console is below an address that the server serves', () => {
    const roots = CONSOLE_ROUTES.filter((route) => route !== '*').map((route) => /^\/[^/]*/.exec(route)?.[0] ?? route);
    assert.ok(roots.length > 20, `${roots.length} pages`);
    for (const root of roots) assert.ok((PAGE_ROOTS as readonly string[]).includes(root), root);
  });

  it('The page says whether a session cookie came along, and nothing else about the caller', async () => {
    const without = await atrium.call('GET', '/');
    const withCookie = await atrium.call('GET', '/', undefined, { Cookie: 'atrium_session=x' });
    assert.deepEqual([dataOf(without.text).signedIn, dataOf(withCookie.text).signedIn], [false, true]);
    const names = ['deployment', 'features', 'signedIn', 'version'];
    assert.deepEqual(Object.keys(dataOf(withCookie.text)).sort(), names);
    assert.deepEqual(
      [without.headers.get('vary'), without.headers.get('cache-control')],
      ['Cookie', 'private, no-cache'],
    );
  });

  it('A page that has not changed is not sent again', async () => {
    const first = await atrium.call('GET', '/orgs');
    const again = await atrium.call('GET', '/orgs', undefined, { 'If-None-Match': first.headers.get('etag') ?? '' });
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.equal((await atrium.call('GET', '/orgs', undefined, { 'If-None-Match': '"other"' })).status, 200);
  });

  it('Each file is sent in the best form that the browser accepts', async () => {
    const name = globSync('console/dist/assets/index-*.js')[0]?.replace('console/dist', '') ?? '';
    const raw = readFileSync(`console/dist${name}`);
    const get = async (accepted: string) => {
      const answer = await fetch(`${atrium.url}${name}`, { headers: { 'Accept-Encoding': accepted } });
      return [answer.headers.get('content-encoding'), Buffer.from(await answer.arrayBuffer()).equals(raw)];
    };
    assert.deepEqual(await get('gzip, br'), ['br', true]);
    assert.deepEqual(await get('gzip'), ['gzip', true]);
    assert.deepEqual(await get('br;q=0, gzip;q=0.5'), ['gzip', true]);
    assert.deepEqual(await get('identity'), [null, true]);
    assert.deepEqual(brotliDecompressSync(readFileSync(`console/dist${name}.br`)), raw);
    assert.deepEqual(gunzipSync(readFileSync(`console/dist${name}.gz`)), raw);
    const { headers } = await atrium.call('GET', name);
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal((await atrium.call('GET', '/assets/icon.svg')).headers.get('cache-control'), 'public, max-age=3600');
  });

  for (const path of ['/assets/none.js', '/assets/..%2findex.html', '/assets/', '/assets/%2e%2e/files.json']) {
    it(`${path} is not found`, async () => {
      assert.equal((await atrium.call('GET', path)).status, 404);
    });
  }

  it('Password managers are led to the page that changes the password', async () => {
    const answer = await fetch(`${atrium.url}/.well-known/change-password`, { redirect: 'manual' });
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/me/password']);
  });

  it('Without a build there are no files, so that the server can serve the plain page', () => {
    assert.equal(openConsoleFiles(temporaryFolder()), undefined);
  });
});

interface PageData {
  readonly signedIn: boolean;
}
