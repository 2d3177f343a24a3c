import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { IS_LONG } from '../counts.ts';
import type { TestServer } from '../support/server/server.ts';
import { sharedServer } from '../support/server/shared-server.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

describe('Unsupported methods', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await sharedServer('marketplace');
  });

  it('Every route answers an unsupported method with 405 and the allowed methods', async () => {
    const known = new Map<string, Set<string>>();
    for (const { method, path } of atrium.instance.routes) {
      const methods = known.get(path) ?? new Set();
      known.set(path, methods.add(method));
      if (method === 'GET') methods.add('HEAD');
    }
    // A path with and without a trailing slash is the same path.
    for (const [path, methods] of known) {
      if (path.endsWith('/') && path !== '/') for (const method of methods) known.get(path.slice(0, -1))?.add(method);
    }
    assert.ok(known.size > 70);
    const paths = [...known].filter(([each]) => !each.endsWith('/') || each === '/');
    for (const [place, [path, methods]] of paths.entries()) {
      const wrong = METHODS.filter((one) => !methods.has(one));
      // Every day one of them, in turn.
      for (const method of IS_LONG ? wrong : wrong.filter((_one, at) => at === place % wrong.length)) {
        const answer = await atrium.call(
          method,
          path.replace(/:\w+/g, '7'),
          method === 'HEAD' || method === 'GET' ? undefined : '{',
        );
        assert.equal(answer.status, 405, `${method} ${path}: ${answer.text}`);
        const allow = answer.headers
          .get('allow')
          ?.split(', ')
          .filter((one) => one !== 'HEAD');
        const told = [...methods].filter((one) => one !== 'HEAD').sort();
        assert.deepEqual(allow, told, `${method} ${path}`);
      }
    }
  });
});
