import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  assertScimError,
  found,
  GROUP,
  newScimToken,
  patch,
  type ScimCall,
  scimCaller,
  user,
} from '../../support/world/scim.ts';

const ENV = { SCIM_DOMAINS: 'acme:acme.example,globex:globex.example' };

for (const driver of COUNTED_DRIVERS) {
  describe(`SCIM groups on ${driver}`, () => {
    let atrium: TestServer;
    let acme: ScimCall;
    let globex: ScimCall;
    let path: string;
    const people: string[] = [];
    const members = async (url = path): Promise<string[]> =>
      ((await acme('GET', url)).body.members ?? []).map(({ value }: { value: string }) => value);
    const idOf = (name: string) => String(atrium.world.users[name]?.id);
    before(async () => {
      atrium = await openTestServer({ driver, env: ENV });
      acme = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
      globex = scimCaller(atrium, await newScimToken(atrium, 'globex', 'eve'));
      for (const name of ['one', 'two', 'three']) {
        const made = await acme('POST', '/Users', user(`${name}@acme.example`));
        assert.equal(made.status, 201, made.text);
        people.push(made.body.id);
      }
    });
    after(() => atrium.close());

    it(`A group is a team that gives nothing but membership on ${driver}`, async () => {
      const [one = '', two = ''] = people;
      const made = await acme('POST', '/Groups', {
        schemas: [GROUP],
        displayName: 'Tour Guides',
        externalId: 'g-1',
        members: [{ value: one }, { value: two, type: 'User' }, { value: one }],
      });
      assert.equal(made.status, 201, made.text);
      const { id, meta, ...rest } = made.body;
      const shown = (value: string) => ({ value, $ref: `${atrium.url}/scim/v2/Users/${value}`, type: 'User' });
      assert.deepEqual(rest, {
        schemas: [GROUP],
        externalId: 'g-1',
        displayName: 'Tour Guides',
        members: [shown(one), shown(two)],
      });
      path = `/Groups/${id}`;
      assert.equal(meta.version, made.headers.get('etag'));
      assert.deepEqual((await acme('GET', path)).body, made.body);
      const team = await atrium.as('ann')('GET', `/teams/${id}`);
      assert.deepEqual([team.body.name, team.body.permission], ['Tour Guides', 'none']);
      assertScimError(await acme('POST', '/Groups', { displayName: 'tour guides' }), 409, 'uniqueness');
    });

    it(`Members are added, removed and replaced in all the ways that providers know on ${driver}`, async () => {
      const [one = '', two = '', three = ''] = people;
      for (const [operations, expected] of [
        [[{ op: 'add', path: 'members', value: [{ value: three }] }], [one, two, three]],
        [[{ op: 'remove', path: `members[value eq "${one}"]` }], [two, three]],
        [[{ op: 'Remove', path: 'members', value: [{ value: two }] }], [three]],
        [[{ op: 'Add', value: { members: [{ value: one }] } }], [one, three]],
        [[{ op: 'replace', path: 'members', value: [{ value: two }] }], [two]],
        [[{ op: 'replace', value: { id: 'x', displayName: 'Guides' } }], [two]],
        [
          [
            { op: 'remove', path: 'members' },
            { op: 'add', path: 'members', value: [{ value: one }, { value: three }] },
            { op: 'remove', path: `members[value eq "${three}" or value eq "${two}" or value eq "nobody"]` },
          ],
          [one],
        ],
        [[{ op: 'remove', path: 'members' }], []],
      ] as const) {
        const answer = await acme('PATCH', path, patch(...operations));
        assert.equal(answer.status, 204, answer.text);
        assert.deepEqual(await members(), expected, JSON.stringify(operations));
      }
      assert.equal((await acme('GET', path)).body.displayName, 'Guides');
      const put = await acme('PUT', path, { displayName: 'Guides', members: [{ value: three }] });
      assert.deepEqual([put.status, put.body.members.length, put.body.externalId], [200, 1, undefined], put.text);
      const kept = await acme('PUT', path, { displayName: 'Guides', externalId: 'g-2' });
      assert.deepEqual([kept.body.members.length, kept.body.externalId], [1, 'g-2']);
    });

    it(`Groups on ${driver} are found by name, external ID and member, also without their members`, async () => {
      const [, , three = ''] = people;
      for (const [filter, names] of [
        ['displayName eq "GUIDES"', ['Guides']],
        ['externalId eq "g-2"', ['Guides']],
        [`members.value eq "${three}" and displayName ne "Viewers"`, ['Guides']],
        [`members[value eq "${three}"] and not (id eq "${path.slice(8)}")`, ['Viewers']],
        ['displayName sw "own"', ['Owners']],
        ['externalId pr', ['Guides']],
      ] as const) {
        assert.deepEqual(
          await found(acme, `/Groups?filter=${encodeURIComponent(filter)}`, 'displayName'),
          names,
          filter,
        );
      }
      const all = await acme('GET', '/Groups?excludedAttributes=members&sortBy=displayName');
      assert.deepEqual(
        all.body.Resources.map((one: { displayName: string }) => one.displayName),
        ['Editors', 'Guides', 'operators', 'Owners', 'Viewers'],
      );
      assert.ok(all.body.Resources.every((one: object) => !('members' in one)));
      const second = await acme('GET', '/Groups?startIndex=2&count=1&sortBy=displayName&attributes=displayName');
      assert.deepEqual([second.body.totalResults, second.body.Resources[0].displayName], [5, 'Guides']);
      const search = await acme('POST', '/Groups/.search', { filter: 'displayName eq "Guides"', count: 1 });
      assert.equal(search.body.Resources[0].members[0].value, three);
      const part = await acme('GET', `${path}?attributes=members.value`);
      assert.deepEqual(part.body.members, [{ value: three }]);
      const names = await acme('GET', `${path}?attributes=members.display`);
      assert.deepEqual(names.body.members, [{ display: 'three@acme.example' }]);
    });

    it(`What cannot be done to a group is said in the words of SCIM on ${driver}, and changes nothing`, async () => {
      const before = (await acme('GET', path)).body;
      const owners = `/Groups/${atrium.world.orgs.acme?.teams.Owners}`;
      const many = Array.from({ length: 1001 }, (_, index) => ({ value: String(index + 1) }));
      for (const [method, url, body, status, scimType] of [
        ['PATCH', path, patch({ op: 'add', path: 'members', value: [{ value: '999999' }] }), 400, 'invalidValue'],
        ['PATCH', path, patch({ op: 'add', path: 'members', value: [{ value: idOf('eve') }] }), 400, 'invalidValue'],
        ['PATCH', path, patch({ op: 'add', path: 'members', value: [{ value: 'x' }] }), 400, 'invalidValue'],
        [
          'PATCH',
          path,
          patch({ op: 'add', path: 'members', value: [{ value: '7', type: 'Group' }] }),
          400,
          'invalidValue',
        ],
        ['PATCH', path, patch({ op: 'add', path: 'members', value: many }), 400, 'tooMany'],
        ['PATCH', path, patch({ op: 'remove', path: 'members[display eq "x"]' }), 400, 'invalidFilter'],
        ['PATCH', path, patch({ op: 'replace', path: 'members[value eq "7"].value', value: '8' }), 400, 'mutability'],
        ['PATCH', path, patch({ op: 'replace', path: 'displayName', value: '<b>' }), 400, 'invalidValue'],
        ['PATCH', path, patch({ op: 'replace', path: 'displayName', value: 'Owners' }), 409, 'uniqueness'],
        ['PATCH', path, patch({ op: 'remove', path: 'displayName' }), 400, 'invalidValue'],
        ['PATCH', owners, patch({ op: 'replace', path: 'displayName', value: 'Bosses' }), 409, undefined],
        ['PATCH', owners, patch({ op: 'remove', path: 'members' }), 409, undefined],
        ['PATCH', owners, patch({ op: 'remove', path: `members[value eq "${idOf('ann')}"]` }), 409, undefined],
        ['DELETE', owners, undefined, 409, undefined],
        ['POST', '/Groups', { members: [] }, 400, 'invalidValue'],
      ] as const) {
        assertScimError(await acme(method, url, body), status, scimType);
      }
      const both = patch(
        { op: 'add', path: 'members', value: [{ value: people[0] }] },
        { op: 'replace', path: 'displayName', value: 'Owners' },
      );
      assertScimError(await acme('PATCH', path, both), 409, 'uniqueness');
      assert.deepEqual((await acme('GET', path)).body, before);
    });

    it(`The last owner can be replaced on ${driver}, because new owners come first`, async () => {
      const owners = `/Groups/${atrium.world.orgs.acme?.teams.Owners}`;
      const [one = ''] = people;
      const swap = (id: string) => patch({ op: 'replace', path: 'members', value: [{ value: id }] });
      assert.equal((await acme('PATCH', owners, swap(one))).status, 204);
      assert.deepEqual(await members(owners), [one]);
      assert.equal((await acme('PATCH', owners, swap(idOf('ann')))).status, 400, 'she is no member any more');
      const back = await atrium.as('root')('PUT', `/teams/${owners.slice(8)}/members/ann`, {});
      assert.equal(back.status, 204, back.text);
      assert.equal((await acme('PATCH', owners, swap(idOf('ann')))).status, 204);
    });

    it(`Somebody who is not active keeps their groups on ${driver}, and is in the teams only while active`, async () => {
      const [one = '', , three = ''] = people;
      const inTeam = async (name: string) =>
        (await atrium.as('ann')('GET', `/teams/${path.slice(8)}/members/${name}`)).status;
      const set = (id: string, active: boolean) =>
        acme('PATCH', `/Users/${id}`, patch({ op: 'replace', value: { active } }));
      assert.equal((await set(three, false)).status, 200);
      assert.equal((await set(one, false)).status, 200);
      assert.deepEqual([await members(), await inTeam('three')], [[three], 404]);
      const swap = patch(
        { op: 'add', path: 'members', value: [{ value: one }] },
        { op: 'remove', path: `members[value eq "${three}"]` },
      );
      assert.equal((await acme('PATCH', path, swap)).status, 204);
      assert.deepEqual([await members(), await inTeam('one')], [[one], 404]);
      assert.equal((await set(one, true)).status, 200);
      assert.equal((await set(three, true)).status, 200);
      assert.deepEqual([await members(), await inTeam('one'), await inTeam('three')], [[one], 200, 404]);
    });

    it(`A version that is no longer current is rejected with 412 on ${driver}, also if only members changed`, async () => {
      const etag = (await acme('GET', path)).headers.get('etag') ?? assert.fail();
      assert.equal((await acme('GET', path, undefined, { 'If-None-Match': etag })).status, 304);
      assert.equal((await atrium.as('ann')('PUT', `/teams/${path.slice(8)}/members/cat`, {})).status, 204);
      for (const [method, body] of [
        ['PATCH', patch({ op: 'remove', path: 'members' })],
        ['PUT', { displayName: 'x' }],
        ['DELETE', undefined],
      ] as const) {
        assertScimError(await acme(method, path, body, { 'If-Match': etag }), 412, undefined);
      }
      const now = (await acme('GET', path)).headers.get('etag') ?? assert.fail();
      assert.equal((await acme('DELETE', path, undefined, { 'If-Match': now })).status, 204);
      assertScimError(await acme('GET', path), 404, undefined);
      assert.equal((await atrium.as('ann')('GET', `/teams/${path.slice(8)}`)).status, 404);
    });

    it(`One organization neither sees nor reaches what another one has on ${driver}`, async () => {
      const canary = await acme('POST', '/Users', {
        ...user('canary@acme.example'),
        externalId: 'cnry',
        displayName: 'Cnry',
      });
      const group = await acme('POST', '/Groups', {
        displayName: 'Cnry',
        externalId: 'cnry',
        members: [{ value: canary.body.id }],
      });
      assert.deepEqual([canary.status, group.status], [201, 201], group.text);
      const own = await globex('POST', '/Groups', { displayName: 'Traders 2' });
      const urls = [`/Users/${canary.body.id}`, `/Groups/${group.body.id}`];
      const missing = ['/Users/99999999', '/Groups/99999999'];
      for (const [index, url] of urls.entries()) {
        for (const [method, body] of [
          ['GET', undefined],
          ['PUT', { userName: 'x@globex.example', displayName: 'x' }],
          ['PATCH', patch({ op: 'replace', path: 'displayName', value: 'x' })],
          ['DELETE', undefined],
        ] as const) {
          const theirs = await globex(method, url, body);
          const nobodys = await globex(method, missing[index] ?? '', body);
          assertScimError(theirs, 404, undefined);
          assert.equal(theirs.text.replace(/\d{2,}/g, '#'), nobodys.text.replace(/\d{2,}/g, '#'));
        }
      }
      for (const url of [
        '/Users?count=200',
        '/Groups?count=200',
        '/Users?filter=externalId%20eq%20%22cnry%22',
        '/Users?filter=displayName%20co%20%22cnry%22',
        `/Users?filter=id%20eq%20%22${canary.body.id}%22`,
        `/Users?filter=groups.value%20eq%20%22${group.body.id}%22`,
        '/Users?filter=groups.display%20eq%20%22Cnry%22',
        `/Groups?filter=members.value%20eq%20%22${canary.body.id}%22`,
        '/Groups?filter=externalId%20pr',
        '/Users?attributes=groups,userName',
      ]) {
        const answer = await globex('GET', url);
        assert.equal(answer.status, 200, answer.text);
        assert.doesNotMatch(answer.text, /cnry|canary|acme\.example/i, url);
      }
      const add = patch({ op: 'add', path: 'members', value: [{ value: canary.body.id }] });
      const none = patch({ op: 'add', path: 'members', value: [{ value: '99999999' }] });
      const refusals = [
        await globex('PATCH', `/Groups/${own.body.id}`, add),
        await globex('PATCH', `/Groups/${own.body.id}`, none),
      ];
      for (const refusal of refusals) assertScimError(refusal, 400, 'invalidValue');
      assert.equal(new Set(refusals.map(({ text }) => text.replace(/user \d+/, 'user #'))).size, 1);
      for (const userName of ['canary@acme.example', 'nobody@acme.example']) {
        assertScimError(await globex('POST', '/Users', user(userName)), 403, undefined);
      }
      assert.equal((await acme('GET', urls[0] ?? '')).body.displayName, 'Cnry');
    });

    it(`Somebody in two organizations is owned by one on ${driver}, and only that one can lock them out`, async () => {
      const made = await acme('POST', '/Users', user('shared@acme.example'));
      assert.equal(made.status, 201, made.text);
      assert.equal((await atrium.as('eve')('PUT', '/orgs/globex/members/shared', {})).status, 204);
      const url = `/Users/${made.body.id}`;
      const usable = async () => (await atrium.as('root')('GET', '/users/shared')).body.active;
      const off = patch({ op: 'replace', path: 'active', value: false });
      const foreign = await globex('PATCH', url, off);
      assert.deepEqual([foreign.status, foreign.body.active], [200, false], foreign.text);
      assert.deepEqual([await usable(), (await acme('GET', url)).body.active], [true, true]);
      assert.equal((await atrium.as('eve')('GET', '/orgs/globex/members/shared')).status, 404);
      assert.equal((await acme('PATCH', url, off)).body.active, false);
      assert.equal(await usable(), false);
      const on = patch({ op: 'replace', path: 'active', value: true });
      assertScimError(await globex('PATCH', url, on), 403, undefined, /does not own it/);
      assert.equal((await acme('PATCH', url, on)).body.active, true);
      assert.equal((await globex('PATCH', url, on)).body.active, true);
      assert.equal((await atrium.as('eve')('GET', '/orgs/globex/members/shared')).status, 204);
    });
  });
}
