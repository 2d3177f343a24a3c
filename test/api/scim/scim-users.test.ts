import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import {
  assertScimError,
  ENTERPRISE,
  found,
  newScimToken,
  patch,
  type ScimCall,
  scimCaller,
  USER,
  user,
} from '../../support/world/scim.ts';

const ENV = { SCIM_DOMAINS: 'acme:acme.example, globex:globex.example' };

for (const driver of COUNTED_DRIVERS) {
  describe(`SCIM users on ${driver}`, () => {
    let atrium: TestServer;
    let acme: ScimCall;
    let path: string;
    before(async () => {
      atrium = await openTestServer({ driver, env: ENV });
      acme = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
    });
    after(() => atrium.close());

    it(`A person is created on ${driver} with an account, a login name and a place in the organization`, async () => {
      const made = await acme('POST', '/Users', {
        ...user('Barbara.Jensen@acme.example'),
        externalId: 'e-1',
        name: { givenName: 'Barbara', familyName: 'Jensen', honorificPrefix: 'Ms.' },
        title: 'Tour Guide',
        active: true,
      });
      assert.equal(made.status, 201, made.text);
      const { id, meta, ...rest } = made.body;
      assert.deepEqual(rest, {
        schemas: [USER],
        externalId: 'e-1',
        userName: 'Barbara.Jensen@acme.example',
        name: { familyName: 'Jensen', givenName: 'Barbara' },
        emails: [{ value: 'Barbara.Jensen@acme.example', type: 'work', primary: true }],
        title: 'Tour Guide',
        active: true,
      });
      path = `/Users/${id}`;
      assert.equal(meta.location, `${atrium.url}/scim/v2${path}`);
      assert.equal(made.headers.get('location'), meta.location);
      assert.equal(made.headers.get('etag'), meta.version);
      assert.deepEqual((await acme('GET', path)).body, made.body);
      const account = await atrium.as('root')('GET', '/users/Barbara.Jensen');
      assert.deepEqual(
        [account.body.id, account.body.full_name, account.body.email],
        [Number(id), 'Barbara Jensen', 'Barbara.Jensen@acme.example'],
      );
      const groups = (await acme('GET', `${path}?attributes=groups`)).body.groups;
      assert.deepEqual(
        groups.map((group: { display: string }) => group.display),
        ['Viewers'],
      );
    });

    it(`Creating the same person twice on ${driver} is a conflict that names uniqueness`, async () => {
      assertScimError(await acme('POST', '/Users', user('barbara.jensen@acme.example')), 409, 'uniqueness');
      const other = { ...user('bj@acme.example'), emails: [{ value: 'barbara.jensen@ACME.example' }] };
      assertScimError(await acme('POST', '/Users', other), 409, 'uniqueness', /is user \d+ already/);
    });

    it(`Two people with one local part on ${driver} get different login names`, async () => {
      const made = await acme('POST', '/Users', { ...user('Barbara.Jensen'), emails: [{ value: 'b2@acme.example' }] });
      assert.equal(made.status, 201, made.text);
      assert.equal((await atrium.as('root')('GET', '/users/Barbara.Jensen-2')).body.id, Number(made.body.id));
    });

    it(`Replacing and patching a person on ${driver} changes the account that the organization owns`, async () => {
      const whole = { ...user('barbara@acme.example'), displayName: 'Babs', externalId: 'e-2' };
      const put = await acme('PUT', path, whole);
      assert.equal(put.status, 200, put.text);
      assert.deepEqual(
        [put.body.userName, put.body.displayName, put.body.name],
        ['barbara@acme.example', 'Babs', undefined],
      );
      const patched = await acme(
        'PATCH',
        path,
        patch(
          { op: 'Replace', path: 'emails[type eq "work"].value', value: 'babs@acme.example' },
          { op: 'add', path: 'name.familyName', value: 'Jensen' },
          { op: 'remove', path: 'externalId' },
          { op: 'replace', value: { displayName: 'Barbara J.', 'name.givenName': 'Barbara' } },
          { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Tours' },
        ),
      );
      assert.equal(patched.status, 200, patched.text);
      assert.deepEqual(
        [patched.body.emails[0].value, patched.body.name, patched.body.externalId, patched.body.displayName],
        ['babs@acme.example', { familyName: 'Jensen', givenName: 'Barbara' }, undefined, 'Barbara J.'],
      );
      const account = await atrium.as('root')('GET', '/users/Barbara.Jensen');
      assert.deepEqual([account.body.full_name, account.body.email], ['Barbara J.', 'babs@acme.example']);
    });

    it(`A version that is no longer current is rejected with 412 on ${driver}, and a current one is not sent again`, async () => {
      const { headers } = await acme('GET', path);
      const etag = headers.get('etag') ?? assert.fail();
      assert.equal((await acme('GET', path, undefined, { 'If-None-Match': etag })).status, 304);
      assert.equal((await acme('GET', path, undefined, { 'If-None-Match': 'W/"other"' })).status, 200);
      const change = patch({ op: 'replace', path: 'displayName', value: 'B. J.' });
      assert.equal((await acme('PATCH', path, change, { 'If-Match': etag })).status, 200);
      for (const method of ['PATCH', 'PUT', 'DELETE']) {
        const body = { PATCH: change, PUT: user('barbara@acme.example') }[method];
        assertScimError(await acme(method, path, body, { 'If-Match': etag }), 412, undefined);
      }
      assert.equal((await acme('GET', path)).body.displayName, 'B. J.');
    });

    it(`Filters on ${driver} find people by every stored attribute`, async () => {
      const made = await acme('POST', '/Users', {
        ...user('zoe@acme.example'),
        externalId: 'Zoë "1"',
        displayName: 'Zoë',
      });
      assert.equal(made.status, 201, made.text);
      const { id } = made.body;
      for (const [filter, isFound] of [
        ['userName eq "ZOE@acme.example"', true],
        ['userName eq "zoe"', false],
        ['userName ne "zoe@acme.example"', false],
        ['externalId eq "Zoë \\"1\\""', true],
        ['externalId eq "zoë \\"1\\""', false],
        [`id eq "${id}"`, true],
        ['id eq "x"', false],
        ['displayName co "OË"', true],
        ['displayName sw "zo" and not (displayName ew "x")', true],
        ['emails.value ew "@acme.example" and emails[type eq "work" and value sw "zoe"]', true],
        ['emails[type eq "home"]', false],
        ['name.familyName pr', false],
        ['not (name.familyName pr) and active eq true', true],
        ['active eq false', false],
        ['meta.lastModified gt "2020-01-01T00:00:00Z"', true],
        ['meta.created lt "2020-01-01T00:00:00Z"', false],
        ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "zoe@acme.example"', true],
        ['(userName sw "a" or (userName sw "z" and userName le "zz")) and displayName ge "a"', true],
        ['groups.display eq "viewers"', true],
        ['groups[display eq "Owners"]', false],
        ['displayName eq null', false],
        ['meta.resourceType eq "User"', true],
      ] as const) {
        const ids = await found(acme, `/Users?count=200&filter=${encodeURIComponent(filter)}`, 'id');
        assert.equal(ids.includes(id), isFound, filter);
      }
      const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], filter: 'userName sw "zoe"' };
      const answer = await acme('POST', '/Users/.search', { ...search, attributes: ['userName'] });
      assert.deepEqual(answer.body.Resources, [{ schemas: [USER], id, userName: 'zoe@acme.example' }]);
    });

    it(`Lists on ${driver} are paged and sorted, and show the attributes that were asked for`, async () => {
      const all = await acme('GET', '/Users?sortBy=userName&sortOrder=descending&attributes=userName&count=200');
      const names = all.body.Resources.map((one: { userName: string }) => one.userName.toLowerCase());
      assert.deepEqual(names, [...names].sort().reverse());
      assert.equal(all.body.totalResults, names.length);
      const second = await acme('GET', '/Users?sortBy=userName&sortOrder=descending&startIndex=2&count=1');
      assert.deepEqual(
        [second.body.totalResults, second.body.itemsPerPage, second.body.startIndex, second.body.Resources[0].id],
        [names.length, 1, 2, all.body.Resources[1].id],
      );
      assert.deepEqual((await acme('GET', '/Users?count=0')).body.Resources, []);
      const less = await acme('GET', `${path}?excludedAttributes=emails,meta.created,name,${ENTERPRISE}:department`);
      assert.deepEqual(Object.keys(less.body).sort(), ['active', 'displayName', 'id', 'meta', 'schemas', 'userName']);
      assert.ok(!('created' in less.body.meta) && 'version' in less.body.meta);
    });

    it(`A member who is unknown to the provider is shown with their address on ${driver}, and taken up by it`, async () => {
      const [cat] = (await acme('GET', `/Users?filter=${encodeURIComponent('userName sw "cat@"')}`)).body.Resources;
      assert.equal(cat.id, String(atrium.world.users.cat?.id));
      const put = await acme('POST', '/Users', { ...user(cat.userName), externalId: 'cat', displayName: 'Catherine' });
      assert.equal(put.status, 201, put.text);
      assert.deepEqual([put.body.id, put.body.displayName], [cat.id, 'Catherine']);
      // The address is in no domain of the organization, so the account stays as it is.
      assert.notEqual((await atrium.as('root')('GET', '/users/cat')).body.full_name, 'Catherine');
      assert.equal((await acme('GET', `/Users/${cat.id}`)).body.externalId, 'cat');
      const members = (await atrium.as('ann')('GET', '/orgs/acme/members?q=a')).body;
      const managed = (login: string) => members.find((one: { login: string }) => one.login === login)?.managed_by_scim;
      assert.deepEqual([managed('cat'), managed('ann')], [true, undefined]);
    });

    it(`An address outside the domains of the organization is rejected on ${driver}, whether it is known or not`, async () => {
      const eve = (await atrium.as('root')('GET', '/users/eve')).body.email;
      for (const address of [eve, 'nobody@globex.example', 'new@elsewhere.example']) {
        const refusal = await acme('POST', '/Users', user(address));
        assertScimError(refusal, 403, undefined, /is no domain of acme.* SCIM_DOMAINS/);
      }
      const moved = patch({ op: 'replace', path: 'emails', value: [{ value: 'x@elsewhere.example' }] });
      assertScimError(await acme('PATCH', path, moved), 403, undefined);
    });

    it(`Nobody gets on ${driver} what is meant for the person whose address they have added`, async () => {
      const added = await atrium.as('cat')('POST', '/user/emails', { emails: ['chief@acme.example'] });
      assert.equal(added.status, 201, added.text);
      assertScimError(await acme('POST', '/Users', user('chief@acme.example')), 409, 'uniqueness', /in use/);
      await atrium.as('cat')('DELETE', '/user/emails', { emails: ['chief@acme.example'] });
    });

    it(`What is wrong with a request is said in the words of SCIM on ${driver}`, async () => {
      const many = Array.from({ length: 21 }, (_, index) => ({ value: `x${index}@acme.example` }));
      for (const [method, url, body, scimType] of [
        ['POST', '/Users', { schemas: [USER] }, 'invalidValue'],
        ['POST', '/Users', { ...user('x@acme.example'), schemas: ['urn:other'] }, 'invalidSyntax'],
        ['POST', '/Users', '[]', 'invalidSyntax'],
        ['POST', '/Users', '{', 'invalidSyntax'],
        ['POST', '/Users', user('no address'), 'invalidValue'],
        ['POST', '/Users', { ...user('x@acme.example'), active: 'perhaps' }, 'invalidValue'],
        ['POST', '/Users', { ...user('x@acme.example'), displayName: 7 }, 'invalidValue'],
        ['POST', '/Users', { ...user('x@acme.example'), displayName: 'x'.repeat(256) }, 'invalidValue'],
        ['POST', '/Users', { ...user('x@acme.example'), emails: many }, 'tooMany'],
        ['PATCH', path, { Operations: [] }, 'invalidSyntax'],
        ['PATCH', path, patch({ op: 'move', path: 'displayName' }), 'invalidSyntax'],
        ['PATCH', path, patch({ op: 'remove' }), 'noTarget'],
        ['PATCH', path, patch({ op: 'replace', path: 'id', value: '7' }), 'mutability'],
        ['PATCH', path, patch({ op: 'replace', path: 'groups', value: [] }), 'mutability'],
        ['PATCH', path, patch({ op: 'replace', path: 'nonsense', value: 1 }), 'invalidPath'],
        ['PATCH', path, patch({ op: 'replace', path: 'emails[', value: 1 }), 'invalidPath'],
        ['PATCH', path, patch({ op: 'replace', path: 'displayName[value eq 1]', value: 1 }), 'invalidPath'],
        ['PATCH', path, patch({ op: 'replace', path: 'emails[value co "q"].type', value: 'home' }), 'noTarget'],
        ['PATCH', path, patch({ op: 'remove', path: 'userName' }), 'invalidValue'],
        ['GET', '/Users?filter=nonsense', undefined, 'invalidFilter'],
        ['GET', '/Users?filter=password%20pr', undefined, 'invalidFilter'],
        ['GET', '/Users?filter=active%20gt%20true', undefined, 'invalidFilter'],
        ['GET', '/Users?filter=active%20eq%20%22x%22', undefined, 'invalidFilter'],
        ['GET', '/Users?filter=meta.created%20gt%20%22x%22', undefined, 'invalidFilter'],
        ['GET', '/Users?sortBy=nonsense', undefined, 'invalidFilter'],
        ['GET', '/Users?count=x', undefined, 'invalidValue'],
        ['GET', '/Users?sortOrder=random', undefined, 'invalidValue'],
      ] as const) {
        assertScimError(await acme(method, url, body), 400, scimType);
      }
      for (const url of ['/Users/999999999', '/Users/x', '/Users/-1', '/Groups/1e3', '/Nothing', '/Schemas/x']) {
        assertScimError(await acme('GET', url), 404, undefined);
      }
      assertScimError(await acme('POST', '/Users/7', {}), 405, undefined);
    });

    it(`Deactivating on ${driver} ends sessions and tokens of an owned account, and activating revives none`, async () => {
      await atrium.as('root')('PATCH', '/admin/users/Barbara.Jensen', { password: 'correct horse battery' });
      const basic = `Basic ${Buffer.from('Barbara.Jensen:correct horse battery').toString('base64')}`;
      const token = await atrium.as()(
        'POST',
        '/users/Barbara.Jensen/tokens',
        { name: 'own', scopes: ['all'] },
        { Authorization: basic },
      );
      assert.equal(token.status, 201, token.text);
      const signIn = { username: 'Barbara.Jensen', password: 'correct horse battery' };
      const session = await atrium.as()('POST', '/user/signin', signIn);
      const Cookie = session.headers
        .getSetCookie()
        .map((one) => one.split(';', 1)[0])
        .join('; ');
      const bearer = { Authorization: `token ${token.body.sha1}` };
      const busUsers = async () => {
        const keys = statement('select 1 as one from bus_user where account_id = $1');
        return (await atrium.instance.db.query(keys, [path.slice(7)])).length;
      };
      const statuses = async () => [
        (await atrium.as()('GET', '/user', undefined, bearer)).status,
        (await atrium.as()('GET', '/user', undefined, { Cookie })).status,
        (await atrium.as()('GET', '/user', undefined, { Authorization: basic })).status,
      ];
      assert.deepEqual(await statuses(), [200, 200, 200]);
      assert.equal((await atrium.as()('GET', '/user/bus/credentials', undefined, bearer)).status, 200);
      assert.equal(await busUsers(), 1);
      // As Entra ID says it.
      const off = await acme('PATCH', path, patch({ op: 'Replace', path: 'active', value: 'False' }));
      assert.deepEqual([off.status, off.body.active], [200, false]);
      assert.deepEqual(await statuses(), [401, 401, 403]);
      assert.equal(await busUsers(), 0);
      assert.deepEqual((await atrium.as('ann')('GET', '/orgs/acme/members/Barbara.Jensen')).status, 404);
      const on = await acme('PATCH', path, patch({ op: 'replace', value: { active: true } }));
      assert.deepEqual([on.status, on.body.active], [200, true]);
      assert.deepEqual(await statuses(), [401, 401, 200]);
      assert.deepEqual((await atrium.as('ann')('GET', '/orgs/acme/members/Barbara.Jensen')).status, 204);
      // A site administrator keeps tokens, and the provider does not revive those either.
      const kept = await atrium.as()(
        'POST',
        '/users/Barbara.Jensen/tokens',
        { name: 'kept', scopes: ['all'] },
        { Authorization: basic },
      );
      assert.equal((await atrium.as('root')('PATCH', '/admin/users/Barbara.Jensen', { active: false })).status, 200);
      assert.equal(
        (await acme('PATCH', path, patch({ op: 'replace', path: 'active', value: true }))).body.active,
        true,
      );
      const late = { Authorization: `token ${kept.body.sha1}` };
      assert.equal((await atrium.as()('GET', '/user', undefined, late)).status, 401);
    });

    it(`Deactivating on ${driver} takes a person whom the organization does not own out of it, and nothing else`, async () => {
      const cat = `/Users/${atrium.world.users.cat?.id}`;
      const before = (await acme('GET', `${cat}?attributes=groups`)).body.groups;
      const off = await acme('PATCH', cat, patch({ op: 'replace', path: 'active', value: false }));
      assert.deepEqual([off.status, off.body.active], [200, false], off.text);
      assert.equal((await atrium.as('cat')('GET', '/user')).status, 200);
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/teams')).status, 404);
      assert.deepEqual((await acme('GET', `${cat}?attributes=groups`)).body.groups, before);
      const on = await acme('PATCH', cat, patch({ op: 'replace', path: 'active', value: true }));
      assert.deepEqual([on.status, on.body.active], [200, true], on.text);
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/teams')).status, 200);
    });

    it(`What a site administrator has deactivated stays so on ${driver}, until the provider says otherwise`, async () => {
      const dan = `/Users/${atrium.world.users.dan?.id}`;
      const isMember = async () => (await atrium.as('ann')('GET', '/orgs/acme/members/dan')).status === 204;
      const set = (active: boolean) => atrium.as('root')('PATCH', '/admin/users/dan', { active });
      assert.equal((await set(false)).status, 200);
      const renamed = await acme('PATCH', dan, patch({ op: 'replace', path: 'displayName', value: 'Dan D.' }));
      assert.deepEqual([renamed.body.active, await isMember()], [false, true], renamed.text);
      const off = await acme('PATCH', dan, patch({ op: 'replace', path: 'active', value: false }));
      assert.deepEqual([off.status, await isMember()], [200, false], off.text);
      assertScimError(await acme('PATCH', dan, patch({ op: 'replace', path: 'active', value: true })), 403, undefined);
      assert.equal((await set(true)).status, 200);
      assert.deepEqual([(await acme('GET', dan)).body.active, await isMember()], [false, false]);
      assert.equal((await acme('PATCH', dan, patch({ op: 'replace', path: 'active', value: true }))).status, 200);
      assert.equal(await isMember(), true);
    });

    it(`The last owner can be neither deactivated nor deleted on ${driver}, and nothing changes`, async () => {
      const ann = `/Users/${atrium.world.users.ann?.id}`;
      const before = await acme('GET', ann);
      const off = patch({ op: 'replace', value: { active: false, displayName: 'Gone' } });
      assertScimError(await acme('PATCH', ann, off), 409, undefined, /last owner/);
      assertScimError(await acme('DELETE', ann), 409, undefined, /last owner/);
      assert.deepEqual((await acme('GET', ann)).body, before.body);
      assert.equal((await atrium.as('ann')('GET', '/orgs/acme/teams')).status, 200);
    });

    it(`A person whom a guardrail protects cannot be deactivated on ${driver}, and nothing changes`, async () => {
      const bob = `/Users/${atrium.world.users.bob?.id}`;
      const rule = { name: 'bob stays', always: { users: ['bob'], relation: 'can_view' } };
      const made = await atrium.as('ann')('POST', '/authz/guardrails?org=acme', rule);
      assert.equal(made.status, 201, made.text);
      const off = patch({ op: 'replace', path: 'active', value: false });
      assertScimError(await acme('PATCH', bob, off), 409, undefined, /guardrail "bob stays"/);
      assertScimError(await acme('DELETE', bob), 409, undefined);
      assert.equal((await acme('GET', bob)).body.active, true);
      assert.equal((await atrium.as('bob')('GET', '/orgs/acme/teams')).status, 200);
      assert.equal((await atrium.as('ann')('DELETE', `/authz/guardrails/${made.body.id}?org=acme`)).status, 204);
    });

    it(`Deleting a person on ${driver} takes the account out of use, and creating them again takes it up`, async () => {
      assert.equal((await acme('DELETE', path)).status, 204);
      assertScimError(await acme('GET', path), 404, undefined);
      assertScimError(await acme('DELETE', path), 404, undefined);
      assert.equal((await atrium.as('root')('GET', '/users/Barbara.Jensen')).body.active, false);
      const again = await acme('POST', '/Users', { ...user('babs@acme.example'), displayName: 'Babs' });
      assert.equal(again.status, 201, again.text);
      assert.deepEqual([`/Users/${again.body.id}`, again.body.active], [path, true]);
      assert.equal((await atrium.as('root')('GET', '/users/Barbara.Jensen')).body.active, true);
    });

    it(`Everything is in the audit log on ${driver}, under the robot that spoke SCIM`, async () => {
      const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      const by = entries.filter(({ actor_name }) => /^robot \d+ of acme by SCIM$/.test(actor_name));
      const actions = new Set(by.map(({ action }) => action));
      for (const action of ['user.provision', 'user.deprovision', 'team.add_member', 'team.remove_member']) {
        assert.ok(actions.has(action), action);
      }
    });
  });
}
