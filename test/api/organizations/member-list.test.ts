import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, makeHolder, numbersOf, orgPermission, type Rejected } from '../../support/world/authz.ts';

interface Listed {
  readonly login: string;
  readonly teams: readonly { readonly id: number }[];
}

const names = (body: { login: string }[]) => body.map((user) => user.login);

describe('The list of members', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  it('The list of members shows and accepts only teams that the caller may see', async () => {
    const { name: who, teamId } = await makeHolder(atrium, [orgPermission('view members')]);
    const { status, body } = await atrium.as(who)('GET', '/orgs/acme/members?limit=50');
    assert.equal(status, 200);
    const shown = new Map<string, number[]>(
      body.map(({ login, teams }: Listed) => [login, teams.map((team) => team.id)] as const),
    );
    assert.deepEqual([shown.get('ann'), shown.get('dan'), shown.get(who)], [[], [], [teamId]]);
    assert.deepEqual(names((await atrium.as(who)('GET', `/orgs/acme/members?team=${teamId}`)).body), [who]);

    const unseen = (team: string | number) => `not a team of the organization: ${team}`;
    const globex = id.team('traders', 'globex');
    const refused: Rejected[] = [
      ...['Owners', id.team('Owners'), 'operators', id.team('operators'), 'nothing', 999_999, globex, 'traders'].map(
        (team) => ({
          who,
          send: ['GET', `/orgs/acme/members?team=${team}`] as const,
          status: 400,
          message: unseen(team),
        }),
      ),
      { who: 'ann', send: ['GET', '/orgs/acme/members?team=traders'], status: 400, message: unseen('traders') },
      { who: 'ann', send: ['GET', `/orgs/acme/members?team=${globex}`], status: 400, message: unseen(globex) },
      { who: 'ann', send: ['GET', '/orgs/acme/members?team='], status: 400, message: unseen('') },
      {
        who: 'ann',
        send: ['GET', `/orgs/acme/members?team=${'9'.repeat(30)}`],
        status: 400,
        message: unseen('9'.repeat(30)),
      },
      {
        who: 'ann',
        send: ['GET', '/orgs/acme/members?sort=email'],
        status: 400,
        message: 'sort must be one of name, joined',
      },
      {
        who: 'ann',
        send: ['GET', '/orgs/acme/members?sort='],
        status: 400,
        message: 'sort must be one of name, joined',
      },
      {
        who: 'ann',
        send: ['GET', '/orgs/acme/members?order=up'],
        status: 400,
        message: 'order must be one of asc, desc',
      },
      { who: 'ann', send: ['GET', '/orgs/acme/members?q=a&q=b'], status: 400, message: 'q must be string' },
      {
        who: 'dan',
        send: ['GET', '/orgs/acme/members?q=a'],
        status: 403,
        message: 'missing relation view_members:org',
      },
    ];
    for (const one of refused) await assertRejected(atrium, one);
    // Everyone of acme sees what the team list shows them, and a new team is seen at once.
    const made = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: '2026', permission: 'none' });
    await atrium.as('ann')('PUT', `/teams/${made.body.id}/members/dan`);
    const dan = (await atrium.as('cat')('GET', '/orgs/acme/members?q=dan')).body[0];
    assert.deepEqual(
      dan.teams.map((team: { name: string }) => team.name),
      ['2026', 'operators'],
    );
    // A text of digits is an ID, so a team with such a name can be named by its ID only.
    assert.deepEqual(names((await atrium.as('cat')('GET', `/orgs/acme/members?team=${made.body.id}`)).body), ['dan']);
    await assertRejected(atrium, {
      who: 'cat',
      send: ['GET', '/orgs/acme/members?team=2026'],
      status: 400,
      message: unseen('2026'),
    });
  });
});
