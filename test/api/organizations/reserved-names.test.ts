import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { makeHolder, orgPermission } from '../../support/world/authz.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

// What refuses a reserved name is a trigger, and the error of a trigger is what the drivers could report differently.
for (const driver of COUNTED_DRIVERS) {
  describe(`Names of renamed and deleted organizations on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const root = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('root')(...send);
    const validate = async (who: string, query: string) =>
      (await atrium.as(who)('POST', `/user/validate/${query}`)).body.Status;
    const rename = (who: string, org: string, username: string) =>
      atrium.as(who)('PATCH', `/orgs/${org}`, { username });
    /** Every way in which somebody can get a name. */
    const attempts = async (name: string) => {
      const { name: who } = await makePerson(atrium);
      const { name: other } = await makeOrganization(atrium, who);
      return [
        await atrium.as(who)('POST', '/orgs', { username: name }),
        await atrium.as(who)('POST', '/orgs', { username: name.toUpperCase() }),
        await rename(who, other, name),
        await root('POST', `/admin/users/${who}/orgs`, { username: name }),
        await root('POST', '/admin/users', { username: name, email: `${name}@example.com` }),
      ];
    };
    const assertReserved = async (name: string) => {
      for (const { status, body } of await attempts(name)) {
        assert.deepEqual([status, body.reason, body.errors?.[0]?.field], [422, 'name_reserved', 'username']);
        assert.match(body.message, /^name is reserved: /);
      }
      for (const query of [`username?user_name=${name}`, `orgname?user_name=${name.toUpperCase()}`]) {
        assert.equal(await validate('eve', query), 'RESERVED', query);
      }
    };

    it(`Nobody but the organization itself can take the name that it had before, on ${driver}`, async () => {
      const [owner, stranger] = [await makePerson(atrium), await makePerson(atrium)];
      const { name: old, id } = await makeOrganization(atrium, owner.name);
      assert.equal((await rename(owner.name, old, `${old}-new`)).status, 200);
      await assertReserved(old);
      // The old name leads nowhere, neither to its organization nor to another one.
      assert.equal((await atrium.as(owner.name)('GET', `/orgs/${old}`)).status, 404);
      assert.equal((await atrium.as(owner.name)('GET', `/authz/roles?org=${old}`)).status, 403);

      const own = `orgname?org=${old}-new&user_name=${old}`;
      assert.equal(await validate(owner.name, own), 'VALID');
      assert.equal(await validate('root', own), 'VALID');
      assert.equal(await validate(stranger.name, own), 'RESERVED');
      assert.equal(await validate(owner.name, `orgname?org=acme&user_name=${old}`), 'RESERVED');

      const back = await rename(owner.name, `${old}-new`, old.toUpperCase());
      assert.deepEqual([back.status, back.body.id, back.body.name], [200, Number(id), old.toUpperCase()]);
      assert.equal(await validate('eve', `username?user_name=${old}`), 'USER_EXISTS');
      await assertReserved(`${old}-new`);
    });

    it(`The name of a deleted organization is reserved until a site administrator releases it, on ${driver}`, async () => {
      const { name: owner } = await makePerson(atrium);
      const { name, id } = await makeOrganization(atrium, owner);
      assert.equal((await atrium.as(owner)('DELETE', `/orgs/${name}`)).status, 204);
      await assertReserved(name);
      assert.equal((await atrium.as(owner)('POST', '/orgs', { username: name })).status, 422);

      const listed = (await root('GET', '/admin/reserved-names?limit=50')).body;
      const entry = listed.find((one: { name: string }) => one.name === name);
      assert.deepEqual(entry.account, { type: 'organization', id: Number(id), username: '' });
      const days = (Date.parse(entry.expires_at) - Date.parse(entry.reserved_at)) / 86_400_000;
      assert.equal(days, 90);

      assert.equal((await root('DELETE', `/admin/reserved-names/${name.toUpperCase()}`)).status, 204);
      assert.equal(await validate('eve', `orgname?user_name=${name}`), 'VALID');
      const last = (await auditOf(atrium.instance.db, id)).at(-1);
      assert.deepEqual(
        [last?.action, last?.actor_name, last?.object_type, last?.object_id, JSON.parse(last?.before ?? '{}').name],
        ['name.release', 'root', 'organization', id, name],
      );
      const again = await root('DELETE', `/admin/reserved-names/${name}`);
      assert.deepEqual([again.status, again.body.reason], [404, 'not_found']);
      const taken = await atrium.as(owner)('POST', '/orgs', { username: name });
      assert.equal(taken.status, 201, taken.text);
      assert.notEqual(taken.body.id, Number(id));
    });

    it(`The name of a deleted user goes to nobody but a user whom a site administrator creates, on ${driver}`, async () => {
      const [gone, other] = [await makePerson(atrium), await makePerson(atrium)];
      assert.equal((await root('DELETE', `/admin/users/${gone.name}`)).status, 204);
      const refused = await atrium.as(other.name)('POST', '/orgs', { username: gone.name });
      assert.deepEqual([refused.status, refused.body.reason], [422, 'name_reserved']);
      const asOwner = await root('POST', `/admin/users/${other.name}/orgs`, { username: gone.name });
      assert.equal(asOwner.status, 422);
      assert.equal(await validate('eve', `username?user_name=${gone.name}`), 'RESERVED');
      assert.equal(await validate('root', `orgname?user_name=${gone.name}`), 'RESERVED');
      assert.equal(await validate('root', `username?user_name=${gone.name}`), 'VALID');
      const listed = (await root('GET', '/admin/reserved-names?limit=50')).body;
      const entry = listed.find((one: { name: string }) => one.name === gone.name);
      assert.deepEqual(entry.account, { type: 'user', id: Number(gone.id), username: '' });
      const body = { username: gone.name, email: `${gone.name}@example.org` };
      assert.equal((await root('POST', '/admin/users', body)).status, 201);
      assert.equal(await validate('eve', `username?user_name=${gone.name}`), 'USER_EXISTS');
    });

    it(`A reservation ends by itself, and a name that is given up again is reserved anew, on ${driver}`, async () => {
      const [one, two] = [await makePerson(atrium), await makePerson(atrium)];
      const { name } = await makeOrganization(atrium, one.name);
      assert.equal((await rename(one.name, name, `${name}-a`)).status, 200);
      await atrium.instance.db.query(statement('update reserved_name set expires_at = now() where name_key = $1'), [
        name,
      ]);
      assert.equal(await validate('eve', `username?user_name=${name}`), 'VALID');
      assert.equal((await atrium.as(two.name)('POST', '/orgs', { username: name })).status, 201);
      assert.equal((await rename(two.name, name, `${name}-b`)).status, 200);
      const refused = await rename(one.name, `${name}-a`, name);
      assert.deepEqual([refused.status, refused.body.reason], [422, 'name_reserved']);
      assert.equal((await rename(two.name, `${name}-b`, name)).status, 200);
    });

    it(`Whoever asks for a name at the moment at which it is given up does not get it, on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.nameRaces; round++) {
        const [owner, thief] = [await makePerson(atrium), await makePerson(atrium)];
        const { name } = await makeOrganization(atrium, owner.name);
        const give =
          round % 2 === 0 ? rename(owner.name, name, `${name}-x`) : atrium.as(owner.name)('DELETE', `/orgs/${name}`);
        const asked = Array.from({ length: 6 }, (_, place) =>
          place % 2 === 0
            ? atrium.as(thief.name)('POST', '/orgs', { username: name })
            : root('POST', '/admin/users', { username: name, email: `${name}${place}@example.com` }),
        );
        const [given, ...answers] = await Promise.all([give, ...asked]);
        assert.ok(given && given.status < 300, given?.text);
        for (const { status, text } of answers) assert.equal(status, 422, text);
        const holders = await atrium.instance.db.query(statement('select id from account where name_key = $1'), [name]);
        assert.deepEqual(holders, []);
      }
    });

    it(`A release that does not know reservations gets the unique violation that it expects, on ${driver}`, async () => {
      const { name: owner } = await makePerson(atrium);
      const { name } = await makeOrganization(atrium, owner);
      await rename(owner, name, `${name}-later`);
      const insert = atrium.instance.db.query(
        statement(`insert into account (kind, name) values ('organization', $1)`),
        [name],
      );
      await assert.rejects(insert, { code: '23505', constraint: 'account_name' });
    });
  });
}

