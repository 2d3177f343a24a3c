import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { OBJECT_TYPES } from '../../src/changes/object-kinds.ts';
import { matchGolden } from '../support/checks/golden.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { type Holdings, holdingsOf, tableOf } from '../support/world/matrix.ts';

const GOLDEN = 'test/contract/matrix.txt';
const CAST = ['root', 'ann', 'bob', 'cat', 'dan', 'eve', 'mia', 'zed'];
const HEAD = `Who may do what in the demo world: every object, every relation that somebody holds on it, every person.
root runs the deployment, ann owns acme, bob is in Editors, cat in Viewers, dan in operators with the role
cluster-operator, eve owns globex, mia is inactive, zed is prohibited; fan01 stands for all the others.
mia and zed are refused at the door, whatever they hold. Everybody has can_view and can_edit on themselves alone.
Made anew by: UPDATE_GOLDEN=1 npm test -- test/contract/matrix.test.ts
`;

describe('Permissions in the demo world', () => {
  let atrium: TestServer;
  let model: Model;
  let holdings: readonly Holdings[];
  before(async () => {
    atrium = await openTestServer();
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    holdings = await holdingsOf(atrium, model, peopleOf([...CAST, 'fan01']));
  });
  after(() => atrium.close());

  const peopleOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, atrium.world.users[name]?.id ?? 0n]));

  it('The permissions in the demo world match the reviewed matrix.txt', () => {
    const text = `${[HEAD, ...holdings.map((one) => `${tableOf(one, model)}\n`)].join('\n')}`;
    matchGolden(GOLDEN, text);
  });

  it('The API returns the permissions listed in the matrix', async () => {
    const asked = holdings.filter(({ type }) => OBJECT_TYPES.some((known) => known === type));
    assert.ok(asked.length >= 20);
    for (const who of CAST.filter((name) => name !== 'mia' && name !== 'zed')) {
      for (const org of ['acme', 'globex']) {
        const here = asked.filter(({ owner }) => owner === org || !(owner in atrium.world.orgs));
        const objects = here.map(({ type, id }) => ({ objectType: type, objectID: Number(id) }));
        const answer = await atrium.as(who)('POST', `/authz/objects/allowed-permissions?org=${org}`, objects);
        assert.deepEqual(
          answer.body.map((entry: { allowedPermissions: string[] }) => entry.allowedPermissions),
          here.map(({ held }) => [...(held.get(who) ?? [])].filter((relation) => relation.startsWith('can_'))),
          `${who} in ${org}`,
        );
      }
    }
  });

  it('The call for a matrix returns the same, in its own form', async () => {
    for (const [org, owner] of [
      ['acme', 'ann'],
      ['globex', 'eve'],
    ] as const) {
      for (const type of OBJECT_TYPES.filter((one) => one !== 'user')) {
        const answer = await atrium.as(owner)('POST', `/authz/matrix?org=${org}`, { type, users: [...CAST] });
        assert.equal(answer.status, 200, answer.text);
        const { relations, users, objects, cells } = answer.body;
        const here = holdings.filter((one) => one.owner === org && one.type === type);
        assert.deepEqual(
          objects,
          here.map(({ id, name }) => ({ id: Number(id), name })).sort((one, other) => one.id - other.id),
        );
        for (const [row, user] of users.entries()) {
          for (const [column, object] of objects.entries()) {
            const held = here.find(({ id }) => Number(id) === object.id)?.held.get(user.name) ?? new Set();
            const expected = relations.filter((relation: string) => held.has(relation));
            const given = relations.filter(
              (_: string, index: number) => Math.floor(cells[row][column] / 2 ** index) % 2,
            );
            assert.deepEqual(given, expected, `${user.name} on ${type} ${object.name}`);
          }
        }
      }
    }
  });

  it('Users without any membership have no permissions on any object in the matrix', async () => {
    const fans = Object.keys(atrium.world.users).filter((name) => name.startsWith('fan'));
    assert.equal(fans.length, 45);
    for (const { held } of await holdingsOf(atrium, model, peopleOf(fans))) {
      for (const relations of held.values()) assert.ok(![...relations].some((relation) => relation.startsWith('can_')));
    }
  });
});
