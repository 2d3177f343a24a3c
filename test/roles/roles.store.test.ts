import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { createRoleStore } from '../../src/roles/roles.store.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

for (const driver of COUNTED_DRIVERS) {
  describe(`Role store on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const acme = () => atrium.world.orgs.acme ?? { id: 0n, teams: {}, roles: {} };

    it(`The role store creates, reads, updates and deletes roles and reports conflicts on ${driver}`, async () => {
      const store = createRoleStore(atrium.instance.db, atrium.instance.revisions.write, createQuotas(DEFAULT_LIMITS));
      const actor = { id: 1n, name: 'test', requestId: 'test' };
      const draft = { name: 'Über', description: '', permissions: CATALOG.slice(3, 6), teamIds: [] };
      const made = await store.create(acme().id, draft, actor);
      assert.ok(made && !('rejected' in made));
      assert.deepEqual(await store.create(acme().id, { ...draft, name: 'ÜBER' }, actor), { rejected: 'name taken' });
      const unknown = await store.create(acme().id, { ...draft, name: 'x', teamIds: [2n ** 62n] }, actor);
      assert.deepEqual(unknown, { rejected: 'unknown teams', teamIds: [2n ** 62n] });
      const all = {
        ...draft,
        permissions: [...CATALOG],
        teamIds: Object.values(acme().teams).sort((a, b) => Number(a - b)),
      };
      const updated = await store.update(acme().id, made.id, () => all, actor);
      assert.ok(updated && !('rejected' in updated));
      assert.deepEqual([updated.permissions, updated.teamIds, updated.version], [all.permissions, all.teamIds, 2]);
      assert.deepEqual(await store.get(acme().id, made.id), updated);
      assert.equal((await store.principals(acme().id, made.id)).length, all.teamIds.length);
      assert.equal(await store.get(atrium.world.orgs.globex?.id ?? 0n, made.id), undefined);
      assert.equal(await store.update(acme().id, 999_999n, () => all, actor), undefined);
      assert.equal(await store.remove(acme().id, made.id, () => undefined, actor), true);
      assert.equal(await store.remove(acme().id, made.id, () => undefined, actor), false);
    });
  });
}
