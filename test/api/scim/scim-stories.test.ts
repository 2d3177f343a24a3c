import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  assertScimError,
  GROUP,
  newScimToken,
  patch,
  type ScimCall,
  scimCaller,
  USER,
} from '../../support/world/scim.ts';

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const filtered = (path: string, filter: string, further = '') =>
  `${path}?filter=${encodeURIComponent(filter)}${further}`;

for (const driver of COUNTED_DRIVERS) {
  describe(`What identity providers send, on ${driver}`, () => {
    let atrium: TestServer;
    let call: ScimCall;
    const isIn = async (team: string, name: string) =>
      (await atrium.as('ann')('GET', `/teams/${team}/members/${name}`)).status === 200;
    const signsIn = async (name: string) => (await atrium.as('root')('GET', `/users/${name}`)).body.active;
    before(async () => {
      atrium = await openTestServer({ driver, env: { SCIM_DOMAINS: 'acme:acme.example' } });
      call = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
    });
    after(() => atrium.close());

    it(`Okta tests the connection, creates, updates, groups, deactivates and reactivates a person on ${driver}`, async () => {
      const test = await call('GET', '/Users?startIndex=1&count=2');
      assert.deepEqual([test.status, test.body.startIndex, test.body.Resources.length], [200, 1, 2]);
      const lookup = filtered('/Users', 'userName eq "olga@acme.example"', '&startIndex=1&count=100');
      assert.equal((await call('GET', lookup)).body.totalResults, 0);
      const made = await call('POST', '/Users', {
        schemas: [USER],
        userName: 'olga@acme.example',
        name: { givenName: 'Olga', familyName: 'Okta' },
        emails: [{ primary: true, value: 'olga@acme.example', type: 'work' }],
        displayName: 'Olga Okta',
        locale: 'en-US',
        externalId: '00ujl29u0le5T6Aj10h7',
        groups: [],
        password: '1mz050nq',
        active: true,
      });
      assert.equal(made.status, 201, made.text);
      assert.ok(!('password' in made.body));
      const url = `/Users/${made.body.id}`;
      assert.equal((await call('GET', lookup)).body.Resources[0].id, made.body.id);
      // Profile updates are whole resources, with everything that was read before.
      const whole = (await call('GET', url)).body;
      const put = await call('PUT', url, {
        ...whole,
        name: { ...whole.name, familyName: 'Oktavia' },
        displayName: 'Olga O.',
      });
      assert.deepEqual([put.status, put.body.name.familyName], [200, 'Oktavia'], put.text);
      assert.equal((await atrium.as('root')('GET', '/users/olga')).body.full_name, 'Olga O.');
      const group = await call('POST', '/Groups', { schemas: [GROUP], displayName: 'Okta Admins', members: [] });
      assert.equal(group.status, 201, group.text);
      const join = patch({
        op: 'add',
        path: 'members',
        value: [{ value: made.body.id, display: 'olga@acme.example' }],
      });
      assert.equal((await call('PATCH', `/Groups/${group.body.id}`, join)).status, 204);
      const rename = patch({ op: 'replace', value: { id: group.body.id, displayName: 'Admins from Okta' } });
      assert.equal((await call('PATCH', `/Groups/${group.body.id}`, rename)).status, 204);
      assert.equal(await isIn(group.body.id, 'olga'), true);
      const off = await call('PATCH', url, patch({ op: 'replace', value: { active: false } }));
      assert.deepEqual([off.status, off.body.active], [200, false]);
      assert.deepEqual([await signsIn('olga'), await isIn(group.body.id, 'olga')], [false, false]);
      assert.equal((await call('GET', lookup)).body.Resources[0].active, false);
      const on = await call('PUT', url, { ...put.body, active: true });
      assert.deepEqual([on.status, on.body.active], [200, true], on.text);
      assert.deepEqual([await signsIn('olga'), await isIn(group.body.id, 'olga')], [true, true]);
      const leave = patch({ op: 'remove', path: `members[value eq "${made.body.id}"]` });
      assert.equal((await call('PATCH', `/Groups/${group.body.id}`, leave)).status, 204);
      assert.equal((await call('DELETE', `/Groups/${group.body.id}`)).status, 204);
      assert.deepEqual([await signsIn('olga'), (await call('GET', url)).body.active], [true, true]);
    });

    it(`Entra ID probes with an ID, creates, patches in its own dialect, disables and deletes a person on ${driver}`, async () => {
      const probe = filtered('/Users', 'userName eq "6b62ba6a-9b6a-4e0e-b1b2-0f2f9d7f0c7c"');
      const nothing = await call('GET', probe);
      assert.deepEqual([nothing.status, nothing.body.totalResults, nothing.body.Resources], [200, 0, []]);
      const made = await call('POST', '/Users', {
        schemas: [USER, ENTERPRISE],
        externalId: 'enno',
        userName: 'Enno@acme.example',
        active: true,
        displayName: 'Enno Entra',
        emails: [{ primary: true, type: 'work', value: 'Enno@acme.example' }],
        meta: { resourceType: 'User' },
        name: { formatted: 'Enno Entra', familyName: 'Entra', givenName: 'Enno' },
        phoneNumbers: [{ type: 'work', value: '+1 555 0100' }],
        [ENTERPRISE]: { department: 'IT', manager: { value: '1' } },
      });
      assert.equal(made.status, 201, made.text);
      const url = `/Users/${made.body.id}`;
      assert.equal((await call('GET', filtered('/Users', 'externalId eq "enno"'))).body.Resources[0].id, made.body.id);
      const changed = await call(
        'PATCH',
        url,
        patch(
          { op: 'Replace', path: 'emails[type eq "work"].value', value: 'enno.e@acme.example' },
          { op: 'Add', path: 'emails[type eq "home"].value', value: 'enno@home.example' },
          { op: 'Replace', path: 'name.familyName', value: 'Entra-Id' },
          { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Security' },
          { op: 'Replace', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0101' },
          { op: 'Replace', path: 'userName', value: 'enno.e@acme.example' },
        ),
      );
      assert.equal(changed.status, 200, changed.text);
      assert.deepEqual(
        [changed.body.userName, changed.body.emails, changed.body.name.familyName],
        ['enno.e@acme.example', [{ value: 'enno.e@acme.example', type: 'work', primary: true }], 'Entra-Id'],
      );
      const lookup = filtered('/Groups', 'displayName eq "Entra Team"', '&excludedAttributes=members');
      assert.equal((await call('GET', lookup)).body.totalResults, 0);
      const group = await call('POST', '/Groups', {
        schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: 'et',
        displayName: 'Entra Team',
        meta: { resourceType: 'Group' },
      });
      assert.equal(group.status, 201, group.text);
      const groupUrl = `/Groups/${group.body.id}`;
      const member = (op: string) => patch({ op, path: 'members', value: [{ $ref: null, value: made.body.id }] });
      assert.equal((await call('PATCH', groupUrl, member('Add'))).status, 204);
      assert.equal((await call('PATCH', groupUrl, member('Add'))).status, 204, 'twice is once');
      assert.equal(await isIn(group.body.id, 'enno'), true);
      const single = await call('GET', `${groupUrl}?excludedAttributes=members`);
      assert.deepEqual(['members' in single.body, single.body.externalId], [false, 'et']);
      const isMember = filtered(
        '/Groups',
        `id eq "${group.body.id}" and members eq "${made.body.id}"`,
        '&attributes=id',
      );
      assert.equal((await call('GET', isMember)).body.totalResults, 1);
      const off = await call('PATCH', url, patch({ op: 'Replace', path: 'active', value: 'False' }));
      assert.deepEqual([off.status, off.body.active], [200, false], off.text);
      assert.deepEqual([await signsIn('enno'), await isIn(group.body.id, 'enno')], [false, false]);
      // Enabling a person does not repeat the groups, so they must have been kept.
      assert.equal((await call('PATCH', url, patch({ op: 'Replace', path: 'active', value: 'True' }))).status, 200);
      assert.equal(await isIn(group.body.id, 'enno'), true);
      assert.equal((await call('PATCH', groupUrl, member('Remove'))).status, 204);
      assert.equal((await call('PATCH', groupUrl, member('Remove'))).status, 204, 'twice is once');
      assert.equal((await call('DELETE', url)).status, 204);
      assert.equal(await signsIn('enno'), false);
      assertScimError(await call('GET', url), 404, undefined);
    });

    it(`Two requests that create one person at once on ${driver} make one, and the other is a conflict`, async () => {
      const body = { schemas: [USER], userName: 'race@acme.example' };
      const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST', '/Users', body)));
      assert.deepEqual(
        answers.map(({ status }) => status).sort(),
        [201, 409, 409, 409, 409, 409],
        answers.map(({ text }) => text).join('\n'),
      );
      assert.equal((await call('GET', filtered('/Users', 'userName eq "race@acme.example"'))).body.totalResults, 1);
      const namesakes = Array.from({ length: 4 }, (_, index) => ({
        userName: `same.name@${index}`,
        emails: [{ value: `same${index}@acme.example` }],
      }));
      const made = await Promise.all(namesakes.map((one) => call('POST', '/Users', one)));
      assert.deepEqual(
        new Set(made.map(({ status }) => status)),
        new Set([201]),
        made.map(({ text }) => text).join('\n'),
      );
    });
  });
}
