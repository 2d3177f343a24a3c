import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';

interface Effect {
  readonly object: { readonly type: string; readonly name: string };
  readonly relation: string;
}

/** `type name can_do`, for each effect. */
const words = (effects: readonly Effect[]) =>
  effects.map(({ object, relation }) => `${object.type} ${object.name} ${relation}`);

describe('Impact of changes before they are made', () => {
  let atrium: TestServer;
  let ids: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    ids = numbersOf(atrium);
  });
  after(() => atrium.close());

  const ask = (changes: readonly object[], who = 'ann', more: object = {}): Promise<Answer> =>
    atrium.as(who)('POST', '/authz/preview?org=acme', { changes, ...more });

  async function impact(changes: readonly object[], who = 'ann') {
    const { status, body, text } = await ask(changes, who);
    assert.equal(status, 200, text);
    const people = Object.fromEntries(
      body.users.map((one: { user: { name: string }; gains: Effect[]; loses: Effect[] }) => [
        one.user.name,
        { gains: words(one.gains), loses: words(one.loses) },
      ]),
    );
    return { people, unattended: words(body.unattended), refusals: body.refusals, total: body.total, body };
  }

  it('Changing a role shows the permissions that each person gains and loses', async () => {
    const role = { permissions: [clusterPermission('view clusters'), orgPermission('edit')] };
    const { body } = await impact([{ action: 'role.update', id: ids.role('cluster-operator'), role }]);
    const acme = { type: 'organization', id: ids.org('acme'), name: 'acme' };
    assert.deepEqual(body, {
      users: [
        {
          user: { id: ids.user('dan'), name: 'dan' },
          gains: [{ object: acme, relation: 'can_edit', permission: orgPermission('edit') }],
          loses: [
            { object: acme, relation: 'can_connect_clusters', permission: clusterPermission('connect to clusters') },
          ],
          keeps: [],
          more: 0,
        },
      ],
      total: 1,
      unattended: [],
      refusals: [],
      guardrails: [],
    });
  });

  it('Removing somebody from their only team shows what they lose on the organization, the team and its role', async () => {
    const { people } = await impact([{ action: 'team.remove_member', id: ids.team('operators'), username: 'dan' }]);
    assert.deepEqual(people, {
      dan: {
        gains: [],
        loses: [
          'organization acme can_view',
          'organization acme can_leave',
          'organization acme can_view_clusters',
          'organization acme can_connect_clusters',
          'team operators can_view',
          'role cluster-operator can_view',
        ],
      },
    });
  });

  it('Changes apply one after the other, and later ones can name what earlier ones create', async () => {
    const { people } = await impact([
      { action: 'team.create', team: { name: 'callers', permission: 'none', members: ['eve'] } },
      { action: 'role.create', role: { name: 'call', permissions: [orgPermission('edit')], teams: [-1] } },
      { action: 'team.add_member', id: -1, username: 'dan' },
      { action: 'team.remove_member', id: -1, username: 'eve' },
    ]);
    assert.deepEqual(people, {
      dan: { gains: ['organization acme can_edit', 'team callers can_view', 'role call can_view'], loses: [] },
    });
  });

  it('Every action can be previewed, and changes nothing', async () => {
    const [team, role] = [ids.team('operators'), ids.role('cluster-operator')];
    const state = async () => [
      (await atrium.as('ann')('GET', '/authz/roles?org=acme')).text,
      (await atrium.as('ann')('GET', '/orgs/acme/teams')).text,
      (await atrium.as('ann')('GET', '/orgs/acme/members')).text,
    ];
    const before = await state();
    const document =
      'apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles:\n- name: guide\n  permissions:\n    org_mgmt: [edit]\n  teams: [operators]\n';
    const dan = async (change: object) => (await impact([change])).people.dan;
    assert.deepEqual((await dan({ action: 'role.delete', id: role }))?.loses, [
      'organization acme can_view_clusters',
      'organization acme can_connect_clusters',
      'role cluster-operator can_view',
    ]);
    assert.equal((await dan({ action: 'role.unassign', id: role, team }))?.loses.length, 3);
    const assigned = await impact([{ action: 'role.assign', id: role, team: ids.team('Viewers') }]);
    assert.deepEqual(assigned.people, {}, 'viewers can do all that already');
    assert.equal((await dan({ action: 'team.update', id: team, team: { permission: 'admin' } }))?.gains.length, 32);
    assert.equal((await dan({ action: 'team.delete', id: team }))?.loses.length, 6);
    assert.equal((await dan({ action: 'member.remove', username: 'dan' }))?.loses.length, 6);
    assert.ok(
      (await dan({ action: 'member.add', username: 'dan', team: 'Editors' }))?.gains.includes(
        'team Viewers can_add_member',
      ),
    );
    assert.ok((await impact([{ action: 'member.add', username: 'eve' }])).people.eve?.gains.length > 5);
    assert.deepEqual(await dan({ action: 'roles.import', document, prune: true }), {
      gains: ['organization acme can_edit', 'role guide can_view'],
      loses: [
        'organization acme can_view_clusters',
        'organization acme can_connect_clusters',
        'role cluster-operator can_view',
      ],
    });
    assert.deepEqual(await state(), before);
  });

  it('The last owner who leaves sees what no user could do any more', async () => {
    const leave = { action: 'member.remove', username: 'ann' };
    const { unattended, refusals } = await impact([leave]);
    for (const one of ['organization acme can_delete', 'organization acme can_edit_roles']) {
      assert.ok(unattended.includes(one), `${one} is not in ${unattended}`);
    }
    assert.ok(!unattended.includes('organization acme can_edit'), 'bob can still edit it');
    assert.ok(
      unattended.every((one: string) => one.startsWith('organization ')),
      'the rest follows',
    );
    assert.equal(refusals.length, 1);
    assert.deepEqual(
      { ...refusals[0], message: '' },
      { change: 0, field: 'changes[0].username', reason: 'last_owner', message: '' },
    );
    assert.deepEqual((await impact([{ ...leave, orphan: true }])).refusals, []);
    const second = { action: 'team.add_member', id: ids.team('Owners'), username: 'bob' };
    assert.deepEqual((await impact([second, leave])).refusals, []);
  });

  it('What the real call would reject is reported next to the impact', async () => {
    const holder = await makeHolder(atrium, [orgPermission('edit roles'), orgPermission('edit teams')]);
    const role = { permissions: [orgPermission('remove members')] };
    const cases: readonly (readonly [change: object, who: string, field: string, reason: string])[] = [
      [{ action: 'team.delete', id: ids.team('Editors') }, 'ann', 'id', 'conflict'],
      [{ action: 'team.update', id: ids.team('Editors'), team: { permission: 'read' } }, 'ann', 'id', 'conflict'],
      [{ action: 'team.create', team: { name: 'OPERATORS' } }, 'ann', 'team.name', 'name_taken'],
      [
        { action: 'team.update', id: ids.team('operators'), team: { name: 'viewers' } },
        'ann',
        'team.name',
        'name_taken',
      ],
      [{ action: 'role.create', role: { name: 'Cluster-Operator' } }, 'ann', 'role.name', 'name_taken'],
      [{ action: 'team.remove_member', id: ids.team('Owners'), username: 'ann' }, 'ann', 'username', 'last_owner'],
      [{ action: 'member.remove', username: 'ann' }, 'root', 'username', 'last_owner'],
      [{ action: 'role.update', id: ids.role('cluster-operator'), role }, holder.name, 'role', 'escalation'],
      [
        { action: 'team.update', id: ids.team('operators'), team: { permission: 'admin' } },
        holder.name,
        'team.permission',
        'escalation',
      ],
    ];
    for (const [change, who, field, reason] of cases) {
      const { refusals } = await impact([change], who);
      assert.deepEqual(
        refusals.map((one: { field: string; reason: string }) => [one.field, one.reason]),
        [[`changes[0].${field}`, reason]],
        JSON.stringify(change),
      );
    }
  });

  it('Each change needs the relation of its own call, and what the caller may not see does not exist', async () => {
    const [team, role] = [ids.team('operators'), ids.role('cluster-operator')];
    const globex = ids.team('traders', 'globex');
    const ok = { action: 'member.remove', username: 'cat' };
    const cases: readonly (readonly [change: object, who: string, status: number, said: string])[] = [
      [{ action: 'role.create', role: { name: 'x' } }, 'cat', 403, 'create_role:org'],
      [{ action: 'role.update', id: role, role: {} }, 'cat', 403, 'edit:role'],
      [{ action: 'role.update', id: 999, role: {} }, 'cat', 403, 'edit:role'],
      [{ action: 'role.update', id: 999, role: {} }, 'ann', 404, 'role_not_found'],
      [{ action: 'role.delete', id: role }, 'bob', 403, 'delete:role'],
      [{ action: 'role.assign', id: role, team }, 'cat', 403, 'edit_roles:org'],
      [{ action: 'role.assign', id: role, team: globex }, 'ann', 404, 'team_not_found'],
      [{ action: 'role.assign', id: 999, team }, 'ann', 404, 'role_not_found'],
      [{ action: 'role.unassign', id: role, team: ids.team('Viewers') }, 'ann', 404, 'not_found'],
      [{ action: 'team.create', team: { name: 'x' } }, 'bob', 403, 'create_team:org'],
      [{ action: 'team.create', team: { name: '-' } }, 'ann', 422, 'changes[0].team.name'],
      [{ action: 'team.create', team: { name: 'x', permission: 'owner' } }, 'ann', 422, 'changes[0].team.permission'],
      [{ action: 'team.create', team: { name: 'x', members: ['nobody'] } }, 'ann', 404, 'user_not_found'],
      [{ action: 'team.update', id: team, team: { name: 'y' } }, 'bob', 403, 'edit:team'],
      [{ action: 'team.update', id: ids.team('Viewers'), team: { name: 'y' } }, 'dan', 404, 'team_not_found'],
      [{ action: 'team.update', id: globex, team: { name: 'y' } }, 'ann', 404, 'team_not_found'],
      [{ action: 'team.delete', id: team }, 'cat', 403, 'delete:team'],
      [{ action: 'team.add_member', id: team, username: 'cat' }, 'cat', 403, 'add_member:team'],
      [{ action: 'team.add_member', id: team, username: 'nobody' }, 'ann', 404, 'user_not_found'],
      [{ action: 'team.remove_member', id: team, username: 'dan' }, 'cat', 403, 'remove_member:team'],
      [{ action: 'team.remove_member', id: team, username: 'cat' }, 'ann', 404, 'not_found'],
      [{ action: 'member.add', username: 'eve' }, 'cat', 403, 'add_member:org'],
      [{ action: 'member.add', username: 'eve', team: 'none such' }, 'ann', 400, 'invalid_request'],
      [{ action: 'member.remove', username: 'dan' }, 'cat', 403, 'remove_member:org'],
      [{ action: 'member.remove', username: 'eve' }, 'ann', 404, 'not_found'],
      [{ action: 'member.remove', username: 'nobody' }, 'ann', 404, 'user_not_found'],
      [{ action: 'roles.import', document: 'a: [' }, 'ann', 422, 'changes[0].document'],
      [{ action: 'roles.import', document: 'a: 1' }, 'dan', 403, 'view_roles:org'],
      [{ action: 'role.create', role: { name: '' } }, 'ann', 422, 'changes[0].role.name'],
      [{ action: 'role.create', role: { name: 'x', teams: [globex] } }, 'ann', 400, 'invalid_request'],
      [
        { action: 'role.create', role: { name: 'x', permissions: [orgPermission('fly')] } },
        'ann',
        400,
        'invalid_request',
      ],
    ];
    for (const [change, who, status, said] of cases) {
      const answer = await ask([change], who);
      const title = `${who} ${JSON.stringify(change)}: ${answer.text}`;
      assert.equal(answer.status, status, title);
      const { relation, reason, errors } = answer.body;
      assert.equal(
        status === 403 ? relation : status === 422 ? errors[0].field.slice(0, said.length) : reason,
        said,
        title,
      );
      const second = await ask([ok, change], 'ann');
      if (who === 'ann') assert.match(second.body.message, /^changes\[1\]/, title);
    }
  });

  it('A field that an action needs is named if it is missing', async () => {
    for (const [change, field] of [
      [{ action: 'role.create' }, 'role'],
      [{ action: 'role.update', role: {} }, 'id'],
      [{ action: 'role.assign', id: 1 }, 'team'],
      [{ action: 'team.create' }, 'team'],
      [{ action: 'team.create', team: {} }, 'team.name'],
      [{ action: 'team.delete' }, 'id'],
      [{ action: 'team.add_member', id: 1 }, 'username'],
      [{ action: 'member.add', username: 'eve', team: 4 }, 'team'],
      [{ action: 'member.remove' }, 'username'],
      [{ action: 'roles.import' }, 'document'],
    ] as const) {
      const { status, body } = await ask([{ action: 'member.remove', username: 'cat' }, change]);
      assert.deepEqual([status, body.errors?.[0].field], [422, `changes[1].${field}`], JSON.stringify(change));
    }
    for (const changes of [[], [{ action: 'fly' }], Array(101).fill({ action: 'member.remove', username: 'cat' })]) {
      assert.equal((await ask(changes)).status, 422);
    }
    assert.equal((await ask([{ action: 'team.delete', id: 0 }])).status, 400);
    assert.equal((await ask([{ action: 'member.remove', username: 'ann' }], 'eve')).status, 403);
  });

  it('Everybody in an organization may preview leaving it, and sees only what is theirs', async () => {
    const { people, unattended, total } = await impact([{ action: 'member.remove', username: 'dan' }], 'dan');
    assert.deepEqual(Object.keys(people), ['dan']);
    assert.equal(total, 1);
    assert.deepEqual(unattended, []);
  });

  it('Who may manage roles but not see members learns only about teams that they see', async () => {
    const holder = await makeHolder(atrium, [orgPermission('edit roles')]);
    const role = { permissions: [] };
    const { people, total } = await impact(
      [{ action: 'role.update', id: ids.role('cluster-operator'), role }],
      holder.name,
    );
    assert.deepEqual([people, total], [{}, 0]);

    const mine = await impact([{ action: 'role.update', id: holder.roleId, role }], holder.name);
    assert.deepEqual(Object.keys(mine.people), [holder.name]);
  });

  it('Without objects, only permissions on the organization are compared', async () => {
    const change = { action: 'team.remove_member', id: ids.team('operators'), username: 'dan' };
    const { body } = await ask([change], 'ann', { objects: false });
    assert.deepEqual(new Set(body.users[0].loses.map(({ object }: Effect) => object.type)), new Set(['organization']));
  });
});
