import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

interface Described {
  readonly type: string;
  readonly relations: readonly {
    readonly relation: string;
    readonly title: string;
    readonly description: string;
    readonly catalog?: { readonly namespace: string; readonly action: string };
  }[];
}

describe('The authorization model in words', () => {
  let atrium: TestServer;
  let model: { text: string; types: readonly Described[] };
  before(async () => {
    atrium = await openTestServer();
    model = (await atrium.as('eve')('GET', '/authz/model')).body;
  });
  after(() => atrium.close());
  const relationOf = (type: string, name: string) =>
    model.types.find((one) => one.type === type)?.relations.find(({ relation }) => relation === name);

  it('Every relation of the text is described', () => {
    const defined = [...model.text.matchAll(/^ {4}define (\w+):/gm)].map(([, name]) => name);
    const described = model.types.flatMap(({ relations }) => relations.map(({ relation }) => relation));
    assert.deepEqual(described, defined);
    for (const { title, description } of model.types.flatMap(({ relations }) => relations)) {
      assert.match(title, /^[a-z][a-z ]+$/);
      assert.match(description, /^[A-Z].*\.$/);
    }
  });

  it('A permission has a title in words, and names the entry of the catalog that grants it', () => {
    assert.equal(relationOf('cluster', 'can_connect')?.title, 'connect to the cluster');
    assert.equal(relationOf('robot_ac', 'can_edit')?.title, 'edit the robot account');
    assert.equal(relationOf('team', 'member')?.title, 'a member of the team');
    for (const { namespace, action, relation } of CATALOG) {
      assert.deepEqual(relationOf('organization', relation)?.catalog, { namespace, action });
    }
    assert.equal(relationOf('organization', 'can_delete')?.catalog, undefined);
  });

  it('Without a credential, the model is not shown', async () => {
    assert.equal((await atrium.as()('GET', '/authz/model')).status, 401);
  });
});
