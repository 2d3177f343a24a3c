import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { sendRaw } from '../../support/server/raw.ts';
import type { TestServer } from '../../support/server/server.ts';
import { sharedServer } from '../../support/server/shared-server.ts';

/** root has 45 followers, of whom fan45 is the newest. */
describe('Paging of followers', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await sharedServer();
  });

  const followers = (query: string) => atrium.as('root')('GET', `/user/followers${query}`);
  const fans = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => `fan${String(from - index).padStart(2, '0')}`);

  const pages: readonly [query: string, first: number, count: number][] = [
    ['', 45, 30],
    ['?page=1', 45, 30],
    ['?page=2', 15, 15],
    ['?page=02', 15, 15],
    ['?page=0', 45, 30],
    ['?page=-1', 45, 30],
    ['?page=', 45, 30],
    ['?page=two', 45, 30],
    ['?page=1.5', 45, 30],
    ['?page=1e1', 45, 30],
    ['?page=2&page=1', 45, 30],
    ['?page[]=2', 45, 30],
    ['?page=0&limit=0', 45, 30],
    ['?limit=10', 45, 10],
    ['?page=2&limit=10', 35, 10],
    ['?page=5&limit=10', 5, 5],
    ['?limit=-5', 45, 30],
    ['?limit=x', 45, 30],
    ['?limit=50', 45, 45],
    ['?limit=51', 45, 45],
    ['?limit=1000000', 45, 45],
    ['?limit=1', 45, 1],
    ['?page=3', 0, 0],
    ['?page=6&limit=10', 0, 0],
    ['?page=1000000000000', 0, 0],
    ['?page=9223372036854775807', 0, 0],
  ];
  for (const [query, first, count] of pages) {
    it(`GET /user/followers${query} returns ${count === 0 ? 'an empty list' : `${count} followers from position ${46 - first}`}`, async () => {
      const { status, body, headers } = await followers(query);
      assert.equal(status, 200);
      assert.deepEqual(
        body.map(({ login }: { login: string }) => login),
        fans(first, count),
      );
      assert.equal(headers.get('x-total-count'), '45');
    });
  }

  const links: readonly [query: string, ...links: string[]][] = [
    ['?limit=20', 'next ?limit=20&page=2', 'last ?limit=20&page=3'],
    [
      '?page=2&limit=20',
      ...['next ?page=3&limit=20', 'last ?page=3&limit=20', 'first ?page=1&limit=20', 'prev ?page=1&limit=20'],
    ],
    ['?page=3&limit=20', 'first ?page=1&limit=20', 'prev ?page=2&limit=20'],
    ['?page=99&limit=20', 'first ?page=1&limit=20', 'prev ?page=2&limit=20'],
    ['?limit=50'],
    ['?page=7&limit=50'],
    ['?page=x&sort=a%20b&page=2', 'next ?page=2&sort=a+b', 'last ?page=2&sort=a+b'],
    ['?token=secret&access_token=secret&limit=30', 'next ?limit=30&page=2', 'last ?limit=30&page=2'],
  ];
  for (const [query, ...wanted] of links) {
    it(`GET /user/followers${query} links to ${wanted.map((link) => link.split(' ', 1)[0]).join(', ') || 'no other page'}`, async () => {
      const link = (await followers(query)).headers.get('link');
      const expected = wanted.map((one) => {
        const [rel, search] = one.split(' ');
        return `<${atrium.url}/api/v1/user/followers${search}>; rel="${rel}"`;
      });
      assert.equal(link, expected.length > 0 ? expected.join(',') : null);
    });
  }

  it('Page links use the base URL when the request target names another scheme and host', async () => {
    const lines = ['Host: elsewhere.test', `Authorization: token ${atrium.world.users.root?.token}`];
    for (const origin of ['http://elsewhere.test', atrium.url, 'HTTPS://elsewhere.test:8443']) {
      const target = `${origin}/api/v1/user/followers?limit=30`;
      const answer = await sendRaw(atrium.url, [`GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`]);
      assert.equal(answer.status, 200, `${origin}: ${answer.text}`);
      const page = `<${atrium.url}/api/v1/user/followers?limit=30&page=2>`;
      assert.equal(answer.headers.get('link'), `${page}; rel="next",${page}; rel="last"`);
    }
  });

  it('A client that follows the next links sees every follower once', async () => {
    const seen: string[] = [];
    let path: string | undefined = '/api/v1/user/followers?limit=7';
    while (path !== undefined) {
      const token = atrium.world.users.root?.token ?? '';
      const answer = await atrium.call('GET', path, undefined, { Authorization: `token ${token}` });
      seen.push(...answer.body.map(({ login }: { login: string }) => login));
      path = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]?.slice(atrium.url.length);
    }
    assert.deepEqual(seen, fans(45, 45));
  });

  it('An empty list of followers or followed accounts is returned as [] with a total of 0', async () => {
    for (const list of ['followers', 'following']) {
      const { text, headers } = await atrium.as('dan')('GET', `/user/${list}`);
      assert.deepEqual([text, headers.get('x-total-count'), headers.get('link')], ['[]', '0', null]);
    }
  });
});
