import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { addMember, removeMember } from '../../support/world/people.ts';

describe('Organization owners', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const onOwners = (who: string) => allowedTo(atrium, who, 'team', id.team('Owners'));
  const onAcme = (who: string) => allowedTo(atrium, who, 'organization', id.org('acme'));

  it('An owner can leave or be removed only while there is another owner', async () => {
    const { instance } = atrium;
    const [owners, bob] = [BigInt(id.team('Owners')), BigInt(id.user('bob'))];
    const alone = ['can_view', 'can_edit', 'can_add_member'];
    assert.deepEqual(await onOwners('ann'), alone);
    assert.ok(!(await onAcme('ann')).includes('can_leave'));

    await addMember(instance, owners, bob);
    const together = [...alone, 'can_remove_member'];
    for (const who of ['ann', 'bob', 'root']) assert.deepEqual(await onOwners(who), together);
    for (const who of ['ann', 'bob']) assert.ok((await onAcme(who)).includes('can_leave'));

    await removeMember(instance, owners, BigInt(id.user('ann')));
    assert.deepEqual(await onOwners('bob'), alone);
    assert.ok(!(await onAcme('bob')).includes('can_leave'));
    assert.deepEqual(await onOwners('ann'), []);
    assert.deepEqual(await onAcme('ann'), []);
    await assert.rejects(removeMember(instance, owners, bob), /last owner/);

    await addMember(instance, owners, BigInt(id.user('ann')));
    await removeMember(instance, owners, bob);
    assert.deepEqual(await onOwners('ann'), alone);
  });

  it('Editors and holders of custom roles can only view the Owners team', async () => {
    const everything = ['edit teams', 'delete teams', 'manage team members', 'add members', 'remove members'];
    const { name } = await makeHolder(atrium, everything.map(orgPermission));
    assert.deepEqual(await onOwners(name), ['can_view']);
    const all = ['can_view', 'can_edit', 'can_delete', 'can_add_member', 'can_remove_member'];
    assert.deepEqual(await allowedTo(atrium, name, 'team', id.team('operators')), all);
    assert.deepEqual(await onOwners('bob'), ['can_view']);
  });

  it('Editors can manage the members of the Viewers team but not of other teams', async () => {
    const viewers = id.team('Viewers');
    assert.deepEqual(await allowedTo(atrium, 'bob', 'team', viewers), [
      'can_view',
      'can_add_member',
      'can_remove_member',
    ]);
    assert.deepEqual(await allowedTo(atrium, 'bob', 'team', id.team('Editors')), ['can_view']);
    assert.deepEqual(await allowedTo(atrium, 'bob', 'team', id.team('operators')), ['can_view']);
  });

  it('Site administrators hold the permissions of an owner on the organization, and editors cannot delete it', async () => {
    const owner = await onAcme('ann');
    assert.deepEqual(await onAcme('root'), owner);
    assert.ok(owner.includes('can_delete'));
    assert.ok(!(await onAcme('bob')).includes('can_delete'));
  });
});
