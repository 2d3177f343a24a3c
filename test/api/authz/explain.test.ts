import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const CROWD = sql(
  'test.crowd',
  `with made as (insert into account (kind, name) select 'user', 'crowd' || n from generate_series(1, $2::integer) n returning id)
   insert into team_member (team_id, account_id) select $1, id from made`,
);

interface Row {
  readonly rule: string;
  readonly name: string;
  readonly subject_name: string;
  readonly tuple: { readonly relation: string } | null;
}

describe('Explain, principals and role preview', () => {
  let atrium: TestServer;
  let prod: bigint;
  before(async () => {
    atrium = await openTestServer();
    prod = atrium.world.clusters.prod?.id ?? 0n;
  });
  after(() => atrium.close());

  it('Explain shows the team and the role through which a user holds a permission', async () => {
    const { status, body } = await atrium.as('dan')(
      'GET',
      `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_connect`,
    );
    assert.equal(status, 200);
    assert.equal(body.allowed, true);
    assert.equal(body.userID, Number(atrium.world.users.dan?.id));
    const texts = body.steps.map((step: { text: string }) => step.text).join('\n');
    assert.match(texts, /can connect to prod/);
    assert.match(texts, /role cluster-operator/);
    assert.match(texts, /dan is in the team operators/);
    assert.deepEqual(body.missing, []);
  });

  it('Explain reports the nearest missing relation without names the caller may not see', async () => {
    const url = `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_edit`;
    const { body } = await atrium.as('cat')('GET', url);
    assert.equal(body.allowed, false);
    assert.deepEqual(body.steps, []);
    assert.deepEqual(body.missing, ['cat would have to be a member of the team Editors']);
    const unnamed = await atrium.as('dan')('GET', url);
    assert.deepEqual(unnamed.body.missing, [
      `dan would have to be a member of team:${atrium.world.orgs.acme?.teams.Editors}`,
    ]);
  });

  it('Each step of an explanation has its row and its names', async () => {
    const { body } = await atrium.as('ann')(
      'GET',
      `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_connect&user=dan`,
    );
    const rows = body.steps.map(({ tuple, name, subject_name }: Row) => [tuple?.relation, name, subject_name]);
    assert.deepEqual(rows, [
      ['organization', 'prod', 'acme'],
      ['can_connect_clusters', 'acme', 'cluster-operator'],
      ['assignee', 'cluster-operator', 'operators'],
      ['member', 'operators', 'dan'],
    ]);
    assert.deepEqual([body.needs, body.excluded_by, body.trail], [[], [], []]);
    const ruled = await atrium.as('ann')('GET', `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_view`);
    assert.ok(ruled.body.steps.some(({ tuple, rule }: Row) => tuple === null && rule === 'computed'));
  });

  it('What is missing is also data, and its trail names no team that the caller may not see', async () => {
    const url = `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_edit`;
    const editors = atrium.world.orgs.acme?.teams.Editors;
    const told = await atrium.as('cat')('GET', url);
    const [need] = told.body.needs;
    assert.deepEqual([need.object, need.object_name, need.user_name], [`team:${editors}`, 'Editors', 'cat']);
    assert.match(JSON.stringify(told.body.trail), new RegExp(`team:${editors}#member`));
    const blind = await atrium.as('dan')('GET', url);
    assert.equal(blind.body.needs.length, 1);
    assert.doesNotMatch(JSON.stringify(blind.body.trail), /(team|role):\d/);
    assert.match(JSON.stringify(blind.body.trail), /team:hidden#member/);
  });

  it('An obstacle is listed with the relation that excludes the user', async () => {
    const { body } = await atrium.as('ann')('GET', '/authz/objects/organization/9/explain?org=acme&relation=can_leave');
    assert.deepEqual(body.excluded_by, [{ object: 'organization:9', relation: 'last_owner', name: 'acme' }]);
  });

  it('Explain reports that the last owner cannot leave the organization', async () => {
    const { body } = await atrium.as('ann')('GET', '/authz/objects/organization/9/explain?org=acme&relation=can_leave');
    assert.equal(body.allowed, false);
    assert.match(body.missing.join(), /the organization acme would need another owner/);
  });

  it('Only callers who may view members can request an explanation about another user', async () => {
    const url = `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_view`;
    const asked = await atrium.as('cat')('GET', `${url}&user=DAN`);
    assert.equal(asked.body.userID, Number(atrium.world.users.dan?.id));
    assert.equal((await atrium.as('dan')('GET', `${url}&user=cat`)).status, 403);
    assert.equal((await atrium.as('eve')('GET', `${url}&user=nobody`)).status, 403);
    assert.equal((await atrium.as('ann')('GET', `${url}&user=nobody`)).status, 404);
  });

  it('Users who hold a relation are listed in pages, only to callers who may view members', async () => {
    const url = `/authz/objects/cluster/${prod}/principals?org=acme&relation=can_view`;
    const all = await atrium.as('ann')('GET', url);
    const names = all.body.map((one: { name: string }) => one.name);
    assert.deepEqual(names, ['root', 'ann', 'bob', 'cat', 'dan']);
    assert.equal(all.headers.get('x-total-count'), '5');
    assert.equal(all.headers.get('link'), null);
    const second = await atrium.as('ann')('GET', `${url}&limit=2&page=2`);
    assert.deepEqual(
      second.body.map((one: { name: string }) => one.name),
      ['bob', 'cat'],
    );
    assert.match(second.headers.get('link') ?? '', /page=3>; rel="next".*page=1>; rel="prev"/);
    assert.equal((await atrium.as('dan')('GET', url)).status, 403);
  });

  it('Users who hold a relation are listed with those of the further relations that they hold too', async () => {
    const url = `/authz/objects/cluster/${prod}/principals?org=acme&relation=can_view`;
    const { body } = await atrium.as('ann')('GET', `${url}&also=can_edit,can_connect,can_edit`);
    const holders = new Map(body.map((one: { name: string; also: string[] }) => [one.name, one.also]));
    for (const relation of ['can_edit', 'can_connect']) {
      const alone = await atrium.as('ann')('GET', url.replace('can_view', relation));
      const names = alone.body.map((one: { name: string }) => one.name);
      const found = [...holders].filter(([, also]) => (also as string[]).includes(relation)).map(([name]) => name);
      assert.deepEqual(found, names, relation);
    }
    assert.deepEqual(holders.get('ann'), ['can_edit', 'can_connect']);
    assert.ok(!('also' in (await atrium.as('ann')('GET', url)).body[0]));
    const many = Array.from({ length: 11 }, (_, index) => `can_${index}`).join();
    for (const [also, message] of [
      ['can_edit,can_fly', /cluster has no relation "can_fly"/],
      ['organization', /cluster has no relation "organization"/],
      [many, /at most 10 relations/],
    ] as const) {
      const refused = await atrium.as('ann')('GET', `${url}&also=${also}`);
      assert.equal(refused.status, 400, also);
      assert.match(refused.body.message, message);
    }
  });

  it('Explain and principals reject unknown, internal and missing relations with 400', async () => {
    const team = atrium.world.orgs.acme?.teams.Owners;
    for (const route of ['explain', 'principals']) {
      const answer = await atrium.as('ann')('GET', `/authz/objects/cluster/${prod}/${route}?org=acme&relation=can_fly`);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, /cluster has no relation "can_fly"/);
      for (const structural of ['kept', 'built_in', 'member', 'organization']) {
        const hidden = await atrium.as('ann')(
          'GET',
          `/authz/objects/team/${team}/${route}?org=acme&relation=${structural}`,
        );
        assert.equal(hidden.status, 400, hidden.text);
        assert.equal(hidden.body.message, `team has no relation "${structural}"`);
      }
    }
    assert.equal((await atrium.as('ann')('GET', `/authz/objects/cluster/${prod}/explain?org=acme`)).status, 400);
  });

  it('A preview reports the effect of creating, updating or deleting a role without writing anything', async () => {
    const acme = atrium.world.orgs.acme;
    const preview = (body: object, name = 'ann') => atrium.as(name)('POST', '/authz/roles/preview?org=acme', body);
    const connect = { namespace: 'cluster_mgmt', action: 'connect to clusters' };
    const view = { namespace: 'cluster_mgmt', action: 'view clusters' };
    const edit = { namespace: 'org_mgmt', action: 'edit' };
    const dan = { id: Number(atrium.world.users.dan?.id), name: 'dan' };
    const before = await atrium.as('ann')('GET', '/authz/roles?org=acme');

    const made = await preview({ name: 'x', permissions: [edit], teamIDs: [Number(acme?.teams.operators)] });
    assert.deepEqual(made.body, { changes: [{ user: dan, gains: [edit], loses: [] }], total: 1 });
    const id = Number(acme?.roles['cluster-operator']);
    const changed = await preview({ id, permissions: [view, edit] });
    assert.deepEqual(changed.body, { changes: [{ user: dan, gains: [edit], loses: [connect] }], total: 1 });
    const removed = await preview({ id, delete: true });
    assert.deepEqual(removed.body, { changes: [{ user: dan, gains: [], loses: [view, connect] }], total: 1 });
    assert.equal((await preview({ id: 99, delete: true })).status, 404);
    assert.equal((await preview({ delete: true })).status, 400);
    assert.equal((await preview({ id, delete: true }, 'cat')).status, 403);
    assert.equal((await preview({ id, delete: true }, 'eve')).status, 403);
    assert.deepEqual((await atrium.as('ann')('GET', '/authz/roles?org=acme')).body, before.body);
  });

  it('Thousands of users who hold a relation are all listed, in the order of their IDs', async () => {
    const viewers = atrium.world.orgs.acme?.teams.Viewers ?? 0n;
    await atrium.instance.revisions.write(async (query, touch) => {
      await query(CROWD, [viewers, 5050]);
      touch({ kind: 'team', id: viewers, organizationId: atrium.world.orgs.acme?.id ?? 0n });
    });
    const url = `/authz/objects/cluster/${prod}/principals?org=acme&relation=can_view&limit=50`;
    const last = await atrium.as('ann')('GET', `${url}&page=102`);
    assert.equal(last.headers.get('x-total-count'), '5055');
    assert.deepEqual(
      last.body.map((one: { name: string }) => one.name),
      ['crowd5046', 'crowd5047', 'crowd5048', 'crowd5049', 'crowd5050'],
    );
  });
});
