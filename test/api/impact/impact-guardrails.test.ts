import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedServer } from '../../support/server/shared-server.ts';
import { orgPermission } from '../../support/world/authz.ts';
import { inHours, openScene } from '../../support/world/expiry.ts';
import { makePerson } from '../../support/world/people.ts';

interface Told {
  readonly name: string;
  readonly enforce: boolean;
  readonly violated_by: readonly { readonly user: { readonly name: string } }[];
}

describe('Guardrails in previews', () => {
  async function scene() {
    const atrium = await sharedServer();
    const opened = await openScene(atrium);
    const { org, owner, call } = opened;
    const state = async (body: object) => {
      const { status, text, body: made } = await call('POST', `/authz/guardrails?org=${org.name}`, body);
      assert.equal(status, 201, text);
      return made.id as number;
    };
    const preview = async (changes: readonly object[], more: object = {}, who = owner.name) => {
      const answer = await atrium.as(who)('POST', `/authz/preview?org=${org.name}`, { changes, ...more });
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    return { atrium, ...opened, state, preview };
  }
  const told = (list: readonly Told[]) =>
    list.map(({ name, enforce, violated_by }) => [name, enforce, violated_by.map(({ user }) => user.name)]);

  it('The answer has what the real call would be refused with, word for word', async () => {
    const { org, owner, other, call, state, preview } = await scene();
    await state({ name: 'no edits', never: { users: [other.name], relation: 'can_edit' } });
    await state({ name: 'one editor', at_most: { count: 1, relation: 'can_edit' } });
    const change = { action: 'team.add_member', id: org.team('Editors'), username: other.name };
    const { refusals, guardrails, users } = await preview([change, { action: 'team.delete', id: 999 }]);
    const real = await call('PUT', `/teams/${org.team('Editors')}/members/${other.name}`);
    assert.equal(real.status, 409, real.text);
    const [first, second] = refusals;
    assert.deepEqual(
      [first.reason, first.message, first.guardrail],
      [real.body.reason, real.body.message, real.body.guardrail],
    );
    assert.deepEqual([first.change, first.field, second.guardrail.name], [0, 'changes[0].action', 'one editor']);
    assert.equal(refusals.length, 2);
    assert.equal(users[0].user.name, other.name, 'the impact includes the change');
    const people = [owner.name, other.name].sort();
    assert.deepEqual(
      told(guardrails).map(([name, enforce, names]) => [name, enforce, [...(names as string[])].sort()]),
      [
        ['no edits', true, [other.name]],
        ['one editor', true, people],
      ],
    );
  });

  it('A guardrail that is only watched is told, and nothing is refused', async () => {
    const { org, other, state, preview } = await scene();
    await state({ name: 'watched', enforce: false, never: { users: [other.name], relation: 'can_edit' } });
    const change = { action: 'team.add_member', id: org.team('Editors'), username: other.name };
    const { refusals, guardrails } = await preview([change]);
    assert.deepEqual([refusals, told(guardrails)], [[], [['watched', false, [other.name]]]]);
  });

  it('A plan is refused where its calls would be, even if it makes up for it later', async () => {
    const { org, owner, other, state, preview } = await scene();
    const owners = org.team('Owners');
    await state({ name: 'two eyes', at_least: { count: 1, relation: 'can_delete' } });
    const add = { action: 'team.add_member', id: owners, username: other.name };
    const leave = { action: 'member.remove', username: owner.name, orphan: true };
    assert.deepEqual((await preview([add, leave])).refusals, []);
    const { refusals } = await preview([leave, add]);
    assert.deepEqual([refusals[0].change, refusals[0].reason], [0, 'guardrail_violated']);
    // A new team and each of its members are calls of their own.
    await state({ name: 'no roles', never: { users: [other.name], relation: 'can_edit_roles' } });
    const team = { name: 'bosses', permission: 'admin', members: [other.name, owner.name] };
    const created = await preview([{ action: 'team.create', team }]);
    assert.equal(created.refusals[0].guardrail.name, 'no roles');
  });

  it('What will have ended by itself is not refused, but told', async () => {
    const { org, other, put, state, preview } = await scene();
    await put(`/teams/${org.team('Editors')}/members/${other.name}`, { expires_at: inHours(24) });
    await state({ name: 'two editors', at_least: { count: 2, relation: 'can_edit' } });
    assert.deepEqual((await preview([], { at: inHours(1) })).guardrails, []);
    const { refusals, guardrails } = await preview([], { at: inHours(30) });
    assert.deepEqual([refusals, told(guardrails)], [[], [['two editors', true, []]]]);
  });

  it('Whoever may not view roles is told only of what refuses their own change, without hidden names', async () => {
    const { atrium, org, other, call, state, preview } = await scene();
    const adders = await call('POST', `/orgs/${org.name}/teams`, { name: 'adders', permission: 'none' });
    await call('PUT', `/teams/${adders.body.id}/members/${other.name}`);
    const permissions = [orgPermission('manage team members'), orgPermission('edit')];
    const role = { name: 'adder', permissions, teamIDs: [adders.body.id] };
    const made = await call('POST', `/authz/roles?org=${org.name}`, role);
    assert.equal(made.status, 201, made.text);
    const third = await makePerson(atrium);
    await call('PUT', `/orgs/${org.name}/members/${third.name}`);
    await state({ name: 'watched', enforce: false, never: { users: [third.name], relation: 'can_edit' } });
    const change = { action: 'team.add_member', id: adders.body.id, username: third.name };
    assert.deepEqual((await preview([change], {}, other.name)).guardrails, []);
    assert.equal((await preview([change])).guardrails.length, 1);
  });
});
