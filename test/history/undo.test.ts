import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AppError } from '../../src/base/errors.ts';
import type { GraphTuple } from '../../src/changes/graph-tuple.ts';
import type { LoggedChange } from '../../src/history/logged-change.ts';
import { dropEnded, stateOf, tuplesOf } from '../../src/history/past-state.ts';
import { touchedBy, undo } from '../../src/history/undo.ts';
import { findPermission } from '../../src/roles/catalog.ts';

const AT = '2026-11-03T10:00:00.000Z';
const relationOf = (pair: { namespace: string; action: string }) => findPermission(pair)?.relation;
const TEAM: readonly GraphTuple[] = [
  { object: 'team:4', relation: 'organization', user: 'organization:9', source: 'team:4' },
  { object: 'organization:9', relation: 'participant', user: 'team:4#member', source: 'team:4' },
  { object: 'organization:9', relation: 'editor', user: 'team:4#member', source: 'team:4' },
  { object: 'team:4', relation: 'member', user: 'user:7', source: 'team:4' },
];

function entry(action: string, object: string, states: Pick<Partial<LoggedChange>, 'before' | 'after'>): LoggedChange {
  const [objectType = '', objectId = ''] = object.split(':');
  return { at: AT, action, objectType, objectId, before: {}, after: {}, ...states };
}

function undone(tuples: readonly GraphTuple[], ...changes: LoggedChange[]): string[] {
  const touched = touchedBy(changes);
  const state = stateOf(
    9n,
    'organization',
    tuples.filter(({ source }) => touched.has(source)),
  );
  for (const change of changes) undo(state, change, relationOf);
  return [...tuplesOf(state)].map(({ object, relation, user }) => `${user} ${relation} ${object}`).sort();
}

