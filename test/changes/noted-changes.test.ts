import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditAction } from '../../src/changes/audit-actions.ts';
import { SERVER } from '../../src/changes/audit-entry.ts';
import { notedChanges } from '../../src/changes/noted-changes.ts';

const entry = (action: AuditAction, objectType: string, objectId: bigint) => ({
  ...{ actor: SERVER, organizationId: 9n, action, objectType, objectId },
});

it('A change is noted once for each action that the audit log has about its object, and once if it has none', () => {
  const team = { kind: 'team', id: 4n, organizationId: 9n } as const;
  const user = { kind: 'account', id: 2n } as const;
  const robot = { kind: 'robot', id: 4n, organizationId: 9n } as const;
  const entries = [
    entry('team.update', 'team', 4n),
    entry('team.add_member', 'team', 4n),
    entry('team.add_member', 'team', 4n),
    entry('robot.update', 'robot_ac', 4n),
    entry('credential.create', 'credential', 4n),
  ];
  assert.deepEqual(
    notedChanges([user, team, team, robot], entries).map(({ kind, action }) => [kind, action]),
    [
      ['account', null],
      ['team', 'team.update'],
      ['team', 'team.add_member'],
      ['robot', 'robot.update'],
    ],
  );
});