describe('Renaming an organization', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Only an owner can change the name, and a request that also changes it is rejected as a whole', async () => {
    const editor = await makeHolder(atrium, [orgPermission('edit')]);
    for (const who of ['bob', editor.name]) {
      for (const username of ['acme-old', 'Acme']) {
        const answer = await atrium.as(who)('PATCH', '/orgs/acme', { username, description: 'taken over' });
        assert.deepEqual(
          [answer.status, answer.body.reason, answer.body.relation],
          [403, 'missing_relation', 'owner:org'],
        );
        assert.match(answer.body.message, /only an owner can change the name of an organization/);
      }
      assert.equal((await atrium.as('ann')('GET', '/orgs/acme')).body.description, '');
      const rest = await atrium.as(who)('PATCH', '/orgs/acme', { username: 'acme', location: who });
      assert.deepEqual([rest.status, rest.body.location], [200, who]);
    }
    const asEditor = await atrium.as('root')('PATCH', '/orgs/acme?sudo=bob', { username: 'acme-old' });
    assert.equal(asEditor.status, 403);
    assert.equal((await atrium.as('ann')('PATCH', '/orgs/acme', { username: 'ACME' })).status, 200);
    assert.equal((await atrium.as('root')('PATCH', '/orgs/acme', { username: 'acme' })).body.name, 'acme');
    // Another letter case is the same name, so nothing was given up.
    assert.deepEqual((await atrium.as('root')('GET', '/admin/reserved-names')).body, []);
  });

  it('Each former name is reserved, up to a limit that does not keep an organization from going back', async () => {
    const { name: owner } = await makePerson(atrium);
    const { name: first } = await makeOrganization(atrium, owner);
    const names = [first, ...Array.from({ length: 10 }, (_, place) => `${first}-${place}`)];
    for (const [place, name] of names.slice(1).entries()) {
      const answer = await atrium.as(owner)('PATCH', `/orgs/${names[place]}`, { username: name });
      assert.equal(answer.status, 200, answer.text);
    }
    const listed = await atrium.as('root')('GET', '/admin/reserved-names?limit=5');
    assert.deepEqual([listed.body.length, listed.headers.get('x-total-count')], [5, '10']);
    assert.equal(listed.body[0].account.username, names.at(-1));
    const present = `/orgs/${names.at(-1)}`;
    const more = await atrium.as(owner)('PATCH', present, { username: `${first}-more` });
    assert.deepEqual([more.status, more.body.reason], [422, 'limit_reached']);
    assert.equal((await atrium.as(owner)('PATCH', present, { location: 'here' })).status, 200);
    assert.equal((await atrium.as(owner)('PATCH', present, { username: first })).status, 200);
  });

  it('Only site administrators can list and release reserved names', async () => {
    for (const [method, path] of [
      ['GET', '/admin/reserved-names'],
      ['DELETE', '/admin/reserved-names/acme'],
    ] as const) {
      const answer = await atrium.as('ann')(method, path);
      assert.deepEqual([answer.status, answer.body.message], [403, 'only site administrators can call this route']);
      assert.equal((await atrium.as()(method, path)).status, 401);
    }
    assert.equal((await atrium.as('root')('DELETE', '/admin/reserved-names/acme')).status, 404);
    assert.equal(
      (await atrium.as('root')('DELETE', `/admin/reserved-names/${encodeURIComponent('\u212A')}`)).status,
      404,
    );
  });
});
