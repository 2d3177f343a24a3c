import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditEntry } from '../../src/changes/audit-entry.ts';
import { commitmentOf, commitTexts, UNKNOWN } from '../../src/changes/personal-texts.ts';

const ANN = { id: 7n, name: 'ann', requestId: 'r' };
const base: AuditEntry = { actor: ANN, organizationId: 9n, action: 'role.update', objectType: 'role', objectId: 1n };

/** Whom each text of an entry is said to identify. */
function told(entry: Partial<AuditEntry>): [account: string, text: string][] {
  const { entry: committed, texts } = commitTexts({ ...base, ...entry });
  const whole = JSON.stringify(committed, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
  for (const { text, salt, commitment, organizationId } of texts) {
    assert.equal(salt.length, 16);
    assert.deepEqual(commitment, commitmentOf(salt, text));
    assert.equal(organizationId, 9n);
    assert.ok(whole.includes(`sha256:${commitment.toString('hex')}`));
    assert.ok(!whole.includes(JSON.stringify(text)), `${text} is left in ${whole}`);
  }
  return texts.map(({ accountId, text }) => [String(accountId), text]);
}

describe('Personal texts of audit entries', () => {
  it('Names of the actor and of the administrator who acts for them are committed, those of robots and the server are not', () => {
    assert.deepEqual(told({}), [['7', 'ann']]);
    assert.deepEqual(told({ actor: { ...ANN, sudoBy: { id: 1n, name: 'root' } } }).sort(), [
      ['1', 'root'],
      ['7', 'ann'],
    ]);
    assert.deepEqual(told({ actor: { id: -7n, name: 'deploy', requestId: 'r' } }), []);
    assert.deepEqual(told({ actor: { id: 0n, name: 'atrium', requestId: '' } }), []);
  });

  it('A name next to the ID of a user is theirs, and other names stay', () => {
    const after = {
      team: 'Owners',
      userId: 8n,
      username: 'ben',
      on: { type: 'cluster', id: 3n, name: 'prod' },
      to: { type: 'user', id: 12n, name: 'eve' },
      by: { type: 'robot_ac', id: 12n, name: 'deploy' },
    };
    assert.deepEqual(told({ after }), [
      ['7', 'ann'],
      ['8', 'ben'],
      ['12', 'eve'],
    ]);
  });

  it('What an entry about a user tells about them is theirs, and no flag or ID is', () => {
    const after = {
      username: 'ben',
      fullName: 'Ben B',
      email: 'b@x.test',
      website: '',
      location: 'Bern',
      isAdmin: true,
    };
    assert.deepEqual(told({ objectType: 'user', objectId: 8n, action: 'user.update', before: after }), [
      ['7', 'ann'],
      ['8', 'ben'],
      ['8', 'Ben B'],
      ['8', 'b@x.test'],
      ['8', 'Bern'],
    ]);
  });

  it('Addresses without an ID, and names in the path of a denied request, belong to nobody yet', () => {
    assert.deepEqual(told({ action: 'invitation.create', after: { email: 'new@x.test', invitedBy: 'ann' } }), [
      ['7', 'ann'],
      [String(UNKNOWN), 'new@x.test'],
      [String(UNKNOWN), 'ann'],
    ]);
    const attempt = {
      method: 'PUT',
      route: '/orgs/:org/members/:username',
      path: { org: 'acme', username: 'ben' },
      sudo: 'root',
    };
    assert.deepEqual(told({ action: 'access.denied', after: attempt }), [
      ['7', 'ann'],
      [String(UNKNOWN), 'ben'],
      [String(UNKNOWN), 'root'],
    ]);
  });

  it('A reason is that of the requester, otherwise that of the actor, and nobody knows who wrote an earlier one', () => {
    const by = { type: 'user', id: 8n, name: 'ben' };
    assert.deepEqual(told({ action: 'request.approve', after: { by, reason: 'on call', comment: 'fine' } }), [
      ['7', 'ann'],
      ['8', 'ben'],
      ['8', 'on call'],
      ['7', 'fine'],
    ]);
    assert.deepEqual(told({ after: { reason: 'audit' } }).at(-1), ['7', 'audit']);
    assert.deepEqual(told({ before: { reason: 'audit' } }).at(-1), [String(UNKNOWN), 'audit']);
  });

  it('One text of one person has one salt in an entry, and another one in the next', () => {
    const again = { ...base, after: { userId: 7n, username: 'ann' } };
    const [one, other] = [commitTexts(again), commitTexts(again)];
    assert.equal(one.texts.length, 1);
    assert.notDeepEqual(one.texts[0]?.salt, other.texts[0]?.salt);
  });

  it('An entry without people stays the same object in its states, with dates and numbers', () => {
    const after = { at: new Date(0), count: 5n, list: [{ a: 1 }], none: null };
    assert.deepEqual(commitTexts({ ...base, after }).entry.after, after);
  });
});
