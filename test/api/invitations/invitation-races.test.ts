import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { pair } from '../../support/world/assignments.ts';
import { codeIn, newAddress, openHost, PASSWORD } from '../../support/world/invitations.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';
import { newScimToken, patch, scimCaller, user } from '../../support/world/scim.ts';

for (const driver of DRIVERS) {
  describe(`Invitations at the same moment, on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const accept = (code: string, username: string) =>
      atrium.call('POST', `/api/v1/invitations/${code}/accept`, { username, password: PASSWORD });

    it('Of several requests that accept an invitation, one succeeds', async () => {
      const { invite, call, org } = await openHost(atrium);
      const { code } = await invite(newAddress());
      const people = [await makePerson(atrium), await makePerson(atrium)];
      const answers = await Promise.all([
        accept(code, 'racer1'),
        accept(code, 'racer2'),
        ...people.map(({ name }) => atrium.as(name)('POST', `/invitations/${code}/accept`, { other_address: true })),
        ...people.map(({ name }) => atrium.as(name)('POST', `/invitations/${code}/accept`, { other_address: true })),
      ]);
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status < 300).length, 1, statuses.join());
      assert.ok(
        statuses.every((status) => status < 300 || status === 410),
        statuses.join(),
      );
      assert.equal((await call('GET', `/orgs/${org.name}/members`)).body.length, 2);
    });

    it('Of two invitations of an address at the same moment, one is open', async () => {
      const { call, path, viewers } = await openHost(atrium);
      const body = { email: newAddress(), team_ids: [viewers] };
      const answers = await Promise.all([1, 2, 3].map(() => call('POST', path, body)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
    });

    it('Accepting and revoking, or deleting the organization, at the same moment end in one of both', async () => {
      for (const what of ['invitation', 'organization'] as const) {
        const { invite, call, path, org } = await openHost(atrium);
        const { id, code } = await invite(newAddress());
        const target = what === 'invitation' ? `${path}/${id}` : `/orgs/${org.name}`;
        const [accepted, removed] = await Promise.all([accept(code, `late${what}`), call('DELETE', target)]);
        assert.ok([201, 404, 409].includes(accepted.status), accepted.text);
        assert.equal(removed.status, 204, removed.text);
        const account = await atrium.as('root')('GET', `/users/late${what}`);
        assert.equal(account.status === 200, accepted.status === 201);
      }
    });
  });
}

describe('Invitations by robots', () => {
  it('A robot with the rights invites, and what it has invited to ends with it', async (t) => {
    const atrium = await openTestServer();
    t.after(() => atrium.close());
    const { call, org, path } = await openHost(atrium);
    const crew = await createTeam(atrium.instance, { organizationId: org.id, name: 'crew', permission: 'none' });
    const robot = await call('POST', `/orgs/${org.name}/robots`, { name: 'host' });
    const { body: token } = await call('POST', `/robots/${robot.body.id}/tokens`, { name: 'x', scopes: ['all'] });
    const body = { email: newAddress(), team_ids: [Number(crew)] };
    const invite = () => atrium.call('POST', `/api/v1${path}`, body, { Authorization: `token ${token.sha1}` });
    assert.equal((await invite()).status, 403);
    const permissions = ['add members', 'manage team members'].map((action) => pair(`org_mgmt ${action}`));
    const role = await call('POST', `/authz/roles?org=${org.name}`, { name: 'hosting', permissions });
    const to = { type: 'robot_ac', id: robot.body.id };
    const given = await call('POST', `/authz/assignments?org=${org.name}`, { role: { id: role.body.id }, to });
    assert.equal(given.status, 201, given.text);
    const made = await invite();
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.invited_by, { type: 'robot_ac', id: robot.body.id, name: 'host' });
    assert.equal((await call('DELETE', `/robots/${robot.body.id}`)).status, 204);
    const code = codeIn(made.body.link);
    const answer = await atrium.call('POST', `/api/v1/invitations/${code}/accept`, {
      username: 'byrobot',
      password: PASSWORD,
    });
    assert.deepEqual([answer.status, answer.body.reason], [409, 'inviter_may_not']);
  });
});

describe('Invitations and identity providers', () => {
  it('A user whom SCIM has deactivated does not come back by invitation', async (t) => {
    const atrium = await openTestServer();
    t.after(() => atrium.close());
    const { invite, org, owner, viewers } = await openHost(atrium);
    const scim = scimCaller(atrium, await newScimToken(atrium, org.name, owner.name));
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(viewers), person.id);
    const made = await scim('POST', '/Users', user(`${person.name}@example.com`));
    assert.ok([200, 201].includes(made.status), made.text);
    const off = await scim('PATCH', `/Users/${made.body.id}`, patch({ op: 'replace', value: { active: false } }));
    assert.equal(off.status, 200, off.text);
    const { code } = await invite(`${person.name}@example.com`);
    const answer = await atrium.as(person.name)('POST', `/invitations/${code}/accept`);
    assert.deepEqual([answer.status, answer.body.reason], [409, 'deprovisioned']);
  });

  it('Without passwords, accepting creates no account with one, and users still join', async (t) => {
    const atrium = await openTestServer({
      env: {
        PASSWORDS: 'off',
        OIDC_PROVIDERS: JSON.stringify([
          { name: 'x', display_name: 'X', issuer: 'https://x.example', client_id: 'x', client_secret: 'x' },
        ]),
      },
    });
    t.after(() => atrium.close());
    const { invite } = await openHost(atrium);
    const { code } = await invite(newAddress());
    const answer = await atrium.call('POST', `/api/v1/invitations/${code}/accept`, {
      username: 'withpassword',
      password: PASSWORD,
    });
    assert.deepEqual([answer.status, answer.body.reason], [403, 'passwords_off']);
    const person = await makePerson(atrium);
    const joined = await atrium.as(person.name)('POST', `/invitations/${code}/accept`, { other_address: true });
    assert.equal(joined.status, 200, joined.text);
  });
});
