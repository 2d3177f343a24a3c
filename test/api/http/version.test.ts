import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

describe('The version', () => {
  let atrium: TestServer;
  const release = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
  before(async () => {
    atrium = await openTestServer({ env: { DEPLOYMENT: 'marketplace' } });
  });
  after(() => atrium.close());

  it('GET /version answers with the version of the API, and names the release in a header', async () => {
    for (const path of ['/api/v1/version', '/marketplace/api/v1/version']) {
      const { status, body, headers } = await atrium.call('GET', path);
      assert.deepEqual([status, body], [200, { version: 'v1.27.0' }], path);
      assert.equal(headers.get('x-atrium-release'), `v${release}`, path);
    }
  });

  it('The OpenAPI document has the version of the API, and everything that is released has that of the release', () => {
    const { info } = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as { info: { version: string } };
    const client = JSON.parse(readFileSync('client/package.json', 'utf8')) as { version: string };
    assert.deepEqual([info.version, client.version], ['v1.27.0', release]);
  });
});
