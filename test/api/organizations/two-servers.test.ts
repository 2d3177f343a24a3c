import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SESSION_COOKIE } from '../../../src/http/admission/credential.ts';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { openPair, type SecondProcess } from '../../support/server/processes.ts';
import type { TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { clusterPermission } from '../../support/world/authz.ts';
import { inHours, letExpire } from '../../support/world/expiry.ts';
import {
  addMember,
  createCluster,
  createRobot,
  createTeam,
  makeOrganization,
  makePerson,
} from '../../support/world/people.ts';
import { newScimToken, patch, scimCaller, user } from '../../support/world/scim.ts';

const bearer = (text: string) => ({ Authorization: `token ${text}` });

/**
 * A server in this process and one in another share a database. If one removes something, the other knows it at once.
 */
describe('Removals with two servers', { skip: lacks('postgresql') }, () => {
  let atrium: TestServer;
  let other: SecondProcess;
  before(async () => {
    const pair = await openPair({ SCIM_DOMAINS: 'acme:acme.example' });
    atrium = pair.atrium;
    other = await pair.open();
  });
  after(async () => {
    await other.close();
    await atrium.close();
  });

  it('A robot account or token deleted on one server is rejected by the other on the next request', async () => {
    const url = `${other.url}/api/v1/clusters/${atrium.world.clusters.prod?.id}/heartbeat`;
    const beat = async (text: string) => (await fetch(url, { method: 'POST', headers: bearer(text) })).status;
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const { body: robot } = await atrium.as('ann')('POST', '/orgs/acme/robots', { name: `r${round}` });
      const tokens = await Promise.all(
        ['a', 'b'].map(async (name) => (await atrium.as('ann')('POST', `/robots/${robot.id}/tokens`, { name })).body),
      );
      for (const { sha1 } of tokens) assert.equal(await beat(sha1), 204);
      assert.equal((await atrium.as('ann')('DELETE', `/robots/${robot.id}/tokens/a`)).status, 204);
      assert.deepEqual([await beat(tokens[0].sha1), await beat(tokens[1].sha1)], [401, 204]);
      assert.equal((await atrium.as('ann')('DELETE', `/robots/${robot.id}`)).status, 204);
      assert.equal(await beat(tokens[1].sha1), 401);
    }
  });

  it('Somebody deactivated by SCIM on one server is rejected by the other on the next request', async () => {
    const scim = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const made = await scim('POST', '/Users', user(`leaver${round}@acme.example`));
      assert.equal(made.status, 201, made.text);
      const accountId = BigInt(made.body.id);
      const issue = () =>
        atrium.instance.identity.tokens.issue({ accountId, name: crypto.randomUUID(), scopes: ['all'] });
      const [token, session] = [
        await issue(),
        await atrium.instance.identity.sessions.open(accountId, false, new Date()),
      ];
      const ask = async (headers: Record<string, string>, path = '/user') =>
        (await fetch(`${other.url}/api/v1${path}`, { headers })).status;
      const cookie = { Cookie: `${SESSION_COOKIE}=${session.text}` };
      assert.equal(await ask(bearer(token.text)), 200);
      assert.equal(await ask(bearer(token.text), '/orgs/acme/teams'), 200);
      const isSignedIn = (await ask(cookie)) === 200;
      const set = (active: boolean) =>
        scim('PATCH', `/Users/${accountId}`, patch({ op: 'replace', path: 'active', value: active }));
      assert.equal((await set(false)).status, 200);
      assert.deepEqual([await ask(bearer(token.text)), await ask(cookie)], [401, 401]);
      assert.equal((await set(true)).status, 200);
      assert.deepEqual([isSignedIn, await ask(bearer(token.text)), await ask(cookie)], [true, 401, 401]);
      assert.equal(await ask(bearer((await issue()).text), '/orgs/acme/teams'), 200);
    }
  });

  it('A cluster removed on one server grants no permissions on the other from the next request', async () => {
    const token = bearer(atrium.world.users.ann?.token ?? '');
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const body = { name: `c${round}`, uid: crypto.randomUUID() };
      const { id } = (await atrium.as('ann')('POST', '/orgs/acme/clusters', body)).body;
      const url = `${other.url}/api/v1/authz/objects/cluster/${id}/allowed-permissions?org=acme`;
      const allowed = async () =>
        ((await (await fetch(url, { headers: token })).json()) as { allowedPermissions: string[] }).allowedPermissions;
      assert.ok((await allowed()).includes('can_remove'));
      assert.equal((await atrium.as('ann')('DELETE', `/clusters/${id}`)).status, 204);
      assert.deepEqual(await allowed(), []);
    }
  });

  it(`What expires grants nothing on either server from the next request, ${COUNTS.expiryPairs} times`, async (t) => {
    const [owner, member] = [await makePerson(atrium), await makePerson(atrium)];
    const org = await makeOrganization(atrium, owner.name);
    const call = atrium.as(owner.name);
    const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'ops', permission: 'none' });
    await addMember(atrium.instance, team, member.id);
    const permissions = [clusterPermission('connect to clusters')];
    const role = await call('POST', `/authz/roles?org=${org.name}`, { name: 'connector', permissions });
    // Each kind of assignment, and the permission that comes with it.
    const kinds = [
      { path: `/teams/${org.team('Editors')}/members/${member.name}`, permission: 'can_edit' },
      { path: `/teams/${team}/roles/${role.body.id}`, permission: 'can_connect_clusters' },
    ];
    const path = `/api/v1/authz/objects/organization/${org.id}/allowed-permissions?org=${org.name}`;
    const ask = async (url: string): Promise<string[]> => {
      const answer = await atrium.call('GET', path, undefined, bearer(member.token), url);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.allowedPermissions;
    };
    const stale: string[] = [];
    for (let round = 0; round < COUNTS.expiryPairs; round++) {
      for (const { path } of kinds) assert.equal((await call('PUT', path, { expires_at: inHours(1) })).status, 204);
      for (const url of [atrium.url, other.url]) {
        const held = await ask(url);
        for (const { permission } of kinds) assert.ok(held.includes(permission), `${permission} at ${url}`);
      }
      await letExpire(t, atrium, org.id);
      // Both servers notice at the same moment, or one of them first.
      const answers =
        round % 3 === 0
          ? await Promise.all([ask(atrium.url), ask(other.url)])
          : [await ask(round % 3 === 1 ? atrium.url : other.url), await ask(round % 3 === 1 ? other.url : atrium.url)];
      for (const held of answers)
        for (const { permission } of kinds) if (held.includes(permission)) stale.push(`${round} ${permission}`);
    }
    assert.deepEqual(stale, []);
    const chain = await auditOf(atrium.instance.db, org.id);
    assert.deepEqual(brokenLinks(chain), []);
    const count = (wanted: string) => chain.filter(({ action }) => action === wanted).length;
    assert.deepEqual(
      [count('team.expire_member'), count('role.expire')],
      [COUNTS.expiryPairs, COUNTS.expiryPairs],
      'each once, whoever noticed',
    );
  });

  it('An organization deleted in one process grants nothing in the other from the next request', async () => {
    const ask = async (who: string, path: string) => {
      const headers = { Authorization: `token ${atrium.world.users[who]?.token}` };
      return await atrium.call('GET', `/api/v1${path}`, undefined, headers, other.url);
    };
    const stale: string[] = [];
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const [owner, member] = [await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, owner.name);
      await addMember(atrium.instance, BigInt(org.team('Editors')), member.id);
      const cluster = await createCluster(atrium.instance, {
        ownerId: org.id,
        name: 'c',
        uid: crypto.randomUUID(),
      });
      const robotId = await createRobot(atrium.instance, org.id, 'r');
      const robot = await atrium.instance.identity.tokens.issue({
        accountId: org.id,
        robotId,
        name: 'r',
        scopes: ['all'],
      });
      atrium.world.users[`robot${round}`] = { id: org.id, token: robot.text };
      const about = `/authz/objects/cluster/${cluster}/allowed-permissions?org=acme`;
      for (const { name } of [owner, member]) {
        assert.equal((await ask(name, `/orgs/${org.name}`)).status, 200);
        assert.equal((await ask(name, '/user/clusters?all=true')).body.length, 1);
        assert.deepEqual((await ask(name, about)).body.allowedPermissions, []);
      }
      const own = `/authz/objects/cluster/${cluster}/allowed-permissions?org=${org.name}`;
      assert.ok((await ask(member.name, own)).body.allowedPermissions.includes('can_edit'));
      assert.equal((await ask(`robot${round}`, '/user')).status, 200);

      assert.equal((await atrium.as(owner.name)('DELETE', `/orgs/${org.name}`)).status, 204);
      for (const { name } of [owner, member]) {
        if ((await ask(name, `/orgs/${org.name}`)).status !== 404) stale.push(`${name} ${org.name}`);
        if ((await ask(name, '/user/clusters?all=true')).body.length !== 0) stale.push(`${name} clusters`);
        if ((await ask(name, own)).status !== 403) stale.push(`${name} permissions`);
        if ((await ask(name, '/user')).body.orgAdmin) stale.push(`${name} orgAdmin`);
      }
      if ((await ask(`robot${round}`, '/user')).status !== 401) stale.push('robot');
    }
    assert.deepEqual(stale, []);
  });

  it('A user deleted or deactivated in one process is rejected by the other on the next request', async () => {
    const ask = async (token: string, path = '/user') => {
      const headers = { Authorization: `token ${token}` };
      return (await atrium.call('GET', `/api/v1${path}`, undefined, headers, other.url)).status;
    };
    const stale: string[] = [];
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const { name, id, token } = await makePerson(atrium, { isAdmin: round % 2 === 0 });
      await addMember(atrium.instance, atrium.world.orgs.acme?.teams.Viewers ?? 0n, id);
      assert.deepEqual([await ask(token), await ask(token, '/orgs/acme')], [200, 200]);
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${name}`, { active: false })).status, 200);
      if ((await ask(token)) !== 403) stale.push(`${name} active`);
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${name}`, { active: true })).status, 200);
      if ((await ask(token)) !== 200) stale.push(`${name} inactive`);
      assert.equal((await atrium.as('root')('DELETE', `/admin/users/${name}`)).status, 204);
      if ((await ask(token)) !== 401) stale.push(`${name} there`);
    }
    assert.deepEqual(stale, []);
  });
});
