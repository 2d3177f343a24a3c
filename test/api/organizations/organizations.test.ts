import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, type Rejected } from '../../support/world/authz.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

for (const driver of API_DRIVERS) {
  describe(`Organizations on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    it(`The creator of an organization owns it and can read and edit it, and changes are audited on ${driver}`, async () => {
      const { name } = await makePerson(atrium);
      const call = atrium.as(name);
      const body = { username: 'initech', full_name: 'Initech Ltd', website: 'https://initech.example' };
      const made = await call('POST', '/orgs', { ...body, location: 'Austin', visibility: 'private' });
      assert.equal(made.status, 201, made.text);
      const shown = {
        id: made.body.id,
        name: 'initech',
        username: 'initech',
        full_name: 'Initech Ltd',
        avatar_url: `${atrium.url}/avatars/initech`,
        description: '',
        website: 'https://initech.example',
        location: 'Austin',
        visibility: 'private',
        orgType: '',
      };
      assert.deepEqual(made.body, shown);
      const read = await call('GET', '/orgs/InITech');
      assert.deepEqual([read.status, read.body], [200, shown]);
      assert.equal(read.headers.get('etag'), made.headers.get('etag'));
      for (const path of ['/orgs', '/user/orgs', '/user/settings/organizations']) {
        assert.deepEqual((await call('GET', path)).body, [shown], path);
      }
      const teams = (await call('GET', '/user/teams')).body;
      assert.deepEqual([teams.length, teams[0].name, teams[0].permission], [1, 'Owners', 'owner']);
      assert.equal((await atrium.as('eve')('GET', '/orgs/initech')).status, 404);

      const changed = await call('PATCH', '/orgs/initech', { description: 'Paper', website: '' });
      assert.deepEqual(changed.body, { ...shown, description: 'Paper', website: '' });
      const renamed = await call('PATCH', '/orgs/initech', { username: 'Initrode' });
      assert.deepEqual([renamed.status, renamed.body.name, renamed.body.description], [200, 'Initrode', 'Paper']);
      assert.equal((await call('GET', '/orgs/initech')).status, 404);
      assert.equal((await call('GET', '/orgs/initrode')).body.id, made.body.id);
      assert.equal((await call('PATCH', '/orgs/initrode', { username: 'INITRODE' })).body.name, 'INITRODE');
      // The Kelvin sign becomes a plain k in lower case, but is not one.
      const kelvin = await call('POST', '/orgs', { username: 'kelvin' });
      const odd = await call('PATCH', '/orgs/kelvin', { username: '\u212Aelvin' });
      assert.deepEqual([kelvin.status, odd.status, odd.body.errors?.[0]?.field], [201, 422, 'username']);
      assert.equal((await call('DELETE', '/orgs/kelvin')).status, 204);

      const entries = await auditOf(atrium.instance.db, made.body.id);
      assert.deepEqual(
        entries.map((entry) => [entry.action, entry.actor_name, entry.object_type, Number(entry.object_id)]),
        [
          ['organization.create', name, 'organization', made.body.id],
          ['organization.update', name, 'organization', made.body.id],
          ['organization.update', name, 'organization', made.body.id],
          ['organization.update', name, 'organization', made.body.id],
        ],
      );
      assert.deepEqual(brokenLinks(entries), []);
    });

    it(`A name that was released resolves to its new holder at once on ${driver}`, async () => {
      const [one, two] = [await makePerson(atrium), await makePerson(atrium)];
      const first = await atrium.as(one.name)('POST', '/orgs', { username: 'wanted' });
      assert.equal((await atrium.as(one.name)('PATCH', '/orgs/wanted', { username: 'given-up' })).status, 200);
      assert.equal((await atrium.as('root')('DELETE', '/admin/reserved-names/wanted')).status, 204);
      const second = await atrium.as(two.name)('POST', '/orgs', { username: 'wanted' });
      assert.equal(second.status, 201, second.text);
      assert.equal((await atrium.as(one.name)('GET', '/orgs/wanted')).status, 404);
      assert.equal((await atrium.as(two.name)('GET', '/orgs/wanted')).body.id, second.body.id);
      assert.equal((await atrium.as('root')('GET', '/orgs/given-up')).body.id, first.body.id);
      assert.equal((await atrium.as(two.name)('DELETE', '/orgs/wanted')).status, 204);
      assert.equal((await atrium.as('root')('DELETE', '/admin/reserved-names/wanted')).status, 204);
      assert.equal((await atrium.as(one.name)('PATCH', '/orgs/given-up', { username: 'wanted' })).status, 200);
    });
  });
}

describe('Organizations', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const TOO_LONG = 'x'.repeat(1001);
  const nobody = { status: 404, message: 'organization does not exist' };
  const name = (status: number, username: unknown, message: string | RegExp): Rejected => ({
    who: 'eve',
    send: ['POST', '/orgs', { username }],
    status,
    message,
  });
  const REFUSED: readonly Rejected[] = [
    { send: ['POST', '/orgs', { username: 'x' }], status: 401, message: 'token is required' },
    { send: ['GET', '/orgs'], status: 401, message: 'token is required' },
    name(422, 'acme', 'name is taken: acme'),
    name(422, 'ACME', 'name is taken: ACME'),
    name(422, 'bob', 'name is taken: bob'),
    name(422, 'api', 'name is reserved: api'),
    name(422, 'a..b', /^name must be 1 to 40/),
    name(422, '', /^name must be 1 to 40/),
    name(422, 'x'.repeat(41), /^name must be 1 to 40/),
    name(422, 7, 'username must be string'),
    name(422, null, 'username is required'),
    { who: 'eve', send: ['POST', '/orgs', {}], status: 422, message: 'username is required' },
    {
      who: 'eve',
      send: ['POST', '/orgs', { username: 'fine', visibility: 'secret' }],
      status: 422,
      message: 'visibility must be one of public, limited, private',
    },
    {
      who: 'eve',
      send: ['POST', '/orgs', { username: 'fine', website: 'javascript:alert(1)' }],
      status: 422,
      message: /^website must match pattern/,
    },
    {
      who: 'ann',
      send: ['PATCH', '/orgs/acme', { description: TOO_LONG }],
      status: 422,
      message: 'description must NOT have more than 1000 characters',
    },
    {
      who: 'ann',
      send: ['PATCH', '/orgs/acme', { username: 'globex' }],
      status: 422,
      message: 'name is taken: globex',
    },
    { who: 'ann', send: ['PATCH', '/orgs/acme', { username: 'new' }], status: 422, message: 'name is reserved: new' },
    { who: 'cat', send: ['PATCH', '/orgs/acme', {}], status: 403, message: 'missing relation edit:org' },
    { who: 'dan', send: ['PATCH', '/orgs/acme', {}], status: 403, message: 'missing relation edit:org' },
    { who: 'bob', send: ['DELETE', '/orgs/acme'], status: 403, message: 'missing relation delete:org' },
    { who: 'cat', send: ['DELETE', '/orgs/acme'], status: 403, message: 'missing relation delete:org' },
    { who: 'eve', send: ['GET', '/orgs/acme'], ...nobody },
    { who: 'eve', send: ['PATCH', '/orgs/acme', {}], ...nobody },
    { who: 'eve', send: ['DELETE', '/orgs/acme'], ...nobody },
    { who: 'root', send: ['DELETE', '/orgs/nothing'], ...nobody },
    { who: 'root', send: ['GET', '/orgs/bob'], ...nobody },
    { who: 'ann', send: ['GET', '/admin/orgs'], status: 403, message: 'only site administrators can call this route' },
    {
      who: 'ann',
      send: ['POST', '/admin/users/bob/orgs', { username: 'bobs' }],
      status: 403,
      message: 'only site administrators can call this route',
    },
    {
      who: 'root',
      send: ['POST', '/admin/users/nobody/orgs', { username: 'nobodys' }],
      status: 404,
      message: 'user does not exist',
    },
    {
      who: 'root',
      send: ['POST', '/admin/users/acme/orgs', { username: 'acmes' }],
      status: 404,
      message: 'user does not exist',
    },
  ];
  for (const refused of REFUSED) {
    const [method, path, body] = refused.send;
    it(`${method} ${path}${body ? ` ${JSON.stringify(body).slice(0, 40)}` : ''} by ${refused.who ?? 'an anonymous caller'} is rejected with ${refused.status}`, async () => {
      const before = (await atrium.as('root')('GET', '/admin/orgs')).text;
      await assertRejected(atrium, refused);
      assert.equal((await atrium.as('root')('GET', '/admin/orgs')).text, before);
    });
  }

  it('A rejected organization name is reported with its field', async () => {
    const answer = await atrium.as('eve')('POST', '/orgs', { username: 'acme' });
    assert.deepEqual(answer.body.errors, [{ field: 'username', message: 'name is taken: acme' }]);
  });

  it('An empty visibility, as Go clients send for an unset field, is treated as omitted', async () => {
    const { name: who } = await makePerson(atrium);
    const unsaid = { full_name: '', email: '', description: '', website: '', location: '', visibility: '' };
    const made = await atrium.as(who)('POST', '/orgs', { username: 'gopher', ...unsaid });
    assert.deepEqual([made.status, made.body.visibility], [201, 'public']);
    assert.equal((await atrium.as(who)('PATCH', '/orgs/gopher', { visibility: 'limited' })).status, 200);
    const edited = await atrium.as(who)('PATCH', '/orgs/gopher', { ...unsaid, full_name: null, visibility: '' });
    assert.deepEqual([edited.status, edited.body.visibility], [200, 'limited']);
  });

  it('Editors can edit an organization, and site administrators can create one for a user and list all', async () => {
    assert.equal((await atrium.as('bob')('PATCH', '/orgs/acme', { location: 'Berlin' })).body.location, 'Berlin');
    const made = await atrium.as('root')('POST', '/admin/users/Fan01/orgs', { username: 'fans' });
    assert.equal(made.status, 201, made.text);
    assert.equal((await atrium.as('root')('GET', `/orgs/fans/members/fan01`)).status, 204);
    assert.equal((await atrium.as('root')('GET', `/orgs/fans/members/root`)).status, 404);
    const all = await atrium.as('root')('GET', '/admin/orgs?limit=2');
    assert.deepEqual([all.body.length, all.body[0].name], [2, 'acme']);
    const total = Number(all.headers.get('x-total-count'));
    assert.ok(total >= 3);
    assert.match(all.headers.get('link') ?? '', /rel="next"/);
    const far = await atrium.as('root')('GET', '/orgs?page=99');
    assert.deepEqual([far.status, far.body, Number(far.headers.get('x-total-count'))], [200, [], total]);
    assert.deepEqual((await atrium.as('root')('GET', '/user/orgs')).body, []);
    const mine = await atrium.as('cat')('GET', '/orgs');
    assert.deepEqual(
      mine.body.map((one: { name: string }) => one.name),
      ['acme'],
    );
  });

  it('An organization write with an outdated ETag is rejected with 412 and changes nothing', async () => {
    const { name: who } = await makePerson(atrium);
    const { name: org } = await makeOrganization(atrium, who);
    const call = atrium.as(who);
    const old = (await call('GET', `/orgs/${org}`)).headers.get('etag') ?? '';
    const fresh = await call('PATCH', `/orgs/${org}`, { location: 'one' }, { 'If-Match': old });
    assert.equal(fresh.status, 200);
    assert.notEqual(fresh.headers.get('etag'), old);
    for (const send of [['PATCH', { location: 'two' }] as const, ['DELETE', undefined] as const]) {
      const answer = await call(send[0], `/orgs/${org}`, send[1], { 'If-Match': old });
      assert.deepEqual(
        [answer.status, answer.body.message],
        [412, 'the object has changed since you read it: read it again'],
      );
    }
    assert.equal((await call('GET', `/orgs/${org}`)).body.location, 'one');
    const tag = fresh.headers.get('etag') ?? '';
    const many = await Promise.all(
      Array.from({ length: 12 }, (_, place) =>
        call('PATCH', `/orgs/${org}`, { location: `${place}` }, { 'If-Match': tag }),
      ),
    );
    assert.equal(many.filter((answer) => answer.status === 200).length, 1);
    assert.equal(many.filter((answer) => answer.status === 412).length, 11);
  });

  it('Only one of several concurrent requests for the same organization name succeeds', async () => {
    const { name: who } = await makePerson(atrium);
    const made = await Promise.all(
      Array.from({ length: 12 }, () => atrium.as(who)('POST', '/orgs', { username: 'contested' })),
    );
    assert.deepEqual(made.map((answer) => answer.status).sort(), [201, ...Array(11).fill(422)]);
  });

  it('A robot account cannot create an organization', async () => {
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId: atrium.world.orgs.acme?.id ?? 0n,
      robotId: atrium.world.robots.ci ?? 0n,
      name: 'org maker',
      scopes: ['all'],
    });
    const answer = await atrium.call('POST', '/api/v1/orgs', { username: 'r2d2' }, { Authorization: `token ${text}` });
    assert.deepEqual([answer.status, answer.body.message], [403, 'robot accounts cannot call this route']);
  });
});
