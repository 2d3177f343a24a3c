import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkChain } from '../../../client/audit-chain.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { assertRejected } from '../../support/world/authz.ts';
import { addMember, makeOrganization, makePerson } from '../../support/world/people.ts';

for (const driver of COUNTED_DRIVERS) {
  describe(`Erasing a person on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const root = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('root')(...send);
    const exported = async () => (await root('GET', '/admin/audit/export')).text;
    const query = <Row extends object>(text: string) => atrium.instance.db.query<Row>(statement(text));

    async function makeMember() {
      const person = await makePerson(atrium);
      const owner = await makePerson(atrium);
      const org = await makeOrganization(atrium, owner.name);
      await addMember(atrium.instance, BigInt(org.team('Viewers')), person.id);
      const own = { Authorization: `token ${person.token}` };
      const profile = {
        full_name: `Frieda ${person.name}`,
        location: 'Winterthur Seen',
        website: 'https://frieda.example',
      };
      assert.equal((await atrium.call('PATCH', '/api/v1/user', profile, own)).status, 200);
      const denied = await atrium.call('DELETE', `/api/v1/orgs/${org.name}`, undefined, own);
      assert.equal(denied.status, 403, denied.text);
      const invited = await root('POST', `/orgs/${org.name}/invitations`, {
        email: `${person.name}@example.com`,
        teams: [{ name: 'Viewers' }],
      });
      return { person, org, owner, own, invited };
    }

    it(`Nothing in the log identifies an erased person, every hash stays valid, and the past stays the same, on ${driver}`, async () => {
      const { person, org } = await makeMember();
      const before = await exported();
      assert.match(before, new RegExp(person.name));
      const at = new Date().toISOString();
      const erased = await root('DELETE', `/admin/users/${person.name}?erase=true`);
      assert.equal(erased.status, 204, erased.text);
      const text = await exported();
      for (const word of [person.name, `Frieda ${person.name}`, 'Winterthur Seen', 'frieda.example']) {
        assert.ok(!text.includes(word), `${word} is left`);
      }
      const page = (await root('GET', `/orgs/${org.name}/audit`)).text;
      assert.ok(!page.includes(person.name));
      assert.match(page, new RegExp(`erased user ${person.id}`));
      const ocsf = await root('GET', `/admin/audit/export?format=ocsf&object=user:${person.id}`);
      assert.ok(!ocsf.text.includes(person.name));
      assert.match(ocsf.text, new RegExp(`erased user ${person.id}`));
      const left = await query<{ text: string }>(
        `select text from audit_text where account_id = ${person.id} and text is not null`,
      );
      assert.deepEqual(left, []);
      const chains = Map.groupBy(text.trimEnd().split('\n'), (line) => /"organization_id":(\d+)/.exec(line)?.[1]);
      for (const [chain, lines] of chains) {
        const { firstBroken } = await checkChain(lines);
        assert.equal(firstBroken, undefined, `chain ${chain}`);
        const verdict = await root('GET', `/admin/audit/verify?from=beginning&org=${chain}`);
        assert.equal(verdict.body.ok, true, verdict.text);
      }
      const ofOrganization = await root('GET', `/orgs/${org.name}/audit/verify`);
      assert.equal(ofOrganization.body.erased, 0, 'no hash covers what is gone');
      const past = await root('GET', `/authz/users/id:${person.id}/access?org=${org.name}&at=${at}`);
      assert.ok(!past.text.includes(person.name), past.text);
      const [first] = (await root('GET', `/admin/audit?action=user.erase&limit=1`)).body.items;
      assert.equal(first.summary, `root erased what identified erased user ${person.id}`);
      const again = await root('DELETE', `/admin/users/id:${person.id}?erase=true`);
      assert.deepEqual([again.status, again.body.reason], [404, 'user_not_found']);
      const reserved = (await root('GET', '/admin/reserved-names?limit=50')).body;
      assert.ok(reserved.some((one: { name: string }) => one.name === person.name));
      const heir = {
        username: person.name.toUpperCase(),
        email: 'heir@example.com',
        password: 'a long enough password',
      };
      const { status, body } = await root('POST', '/admin/users', heir);
      assert.deepEqual([status, body.reason], [422, 'name_reserved']);
    });

    it(`A person whose account was deleted before is erased by ID, on ${driver}`, async () => {
      const { person } = await makeMember();
      assert.equal((await root('DELETE', `/admin/users/${person.name}`)).status, 204);
      assert.match(await exported(), new RegExp(person.name));
      assert.equal((await root('DELETE', `/admin/users/id:${person.id}`)).status, 404, 'only to erase');
      assert.equal((await root('DELETE', `/admin/users/id:${person.id}?erase=true`)).status, 204);
      assert.doesNotMatch(await exported(), new RegExp(person.name));
      assert.equal((await root('DELETE', `/admin/users/id:${person.id}?erase=true`)).status, 404);
    });

    it(`A request that was denied just before is erased, too, on ${driver}`, async () => {
      const { person, own, org } = await makeMember();
      await atrium.call('DELETE', `/api/v1/orgs/${org.name}`, undefined, own);
      assert.equal((await root('DELETE', `/admin/users/${person.name}?erase=true`)).status, 204);
      assert.doesNotMatch(await exported(), new RegExp(person.name));
    });

    it(`A legal hold prevents that a person is erased until it is released, on ${driver}`, async () => {
      const { person } = await makeMember();
      const path = `/admin/users/${person.name}/hold`;
      const held = await root('PUT', path, { reason: 'case 4711' });
      assert.deepEqual(
        [held.status, held.body.user, held.body.reason],
        [200, { id: Number(person.id), username: person.name }, 'case 4711'],
      );
      assert.equal((await root('PUT', path, { reason: 'case 4712' })).body.reason, 'case 4712');
      const kept = await root('DELETE', `/admin/users/${person.name}?erase=true`);
      assert.deepEqual([kept.status, kept.body.reason], [409, 'legal_hold']);
      assert.equal((await root('GET', `/users/${person.name}`)).status, 200, 'nothing was deleted');
      const all = await root('GET', '/admin/holds');
      assert.ok(all.body.some((one: { reason: string }) => one.reason === 'case 4712'));
      assert.equal((await root('DELETE', path)).status, 204);
      assert.equal((await root('DELETE', path)).status, 404);
      assert.equal((await root('PUT', `/admin/users/id:${person.id}/hold`, { reason: 'by ID' })).status, 200);
      assert.equal((await root('DELETE', `/admin/users/${person.name}`)).status, 204, 'the log stays');
      assert.equal((await root('DELETE', `/admin/users/id:${person.id}?erase=true`)).status, 409);
      assert.equal((await root('DELETE', `/admin/users/id:${person.id}/hold`)).status, 204);
      assert.equal((await root('DELETE', `/admin/users/id:${person.id}?erase=true`)).status, 204);
      assert.equal((await root('PUT', `/admin/users/id:${person.id}/hold`, { reason: 'late' })).status, 404);
    });

    it(`What a crash left is removed by the next upkeep, and not shown until then, on ${driver}`, async () => {
      const { person } = await makeMember();
      await query(`insert into erasure (account_id) values (${person.id})`);
      assert.doesNotMatch(await exported(), new RegExp(`"text":"${person.name}"`));
      await atrium.instance.features.finishErasures();
      const [left] = await query<{ total: number }>(
        `select count(*)::integer as total from audit_text where account_id = ${person.id} and text is not null`,
      );
      assert.equal(left?.total, 0);
    });
  });
}

describe('Rejected erasures', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  for (const [who, send, status, message] of [
    ['ann', ['DELETE', '/admin/users/dan?erase=true'], 403, 'only site administrators can call this route'],
    ['root', ['DELETE', '/admin/users/dan?erase=true&sudo=root'], 403, /^people cannot be erased on behalf/],
    ['root', ['DELETE', '/admin/users/root?erase=true'], 409, /^you cannot delete your own account/],
    ['root', ['DELETE', '/admin/users/nobody?erase=true'], 404, 'user does not exist'],
    ['root', ['DELETE', '/admin/users/id:999999?erase=true'], 404, 'user not found'],
    ['root', ['DELETE', '/admin/users/dan?erase=perhaps'], 400, /^erase must be/],
    ['root', ['PUT', '/admin/users/nobody/hold', { reason: 'x' }], 404, 'user not found'],
    ['root', ['PUT', '/admin/users/dan/hold', {}], 422, /reason/],
    ['root', ['DELETE', '/admin/users/dan/hold'], 404, 'there is no legal hold on this user'],
    ['ann', ['GET', '/admin/holds'], 403, 'only site administrators can call this route'],
  ] as const) {
    it(`${send[0]} ${send[1]} by ${who} is rejected with ${status}`, () =>
      assertRejected(atrium, { who, send: [...send] as never, status, message }));
  }
});
