import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../../src/base/config/config.ts';
import { createScimNameStore } from '../../../src/scim/scim-names.store.ts';
import { createScimNames } from '../../../src/scim/scim-names.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { newScimToken, scimCaller, user } from '../../support/world/scim.ts';

const MAPPINGS = [{ group: 'staff', organization: 'mapped', team: 'Viewers' }];
const PROVIDER = {
  name: 'login',
  issuer: 'https://login.example.com',
  client_id: 'x',
  group_claim: 'groups',
  group_mappings: MAPPINGS,
};
const ENV = {
  SCIM_DOMAINS: 'acme:acme.example,Phantom:phantom.example,ghostly:*.ghost.example,globex#999999:globex.example',
  OIDC_PROVIDERS: JSON.stringify([PROVIDER]),
};

for (const driver of COUNTED_DRIVERS) {
  describe(`Names that the settings refer to on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env: ENV });
    });
    after(() => atrium.close());

    const found = (who: string, username: string) => atrium.as(who)('POST', '/orgs', { username });
    const rename = (who: string, org: string, username: string) =>
      atrium.as(who)('PATCH', `/orgs/${org}`, { username });
    const validate = async (who: string, name: string, org = '') =>
      (await atrium.as(who)('POST', `/user/validate/orgname?user_name=${name}&org=${org}`)).body.Status;

    it(`Nobody but a site administrator founds an organization of such a name, or renames one to it, on ${driver}`, async () => {
      assert.equal((await found('eve', 'eves')).status, 201);
      for (const name of ['phantom', 'PHANTOM', 'Phantom', 'ghostly', 'mapped', 'Mapped']) {
        for (const answer of [await found('eve', name), await rename('eve', 'eves', name)]) {
          assert.deepEqual([answer.status, answer.body.reason], [422, 'name_reserved'], answer.text);
          assert.match(answer.text, /ask a site administrator/);
        }
        assert.equal(await validate('eve', name), 'RESERVED');
        assert.equal(await validate('eve', name, 'eves'), 'RESERVED');
        assert.equal(await validate('root', name), 'VALID');
      }
      assert.equal((await found('eve', 'phantom-2')).status, 201, 'only the name itself');
      assert.equal(await validate('ann', 'ACME', 'acme'), 'VALID', 'its own name');
      assert.equal((await rename('ann', 'acme', 'Acme')).status, 200, 'its own name in another letter case');
      assert.equal((await found('root', 'mapped')).status, 201);
      const given = await atrium.as('root')('POST', '/admin/users/eve/orgs', { username: 'ghostly' });
      assert.equal(given.status, 201, given.text);
      assert.equal((await found('root', 'spare')).status, 201);
      assert.equal((await rename('root', 'spare', 'spare-2')).status, 200);
    });

    it(`The first organization that is provisioned under a name keeps its domains until the operator says otherwise, on ${driver}`, async () => {
      const give = (name: string, owner: string) =>
        atrium.as('root')('POST', `/admin/users/${owner}/orgs`, { username: name });
      const first = await give('phantom', 'bob');
      assert.equal(first.status, 201, first.text);
      const before = scimCaller(atrium, await newScimToken(atrium, 'phantom', 'bob'));
      assert.equal((await before('POST', '/Users', user('one@phantom.example'))).status, 201);
      assert.equal((await rename('root', 'phantom', 'renamed')).status, 200);
      const owned = await before('POST', '/Users', user('two@phantom.example'));
      assert.equal(owned.status, 403, 'the domain is assigned to the name');
      await atrium.instance.db.query(statement('delete from reserved_name'));
      const second = await give('phantom', 'eve');
      assert.equal(second.status, 201, second.text);
      const after = scimCaller(atrium, await newScimToken(atrium, 'phantom', 'eve'));
      for (const [method, path, body] of [
        ['GET', '/Users'],
        ['GET', '/Groups'],
        ['POST', '/Users', user('vic@phantom.example')],
        ['POST', '/Users/.search', { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'] }],
      ] as const) {
        const answer = await after(method, path, body);
        assert.equal(answer.status, 403, answer.text);
        assert.match(answer.body.detail, new RegExp(`phantom#${second.body.id}:DOMAIN`));
      }
      const { SCIM_DOMAINS } = readConfig({ SCIM_DOMAINS: `phantom#${second.body.id}:phantom.example` });
      const store = createScimNameStore(atrium.instance.db);
      const tenant = { id: BigInt(second.body.id), name: 'phantom' };
      await createScimNames(SCIM_DOMAINS, store).require(tenant);
      const plain = [{ organization: 'phantom', domain: 'phantom.example' }];
      await createScimNames(plain, store).require(tenant);
      await assert.rejects(createScimNames(plain, store).require({ ...tenant, id: BigInt(first.body.id) }), {
        kind: 'forbidden',
      });
    });

    it(`An ID in the setting is the only organization that it means, on ${driver}`, async () => {
      const globex = scimCaller(atrium, await newScimToken(atrium, 'globex', 'eve'));
      assert.equal((await globex('GET', '/Users')).status, 403);
      for (const pairs of ['acme#:acme.example', 'acme#0:x', 'acme#x:x', '#1:x']) {
        assert.throws(() => readConfig({ SCIM_DOMAINS: pairs }), /SCIM_DOMAINS/, pairs);
      }
    });
  });
}
