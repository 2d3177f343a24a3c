import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember, createTeam, removeMember } from '../../support/world/people.ts';

/** More than are read at once, and their names are in another order than their IDs. */
const JOIN_MANY = sql(
  'test.joinMany',
  `with made as (
     insert into account (kind, name) select 'organization', 'many' || (n * 7919) % 1010 from generate_series(1, 1010) n returning id
   ), teams as (
     insert into team (organization_id, name, permission, type)
     select id, name, permission, 'custom' from made, (values ('apes', 'read'), ('owners', 'owner')) as t (name, permission)
     returning id
   )
   insert into team_member (team_id, account_id) select id, $1 from teams`,
);

for (const driver of API_DRIVERS) {
  describe(`Teams and organizations of the caller on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const id = (name: string) => atrium.world.users[name]?.id ?? 0n;
    const teams = (name: string, query = '') => atrium.as(name)('GET', `/user/teams${query}`);
    const titles = (body: { name: string; organization: { username: string } }[]) =>
      body.map((team) => `${team.organization.username}/${team.name}`);

    it(`A team is returned with its organization, permission, units, type and roles on ${driver}`, async () => {
      const { acme } = atrium.world.orgs;
      const [team, ...others] = (await teams('dan')).body;
      assert.deepEqual(others, []);
      assert.deepEqual(team, {
        id: Number(acme?.teams.operators),
        name: 'operators',
        description: 'Keeps the clusters running.',
        organization: {
          id: Number(acme?.id),
          name: 'acme',
          username: 'acme',
          full_name: 'Acme Corporation',
          avatar_url: `${atrium.url}/avatars/acme`,
          description: '',
          website: '',
          location: '',
          visibility: 'public',
          orgType: '',
        },
        permission: 'none',
        units: [],
        type: 'custom',
        role_ids: [Number(acme?.roles['cluster-operator'])],
        member_count: 1,
      });
      const [owners] = (await teams('ann')).body;
      assert.deepEqual(
        [owners.name, owners.permission, owners.type, owners.role_ids],
        ['Owners', 'owner', 'builtin', []],
      );
    });

    it(`Teams are sorted by organization, Owners first, then by name, ignoring case, on ${driver}`, async () => {
      const { instance } = atrium;
      for (const name of ['Zeta', 'alpha', 'Beta']) {
        const made = await instance.features.organizations.create({ name, founderId: id('cat') });
        for (const team of ['zebra', 'Ape', 'bee']) {
          const teamId = await createTeam(instance, { organizationId: made.id, name: team, permission: 'read' });
          await addMember(instance, teamId, id('cat'));
        }
      }
      const sorted = ['Owners', 'Ape', 'bee', 'zebra'];
      assert.deepEqual(titles((await teams('cat')).body), [
        'acme/Viewers',
        ...['alpha', 'Beta', 'Zeta'].flatMap((name) => sorted.map((team) => `${name}/${team}`)),
      ]);
    });

    it(`Teams are returned in full unless paging is requested on ${driver}`, async () => {
      const whole = await teams('cat');
      assert.deepEqual(
        [whole.body.length, whole.headers.get('x-total-count'), whole.headers.get('link')],
        [13, '13', null],
      );
      const page = await teams('cat', '?page=2&limit=5');
      assert.deepEqual(page.body, whole.body.slice(5, 10));
      assert.equal(page.headers.get('x-total-count'), '13');
      assert.match(page.headers.get('link') ?? '', /rel="next",.*rel="last",.*rel="first",.*rel="prev"$/);
      assert.deepEqual((await teams('cat', '?page=9')).body, []);
      assert.equal((await teams('cat', '?page=0&limit=0')).body.length, 13);
    });

    it(`Callers, including the site administrator, see only the teams they belong to on ${driver}`, async () => {
      assert.deepEqual(titles((await teams('eve')).body), ['globex/Owners']);
      assert.equal((await teams('root')).text, '[]');
    });

    it(`A removed team member immediately loses viewpoint of the team and its organization on ${driver}`, async () => {
      const { Editors = 0n } = atrium.world.orgs.acme?.teams ?? {};
      assert.equal((await teams('bob')).body.length, 1);
      await removeMember(atrium.instance, Editors, id('bob'));
      assert.equal((await teams('bob')).text, '[]');
      assert.equal((await atrium.as('bob')('GET', '/user/settings/organizations')).text, '[]');
      await addMember(atrium.instance, Editors, id('bob'));
    });

    it(`Each organization of the caller is listed once, in order of id, on ${driver}`, async () => {
      const { body } = await atrium.as('cat')('GET', '/user/settings/organizations');
      assert.deepEqual(
        body.map(({ username }: { username: string }) => username),
        ['acme', 'Zeta', 'alpha', 'Beta'],
      );
      assert.deepEqual(body[0], (await teams('cat')).body[0].organization);
      assert.equal((await atrium.as('root')('GET', '/user/settings/organizations')).text, '[]');
    });

    it(`More teams and organizations than are read at once are returned in full and in order on ${driver}`, async () => {
      await atrium.instance.db.query(JOIN_MANY, [id('eve')]);
      const names = Array.from({ length: 1010 }, (_, number) => `many${number}`).sort();
      const whole = await teams('eve');
      assert.deepEqual(titles(whole.body), [
        'globex/Owners',
        ...names.flatMap((name) => [`${name}/owners`, `${name}/apes`]),
      ]);
      assert.equal(whole.headers.get('x-total-count'), '2021');
      for (const page of [1, 20, 41]) {
        const part = await teams('eve', `?limit=50&page=${page}`);
        assert.deepEqual(part.body, whole.body.slice((page - 1) * 50, page * 50));
        assert.equal(part.headers.get('x-total-count'), '2021');
      }
      const { body } = await atrium.as('eve')('GET', '/user/settings/organizations');
      const organizations = new Map(
        whole.body.map(({ organization }: { organization: { id: number } }) => [organization.id, organization]),
      );
      assert.deepEqual(
        body,
        [...organizations.keys()].sort((a, b) => Number(a) - Number(b)).map((one) => organizations.get(one)),
      );
    });
  });
}