describe('Undoing entries of the audit log', () => {
  it('A deleted team comes back with its members and its roles', () => {
    const role: GraphTuple[] = [
      { object: 'role:5', relation: 'organization', user: 'organization:9', source: 'role:5' },
      { object: 'organization:9', relation: 'can_view_clusters', user: 'role:5#assignee', source: 'role:5' },
    ];
    const before = { name: 'ops', permission: 'owner', members: ['7'], roleIds: ['5'] };
    assert.deepEqual(undone(role, entry('team.delete', 'team:6', { before })), [
      'organization:9 organization role:5',
      'organization:9 owned_by team:6',
      'platform:atrium allows_view_clusters role:5',
      'role:5#assignee can_view_clusters organization:9',
      'team:6#member assignee role:5',
      'team:6#member owner organization:9',
      'team:6#member participant organization:9',
      'user:* kept team:6',
      'user:7 last_owner organization:9',
      'user:7 member team:6',
    ]);
  });

  it('What had ended at the moment does not come back, whenever a server noticed', () => {
    const [end, other] = ['2026-11-03T09:00:00.000Z', '2026-11-03T09:30:00.000Z'];
    const expired = { team: 'ops', userId: '8', username: 'eve', expiresAt: end };
    const role = { name: 'r', description: '', permissions: [], teamIds: ['4', '5'] };
    const changes = [
      entry('team.expire_member', 'team:4', { before: expired }),
      entry('role.expire', 'role:3', {
        before: { ...role, teamExpiries: { 4: end, 5: other } },
        after: { ...role, teamIds: [] },
      }),
      entry('token.expire', 'token:6', { before: { name: 't', expiresAt: end } }),
    ];
    const present = [
      ...TEAM,
      { object: 'role:3', relation: 'organization', user: 'organization:9', source: 'role:3' },
    ] as const;
    const restored = (at: string) => {
      const state = stateOf(9n, 'organization', present);
      for (const change of changes) undo(state, change, relationOf);
      dropEnded(state, new Date(at));
      const { teams, roles, resources } = state;
      return [teams.get('4')?.members.has('8'), [...(roles.get('3')?.teams ?? [])], [...resources]];
    };
    assert.deepEqual(restored('2026-11-03T08:59:59.999Z'), [true, ['4', '5'], ['token:6']]);
    assert.deepEqual(restored(end), [false, ['5'], []]);
    assert.deepEqual(restored(other), [false, [], []]);
  });

  it('A robot comes back with its tokens', () => {
    const before = { name: 'ci', tokens: ['one'], tokenIds: ['3'] };
    assert.deepEqual(undone([], entry('robot.delete', 'robot_ac:2', { before })), [
      'organization:9 organization robot_ac:2',
      'organization:9 organization token:3',
      'robot_ac:2 robot organization:9',
    ]);
  });

  it('Changes are undone one after the other, back to nothing', () => {
    const back = undone(
      TEAM,
      entry('team.add_member', 'team:4', { after: { userId: '7' } }),
      entry('team.update', 'team:4', { before: { permission: 'none' }, after: { permission: 'write' } }),
      entry('team.create', 'team:4', { after: { permission: 'none' } }),
    );
    assert.deepEqual(back, []);
  });

  const unknown = [{ namespace: 'org_mgmt', action: 'fly' }];
  const role = { name: 'r', permissions: [], teamIds: [] };
  const REJECTIONS: readonly [string, LoggedChange, RegExp][] = [
    [
      'an old deletion of a team',
      entry('team.delete', 'team:6', { before: { members: [] } }),
      /which roles the team had/,
    ],
    [
      'an old deletion of a robot',
      entry('robot.delete', 'robot_ac:2', { before: { tokens: ['one'] } }),
      /which tokens it had/,
    ],
    ['a restore', entry('deployment.restore', 'deployment:0', {}), /restored from a backup/],
    ['an action of a later release', entry('team.paint', 'team:4', {}), /does not know the action team\.paint/],
    ['a lost member', entry('team.add_member', 'team:4', { after: { userId: '8' } }), /does not fit/],
    ['a member who is there', entry('team.remove_member', 'team:4', { before: { userId: '7' } }), /does not fit/],
    ['a team of unknown members', entry('team.create', 'team:4', { after: { permission: 'write' } }), /does not fit/],
    ['a team that is there', entry('team.delete', 'team:4', { before: { roleIds: [] } }), /does not fit/],
    [
      'a lost role of a team',
      entry('team.delete', 'team:6', { before: { permission: 'none', roleIds: ['5'] } }),
      /not fit/,
    ],
    [
      'another permission',
      entry('team.update', 'team:4', { before: { permission: 'read' }, after: { permission: 'admin' } }),
      /does not fit/,
    ],
    ['a lost role', entry('role.create', 'role:5', { after: role }), /does not fit/],
    [
      'a permission that is no more',
      entry('role.delete', 'role:5', { before: { ...role, permissions: unknown } }),
      /"fly", which this release does not have/,
    ],
    ['a lost cluster', entry('cluster.create', 'cluster:1', {}), /does not fit/],
    ['an administrator who is none', entry('user.update', 'user:7', { after: { isAdmin: true } }), /does not fit/],
  ];
  for (const [what, change, message] of REJECTIONS) {
    it(`Nothing is answered before ${what}`, () => {
      assert.throws(
        () => undone(TEAM, change),
        (error: AppError) => {
          assert.match(error.message, message);
          assert.match(
            error.message,
            /^what was true before 2026-11-03T10:00:00\.000Z is not known, .*; at must not be earlier$/,
          );
          assert.deepEqual([error.kind, error.detail.reason], ['invalid', 'history_incomplete']);
          return true;
        },
      );
    });
  }

  it('Nothing is answered before the organization existed', () => {
    for (const action of ['organization.create', 'installer.bind']) {
      assert.throws(
        () => undone(TEAM, entry(action, 'organization:9', {})),
        /the audit log of the organization begins at 2026/,
      );
    }
  });
});
