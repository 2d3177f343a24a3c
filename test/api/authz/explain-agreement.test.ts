import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Model, readModel } from '../../../packages/rebac/src/rebac.ts';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';

const ABSENT = 999_999;
const CAST = ['root', 'ann', 'bob', 'cat', 'dan', 'eve'];

/** The whole list in the long suite, and a part that is spread over all of it in the everyday suite. */
function spread<T>(list: readonly T[]): readonly T[] {
  return list.filter((_, place) => place % COUNTS.agreementStep === 0);
}

describe('Agreement of explain, principals and allowed permissions', () => {
  let atrium: TestServer;
  let model: Model;
  let objects: readonly (readonly [type: string, id: number])[];
  before(async () => {
    atrium = await openTestServer();
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    const { orgs, clusters, contracts, robots, tokens } = atrium.world;
    objects = [
      ...Object.values(orgs).map((org) => ['organization', Number(org.id)] as const),
      ...Object.values(orgs).flatMap(({ teams }) => Object.values(teams).map((id) => ['team', Number(id)] as const)),
      ...Object.values(clusters).map(({ id }) => ['cluster', Number(id)] as const),
      ...Object.values(contracts).map((id) => ['contract', Number(id)] as const),
      ...Object.values(robots).map((id) => ['robot_ac', Number(id)] as const),
      ...Object.values(tokens).map((id) => ['token', Number(id)] as const),
      ...['organization', 'team', 'cluster', 'contract', 'robot_ac', 'token'].map((type) => [type, ABSENT] as const),
    ];
  });
  after(() => atrium.close());

  const shownOf = (type: string) =>
    (model.typeIndex.get(type)?.relations ?? []).flatMap(({ name }) => (name.startsWith('can_') ? [name] : []));
  const explain = (who: string, type: string, id: number, relation: string, org = 'acme') =>
    atrium.as(who)('GET', `/authz/objects/${type}/${id}/explain?org=${org}&relation=${relation}`);

  for (const [org, owner] of [
    ['acme', 'ann'],
    ['globex', 'eve'],
  ] as const) {
    it(`Explain agrees with the allowed permissions of the owner of ${org} and of other users`, async () => {
      let yes = 0;
      const questionsOf = (who: string) =>
        [['user', numbersOf(atrium).user(who)] as const, ...objects].map(([type, id]) => ({ who, type, id }));
      const others = CAST.filter((who) => who !== owner).flatMap(questionsOf);
      for (const { who, type, id } of [...questionsOf(owner), ...spread(others)]) {
        const held = await allowedTo(atrium, who, type, id, org);
        const answers = await Promise.all(shownOf(type).map((relation) => explain(who, type, id, relation, org)));
        const explained = answers.filter(({ body }) => body.allowed).map(({ body }) => body.relation);
        assert.deepEqual(explained, held, `${who} on ${type}:${id}`);
        for (const { body } of answers) assert.equal(body.steps.length > 0, body.allowed);
        yes += held.length;
      }
      assert.ok(yes > 40, `${yes} relations are held`);
    });

    it(`Principals include the owner of ${org} exactly for the relations that the owner holds`, async () => {
      for (const [type, id] of [...objects, ['user', numbersOf(atrium).user(owner)] as const]) {
        const held = await allowedTo(atrium, owner, type, id, org);
        for (const relation of spread(shownOf(type))) {
          const path = `/authz/objects/${type}/${id}/principals?org=${org}&relation=${relation}`;
          const answer = await atrium.as(owner)('GET', path);
          assert.equal(answer.status, 200, `${path}: ${answer.text}`);
          const names = answer.body.map(({ name }: { name: string }) => name);
          assert.equal(names.includes(owner), held.includes(relation), path);
        }
      }
    });
  }

  it('Explain reveals neither the existence nor the name of objects that the caller may not see', async () => {
    const blind = await makeHolder(atrium, [orgPermission('view members')]);
    const id = numbersOf(atrium);
    const foreign: Record<string, number[]> = {
      organization: [id.org('acme')],
      team: [id.team('Editors'), id.team('operators')],
      cluster: [id.cluster('prod'), id.cluster('laptop')],
      contract: [id.contract('acme')],
      robot_ac: [id.robot('ci')],
      token: [id.token('acme')],
    };
    for (const [who, org] of [
      ['eve', 'globex'],
      ['eve', 'acme'],
      [blind.name, 'globex'],
    ] as const) {
      for (const [type, ids] of Object.entries(foreign)) {
        for (const relation of spread(shownOf(type))) {
          const nothing = await explain(who, type, ABSENT, relation, org);
          for (const objectID of ids) {
            const answer = await explain(who, type, objectID, relation, org);
            const sentence = nothing.body.sentence.replace(String(ABSENT), String(objectID));
            const expected = { ...nothing.body, objectID, sentence };
            assert.deepEqual(answer.body, expected, `${who} ${type}:${objectID} ${relation}`);
          }
          assert.deepEqual([nothing.body.allowed, nothing.body.steps, nothing.body.missing], [false, [], []]);
        }
      }
    }
    for (const [type, ids] of Object.entries(foreign).filter(([each]) => /contract|robot_ac|token/.test(each))) {
      const inside = await explain(blind.name, type, ids[0] ?? 0, 'can_view');
      assert.deepEqual(inside.body.missing, [], `a member who may not see ${type}`);
    }
  });

  it('About objects that a caller may not see, explain and principals answer as about objects that do not exist', async () => {
    const blind = await makeHolder(atrium, [orgPermission('view members')]);
    const id = numbersOf(atrium);
    const hidden: Record<string, number[]> = {
      organization: [id.org('globex')],
      team: [id.team('Owners'), id.team('Viewers'), id.team('operators')],
      cluster: [id.cluster('prod'), id.cluster('laptop'), id.cluster('globex')],
      contract: [id.contract('acme')],
      robot_ac: [id.robot('ci')],
      token: [id.token('acme')],
    };
    const call = (path: string) => atrium.as(blind.name)('GET', path);
    for (const [type, ids] of Object.entries(hidden)) {
      for (const relation of spread(shownOf(type))) {
        for (const user of ['ann', 'bob', 'dan', 'eve', 'root']) {
          const ask = (one: number) =>
            call(`/authz/objects/${type}/${one}/explain?org=acme&relation=${relation}&user=${user}`);
          const nothing = (await ask(ABSENT)).body;
          assert.deepEqual([nothing.allowed, nothing.steps, nothing.missing], [false, [], []]);
          for (const objectID of user === 'ann' ? ids : ids.slice(0, 1)) {
            const sentence = nothing.sentence.replace(String(ABSENT), String(objectID));
            assert.deepEqual(
              (await ask(objectID)).body,
              { ...nothing, objectID, sentence },
              `${type} ${relation} ${user}`,
            );
          }
        }
        for (const objectID of [...ids, ABSENT]) {
          const found = await call(`/authz/objects/${type}/${objectID}/principals?org=acme&relation=${relation}`);
          const total = found.headers.get('x-total-count');
          assert.deepEqual([found.status, found.body, total], [200, [], '0'], `${type} ${objectID} ${relation}`);
        }
      }
    }
  });

  it('Explanations about others give neither names nor numbers of teams and roles that the caller may not see', async () => {
    const blind = await makeHolder(atrium, [orgPermission('view members')]);
    const path = (relation: string, user: string) =>
      `/authz/objects/organization/${numbersOf(atrium).org('acme')}/explain?org=acme&relation=${relation}&user=${user}`;
    const known = new Set([`team:${blind.teamId}`, `role:${blind.roleId}`]);
    let yes = 0;
    for (const user of ['ann', 'bob', 'cat', 'dan', 'root']) {
      for (const relation of spread(shownOf('organization'))) {
        const { body, text } = await atrium.as(blind.name)('GET', path(relation, user));
        const numbers = text.match(/(team|role):\d+/g) ?? [];
        assert.deepEqual(
          numbers.filter((one) => !known.has(one)),
          [],
          text,
        );
        assert.doesNotMatch(text, /Owners|Editors|Viewers|operators|cluster-operator/);
        const seen = (await atrium.as('ann')('GET', path(relation, user))).body;
        assert.deepEqual([body.allowed, body.steps.length], [seen.allowed, seen.steps.length]);
        yes += body.allowed ? 1 : 0;
      }
    }
    assert.ok(yes > (IS_LONG ? 50 : 5), `${yes} relations are held`);
    const { body } = await atrium.as(blind.name)('GET', path('can_delete', 'ann'));
    const sentence = 'ann can delete acme because ann is in the team (hidden), and owners of acme can delete it';
    assert.equal(body.sentence, sentence);
    const refused = await atrium.as(blind.name)('GET', path('can_edit', 'cat'));
    assert.deepEqual(refused.body.missing, ['cat would have to be a member of the team (hidden)']);
  });

  it('A preview shows no members of teams that the caller may not see', async () => {
    const maker = await makeHolder(atrium, [orgPermission('create roles'), orgPermission('edit')]);
    const edit = orgPermission('edit');
    const preview = (who: string, team: number) =>
      atrium.as(who)('POST', '/authz/roles/preview?org=acme', { name: 'x', permissions: [edit], teamIDs: [team] });
    const operators = numbersOf(atrium).team('operators');
    const seen = await preview('ann', operators);
    assert.deepEqual(
      seen.body.changes.map((one: { user: { name: string } }) => one.user.name),
      ['dan'],
    );
    for (const team of [operators, ABSENT]) {
      const answer = await preview(maker.name, team);
      assert.deepEqual([answer.status, answer.body], [200, { changes: [], total: 0 }]);
    }
    const own = await atrium.as(maker.name)('POST', '/authz/roles/preview?org=acme', {
      name: 'y',
      permissions: [orgPermission('view members')],
      teamIDs: [maker.teamId],
    });
    assert.deepEqual(
      own.body.changes.map((one: { user: { name: string } }) => one.user.name),
      [maker.name],
    );
  });

  it('Explain and principals requests about another user are rejected with 403', async () => {
    const { user } = numbersOf(atrium);
    for (const route of ['explain', 'principals']) {
      for (const id of [user('bob'), user('eve'), ABSENT]) {
        const answer = await atrium.as('ann')('GET', `/authz/objects/user/${id}/${route}?org=acme&relation=can_view`);
        assert.equal(answer.status, 403);
        assert.equal(answer.body.message, 'permissions cannot be queried on other users');
      }
    }
  });

  it('Explain treats the personal cluster of another user as missing, even for callers who may view members', async () => {
    const laptop = numbersOf(atrium).cluster('laptop');
    const asked = (id: number) =>
      atrium.as('bob')('GET', `/authz/objects/cluster/${id}/explain?org=acme&relation=can_view&user=ann`);
    const [theirs, absent] = [await asked(laptop), await asked(ABSENT)];
    const sentence = absent.body.sentence.replace(String(ABSENT), String(laptop));
    assert.deepEqual(theirs.body, { ...absent.body, objectID: laptop, sentence });
    assert.deepEqual([theirs.body.allowed, theirs.body.missing], [false, []]);
  });
});
