import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { COUNTS } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makeHolder, makeRole, orgPermission } from '../../support/world/authz.ts';
import { inHours } from '../../support/world/expiry.ts';
import { type Planned, randomChange, type Things } from '../../support/world/planned-changes.ts';

const QUESTIONS = COUNTS.previewsOfStrangers;
/** Of teams and roles that nobody in acme may know of. */
const FOREIGN = /canary/;
/** Of teams, roles and people of acme that only those who may see the members, teams and roles may know of. */
const INNER = /inner/;
const ABSENT = 999_999_999;

describe('What previews do not reveal', () => {
  let atrium: TestServer;
  let insiders: readonly string[];
  let things: Things;
  let foreign: readonly number[];
  before(async () => {
    atrium = await openTestServer();
    const { instance } = atrium;
    const team = async (org: string, name: string, members: readonly string[]) => {
      const owner = org === 'acme' ? 'ann' : 'eve';
      const { body } = await atrium.as(owner)('POST', `/orgs/${org}/teams`, { name, permission: 'none' });
      for (const login of members) await atrium.as(owner)('PUT', `/teams/${body.id}/members/${login}`);
      return body.id as number;
    };
    for (const name of ['inner1', 'inner2', 'canary1']) {
      await instance.features.users.create({ name, email: `${name}@example.com` });
    }
    const canary = await team('globex', 'canary team', ['canary1']);
    const inner = await team('acme', 'inner team', ['inner1', 'inner2', 'bob']);
    const permissions = [orgPermission('edit')];
    const globexRole = await makeRole(atrium, { name: 'canary role', permissions, teamIDs: [canary] }, 'globex', 'eve');
    const innerRole = await makeRole(atrium, { name: 'inner role', permissions, teamIDs: [inner] });
    const holders = [
      await makeHolder(atrium, [orgPermission('edit roles'), orgPermission('delete roles')]),
      await makeHolder(atrium, [orgPermission('create teams'), orgPermission('delete teams')]),
      await makeHolder(atrium, []),
    ];
    insiders = ['dan', ...holders.map(({ name }) => name)];
    const numbers = Object.values(atrium.world.orgs.acme?.teams ?? {}).map(Number);
    things = {
      users: ['ann', 'bob', 'dan', 'eve', ...insiders],
      teams: [...numbers, inner, canary, ...holders.map(({ teamId }) => teamId)].map((id) => ({ id, name: `t${id}` })),
      roles: [innerRole.body.id, globexRole.body.id, ...holders.map(({ roleId }) => roleId)].map((id) => ({
        id,
        name: `r${id}`,
      })),
      permissions: CATALOG.map(({ namespace, action }) => ({ namespace, action })),
      ends: [inHours(24), inHours(48)],
    };
    foreign = [canary, globexRole.body.id];
  });
  after(() => atrium.close());

  it(`${QUESTIONS} random previews name nothing that their caller may not see, with seed ${SEED}`, async () => {
    const random = createRandom();
    const answered = { yes: 0, no: 0, compared: 0 };
    for (let turn = 0; turn < QUESTIONS; turn++) {
      const who = random.pick(['ann', 'cat', ...insiders]);
      const length = 1 + random.below(3);
      const changes = Array.from({ length }, (_, place) => randomChange(random, things, `mine ${turn} ${place}`));
      const title = `${who} ${JSON.stringify(changes)}`;
      const answer = await atrium.as(who)('POST', '/authz/preview?org=acme', { changes });
      assert.doesNotMatch(answer.text, FOREIGN, title);
      assert.ok(answer.status < 500, `${title} ${answer.text}`);
      if (answer.status === 200) answered.yes++;
      else answered.no++;
      if (insiders.includes(who) && answer.status === 200) {
        assert.deepEqual(answer.body.unattended, [], title);
        // Whoever may manage teams sees them, and who is in them.
        if (who === 'dan' || who === insiders.at(-1)) assert.doesNotMatch(answer.text, INNER, title);
      }
      const absent = changes.map(withoutForeign);
      if (JSON.stringify(absent) === JSON.stringify(changes)) continue;
      answered.compared++;
      const other = await atrium.as(who)('POST', '/authz/preview?org=acme', { changes: absent });
      const plain = (text: string) =>
        text.replaceAll(new RegExp(`\\b(${[...foreign, ABSENT].join('|')})\\b`, 'g'), 'N');
      assert.deepEqual([answer.status, plain(answer.text)], [other.status, plain(other.text)], title);
    }
    for (const [what, count] of Object.entries(answered)) assert.ok(count > 0, `${what}: ${count}`);
  });

  it('Nobody outside an organization previews anything in it', async () => {
    const change = { action: 'member.remove', username: 'eve' };
    assert.equal((await atrium.as('eve')('POST', '/authz/preview?org=acme', { changes: [change] })).status, 403);
    assert.equal((await atrium.as()('POST', '/authz/preview?org=acme', { changes: [change] })).status, 401);
  });

  /** The same change about something that does not exist, instead of something of another organization. */
  function withoutForeign(change: Planned): Planned {
    const swap = (id: number) => (id === foreign[0] ? ABSENT : id);
    return {
      ...change,
      ...(change.id !== undefined && { id: isForeign(change) ? ABSENT : change.id }),
      ...(typeof change.team === 'number' && { team: change.team === foreign[0] ? ABSENT : change.team }),
      ...(change.role && {
        role: { ...change.role, ...(change.role.teamIDs && { teamIDs: change.role.teamIDs.map(swap) }) },
      }),
    };
  }

  function isForeign({ action, id }: Planned): boolean {
    return id === (action.startsWith('role.') ? foreign[1] : foreign[0]);
  }
});
