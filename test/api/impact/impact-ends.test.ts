import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATALOG } from '../../../src/roles/catalog.ts';
import type { Answer } from '../../support/server/server.ts';
import { sharedServer } from '../../support/server/shared-server.ts';
import { orgPermission } from '../../support/world/authz.ts';
import { inHours, openScene } from '../../support/world/expiry.ts';
import { shownImpact } from '../../support/world/impact-moments.ts';
import { makePerson } from '../../support/world/people.ts';

const [SOON, LATER] = [inHours(24), inHours(48)];
const exact = (text: string) => new Date(text).toISOString();

describe('Previews of what ends by itself', () => {
  async function scene() {
    const atrium = await sharedServer();
    const opened = await openScene(atrium);
    const { org, owner, other, call } = opened;
    const ask = async (changes: readonly object[], more: object = {}, who = owner.name): Promise<Answer> =>
      await atrium.as(who)('POST', `/authz/preview?org=${org.name}`, { changes, ...more });
    const impact = async (changes: readonly object[], more: object = {}) => {
      const { status, body, text } = await ask(changes, more);
      assert.equal(status, 200, text);
      return { ...shownImpact(body), body };
    };
    const ofOther = async (changes: readonly object[], more: object = {}) => {
      const { users } = await impact(changes, more);
      const { gains, loses, keeps } = users[other.name] ?? { gains: [], loses: [], keeps: [] };
      const ownWords = (list: readonly string[]) => list.filter((one) => / can_(edit|delete_robots) /.test(`${one} `));
      return { gains: ownWords(gains), loses: ownWords(loses), keeps: ownWords(keeps) };
    };
    const editors = { action: 'team.add_member', id: org.team('Editors'), username: other.name };
    const role = async (...teamIDs: number[]) => {
      const permissions = [orgPermission('edit')];
      const { body } = await call('POST', `/authz/roles?org=${org.name}`, { name: 'r', permissions, teamIDs });
      return body.id as number;
    };
    return { atrium, ...opened, ask, impact, ofOther, editors, role, edit: `organization ${org.name} can_edit` };
  }

  it('A gain says until when it lasts, unless another way to it has no end', async () => {
    const { org, other, put, ofOther, editors, role, edit } = await scene();
    const found = await ofOther([{ ...editors, expires_at: SOON }]);
    assert.ok(found.gains.includes(`${edit} until ${exact(SOON)}`), found.gains.join());
    const viewers = org.team('Viewers');
    await put(`/teams/${viewers}/members/${other.name}`, { expires_at: LATER });
    const id = await role();
    const assigned = { action: 'role.assign', id, team: viewers };
    assert.deepEqual((await ofOther([assigned])).gains, [`${edit} until ${exact(LATER)}`]);
    assert.deepEqual((await ofOther([{ ...assigned, expires_at: SOON }])).gains, [`${edit} until ${exact(SOON)}`]);
    const both = [
      { ...assigned, expires_at: SOON },
      { ...editors, expires_at: null },
    ];
    assert.ok((await ofOther(both)).gains.includes(edit));
  });

  it('A loss says when it would have ended anyway', async () => {
    const { org, other, put, ofOther, role, edit } = await scene();
    const viewers = org.team('Viewers');
    await put(`/teams/${viewers}/members/${other.name}`);
    const id = await role();
    await put(`/teams/${viewers}/roles/${id}`, { expires_at: SOON });
    const found = await ofOther([{ action: 'role.unassign', id, team: viewers }]);
    assert.deepEqual(found.loses, [`${edit} until ${exact(SOON)}`]);
  });

  it('Renewing, shortening and making permanent change nothing now, and say what lasts until when', async () => {
    const { org, other, put, ofOther, impact, editors, edit } = await scene();
    const path = `/teams/${org.team('Editors')}/members/${other.name}`;
    await put(path, { expires_at: SOON });
    for (const [expires_at, words] of [
      [LATER, `${exact(SOON)} → ${exact(LATER)}`],
      [null, `${exact(SOON)} → never`],
      [inHours(1), `${exact(SOON)} → ${exact(inHours(1))}`],
    ] as const) {
      const found = await ofOther([{ ...editors, expires_at }]);
      const [before, after] = words.split(' → ');
      assert.deepEqual([found.gains, found.loses], [[], []]);
      assert.match(
        found.keeps.find((one) => one.startsWith(edit)) ?? '',
        new RegExp(`^${edit} ${before} → ${after?.slice(0, 13)}`),
      );
    }
    for (const change of [editors, { ...editors, expires_at: SOON }]) {
      const { users, body } = await impact([change]);
      assert.deepEqual([users, body.total], [{}, 0]);
    }
    await put(path, { expires_at: null });
    assert.ok((await ofOther([{ ...editors, expires_at: SOON }])).keeps.includes(`${edit} never → ${exact(SOON)}`));
  });

  it('Somebody who loses the lasting one of two ways keeps what the other gives until it ends', async () => {
    const { org, other, put, ofOther, role, edit } = await scene();
    const viewers = org.team('Viewers');
    await put(`/teams/${viewers}/members/${other.name}`);
    const id = await role(viewers);
    await put(`/teams/${org.team('Editors')}/members/${other.name}`, { expires_at: SOON });
    const found = await ofOther([{ action: 'role.unassign', id, team: viewers }]);
    assert.deepEqual(found, { gains: [], loses: [], keeps: [`${edit} never → ${exact(SOON)}`] });
  });

  it('Without changes, the answer is what will have changed by itself', async () => {
    const { org, other, put, ofOther, impact, role, edit } = await scene();
    const viewers = org.team('Viewers');
    await put(`/teams/${viewers}/members/${other.name}`, { expires_at: LATER });
    const id = await role();
    await put(`/teams/${viewers}/roles/${id}`, { expires_at: SOON });
    assert.deepEqual((await ofOther([], { at: inHours(1) })).loses, []);
    assert.deepEqual((await ofOther([], { at: SOON })).loses, [`${edit} until ${exact(SOON)}`]);
    const { users } = await impact([], { at: LATER });
    assert.ok(users[other.name]?.loses.includes(`organization ${org.name} can_view until ${exact(LATER)}`));
    // A renewal is made first, and then time passes.
    const renewed = [{ action: 'role.assign', id, team: viewers, expires_at: LATER }];
    assert.deepEqual(await ofOther(renewed, { at: SOON }), {
      gains: [],
      loses: [],
      keeps: [`${edit} ${exact(SOON)} → ${exact(LATER)}`],
    });
  });

  it('A second owner for some time lets the first one leave until then', async () => {
    const { org, owner, other, impact } = await scene();
    const { users } = await impact([
      { action: 'team.add_member', id: org.team('Owners'), username: other.name, expires_at: SOON },
    ]);
    assert.deepEqual(users[owner.name]?.gains, [
      `organization ${org.name} can_leave until ${exact(SOON)}`,
      `team Owners can_remove_member until ${exact(SOON)}`,
    ]);
  });

  it('What the real call would reject about an end is rejected or reported here, too', async () => {
    const { atrium, org, owner, other, put, ask, editors } = await scene();
    const owners = { action: 'team.add_member', id: org.team('Owners') };
    const reasons = async (changes: readonly object[]) =>
      (await ask(changes)).body.refusals?.map((one: { field: string; reason: string }) => [one.field, one.reason]);
    const ending = { ...owners, username: owner.name, expires_at: SOON };
    assert.deepEqual(await reasons([ending]), [['changes[0].expires_at', 'last_owner']]);
    await put(`/teams/${org.team('Owners')}/members/${other.name}`, { expires_at: SOON });
    assert.deepEqual(await reasons([{ action: 'member.remove', username: owner.name }]), [
      ['changes[0].username', 'last_owner'],
    ]);
    assert.deepEqual(await reasons([{ action: 'team.remove_member', id: org.team('Owners'), username: owner.name }]), [
      ['changes[0].username', 'last_owner'],
    ]);
    assert.deepEqual(
      await reasons([{ action: 'team.remove_member', id: org.team('Owners'), username: other.name }]),
      [],
    );

    const own = await ask([{ ...owners, username: other.name, expires_at: LATER }], {}, other.name);
    assert.deepEqual([own.status, own.body.reason], [403, 'forbidden'], own.text);
    const late = `${new Date().getUTCFullYear() + 11}-01-01T00:00:00Z`;
    const third = await makePerson(atrium);
    for (const [change, field] of [
      [{ ...editors, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ ...editors, expires_at: late }, 'expires_at'],
      [{ ...editors, expires_at: 'tomorrow' }, 'expires_at'],
      [{ action: 'member.add', username: third.name, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ action: 'team.delete', id: org.team('Editors'), expires_at: SOON }, 'expires_at'],
      [{ action: 'member.add', username: other.name, expires_at: SOON }, 'team'],
    ] as const) {
      const { status, body, text } = await ask([change]);
      assert.equal(status, 422, text);
      assert.match(body.errors[0].field, new RegExp(`^changes(\\[0\\]|\\.0)\\.${field}$`), text);
    }
    for (const more of [{}, { at: '2020-01-01T00:00:00Z' }, { at: late }, { at: 'soon' }]) {
      assert.equal((await ask([], more)).status, 422, JSON.stringify(more));
    }
  });

  it('Whoever may only add members cannot preview ending a membership sooner', async () => {
    const { atrium, org, other, call, put, ask } = await scene();
    const third = await makePerson(atrium);
    const viewers = org.team('Viewers');
    for (const { name } of [other, third]) await put(`/teams/${viewers}/members/${name}`);
    const permissions = [orgPermission('add members')];
    await call('POST', `/authz/roles?org=${org.name}`, { name: 'adders', permissions, teamIDs: [viewers] });
    const change = { action: 'member.add', username: other.name, team: 'Viewers', expires_at: SOON };
    const preview = await ask([change], {}, third.name);
    assert.deepEqual([preview.status, preview.body.relation], [403, 'remove_member:team'], preview.text);
    const path = `/orgs/${org.name}/members/${other.name}`;
    const made = await atrium.as(third.name)('PUT', path, { team: 'Viewers', expires_at: SOON });
    assert.deepEqual([made.status, made.body.relation], [403, 'remove_member:team'], made.text);
  });

  it('A preview that would take too long because everything ends at another time is rejected', async () => {
    const { atrium, org, call, put, ask } = await scene();
    // Each permission ends with the last of its roles.
    const roles = Array.from({ length: 300 }, (_, at) => {
      const { namespace, action } = CATALOG[Math.floor((at * CATALOG.length) / 300)] ?? assert.fail();
      const teams = [{ name: 'Viewers', expires_at: inHours(24 + at) }];
      return { name: `r${at}`, permissions: { [namespace]: [action] }, teams };
    });
    const document = { apiVersion: 'atrium/v1', kind: 'Roles', organization: org.name, roles };
    const imported = await call('PUT', `/authz/roles/import?org=${org.name}`, document);
    assert.equal(imported.status, 200, imported.text);
    const viewers = org.team('Viewers');
    for (let at = 0; at < 30; at++) {
      await put(`/teams/${viewers}/members/${(await makePerson(atrium)).name}`, { expires_at: inHours(400 + at) });
    }
    const [{ id }] = (await call('GET', `/teams/${viewers}/roles`)).body;
    const answer = await ask([{ action: 'role.unassign', id, team: viewers }]);
    assert.deepEqual([answer.status, answer.body.reason], [422, 'validation_failed'], answer.text);
    assert.match(answer.body.message, /^too many memberships and assignments of this organization end/);
  });
});
