import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cliAs } from '../support/server/cli.ts';
import { openTestServer } from '../support/server/server.ts';

it('can and who-can ask about a namespace of a cluster', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const ann = cliAs(atrium, 'ann');
  const said = async (line: string, code = 0) => {
    const { code: exit, stdout, stderr } = await ann(line);
    assert.equal(exit, code, stdout + stderr);
    return stdout + stderr;
  };
  const role = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
    name: 'editor-of-web',
    permissions: [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }],
  });
  assert.equal(role.status, 201, role.text);
  const made = await atrium.as('ann')('POST', '/authz/assignments?org=acme', {
    role: { name: 'editor-of-web' },
    to: { type: 'user', name: 'dan' },
    on: { type: 'cluster', name: 'prod' },
    namespaces: ['web', 'shop-*'],
  });
  assert.equal(made.status, 201, made.text);
  assert.match(await said('can dan edit cluster:prod', 1), /^no {2}dan can_edit cluster:prod\n/);
  const yes = await said('can dan edit cluster:prod --namespace shop-eu --why');
  assert.match(yes, /^yes {2}dan can_edit cluster:prod in the namespace shop-eu\n/);
  assert.match(yes, /because dan has the role editor-of-web on prod in the namespaces web, shop-\*/);
  assert.match(await said('can dan edit cluster:prod --namespace other', 1), /^no /);
  assert.match(await said('can dan edit cluster:prod --namespace shop-*', 2), /namespace must be the name/);
  assert.match(await said('can dan view org:acme --namespace web', 2), /only a question about a cluster/);
  assert.match(await said('who-can edit cluster:prod --namespace web --reason'), /dan +\d+ +.*role editor-of-web/);
  assert.doesNotMatch(await said('who-can edit cluster:prod'), /^dan /m);
});
