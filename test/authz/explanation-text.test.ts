import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Step } from '../../packages/rebac/src/rebac.ts';
import {
  describeRelation,
  doing,
  missingTexts,
  sentenceFor,
  textOf,
} from '../../src/authz/explain/explanation-text.ts';

const NAMES: Readonly<Record<string, string>> = {
  'organization:1': 'acme',
  'team:4': 'operators',
  'role:7': 'Operator',
  'cluster:9': 'prod',
};
const nameOf = (object: string) => NAMES[object] ?? object;
const step = (rule: Step['rule'], relation: string, object: string, rest: Partial<Step> = {}): Step => ({
  depth: 0,
  rule,
  relation,
  object,
  ...rest,
});
const by = (user: string, from?: string): Partial<Step> => ({
  tuple: { user, relation: 'x', object: 'x:1' },
  ...(from !== undefined && { from }),
});

describe('Explanations in words', () => {
  it('An action on an object is a verb and its object', () => {
    const table = [
      ['can_view', 'view acme'],
      ['can_edit_clusters', 'edit the clusters of acme'],
      ['can_create_robots', 'create robot accounts in acme'],
      ['can_connect', 'connect to acme'],
      ['remover', 'delete acme'],
    ] as const;
    for (const [relation, words] of table) assert.equal(doing(relation, 'acme'), words);
    assert.equal(doing('can_edit', '$& %'), 'edit $& %', 'a name stands for itself');
  });

  it('Somebody who holds a structural relation is called by it', () => {
    assert.equal(describeRelation('owner', 'acme'), 'an owner of acme');
    assert.equal(describeRelation('built_in', 'acme'), 'built in of acme');
  });

  it('Each step is a sentence about who holds what', () => {
    const [acme, team, prod] = ['organization:1', 'team:4', 'cluster:9'];
    const table: readonly [Step, string][] = [
      [step('self', 'can_view', 'user:1'), 'ann is this user'],
      [step('direct', 'member', team), 'ann is in the team operators'],
      [step('direct', 'admin', 'platform:1'), 'ann is a site administrator'],
      [step('direct', 'owner', prod), 'ann owns prod'],
      [step('direct', 'identity', 'user:1'), 'ann is this user'],
      [step('direct', 'steward', team), 'ann is a steward of the team operators'],
      [step('direct', 'steward', 'team:5'), 'ann is a steward of team:5'],
      [step('direct', 'member', acme), 'ann is a member of acme'],
      [step('direct', 'friend', acme), 'ann is friend of acme'],
      [step('everyone', 'can_view', prod), 'everybody can view prod'],
      [step('everyone', 'viewer', acme), 'everybody is a viewer of acme'],
      [step('userset', 'editor', acme, by('team:4#member')), 'members of the team operators are editors of acme'],
      [step('userset', 'friend', acme, by('team:5#fan')), 'fan of team:5 are friend of acme'],
      [
        step('parent', 'can_view', prod, by(acme, 'can_view_clusters')),
        'ann can view prod because ann can view the clusters of acme',
      ],
      [step('computed', 'can_edit', prod, { from: 'owner' }), 'ann can edit prod because ann owns prod'],
      [
        step('parent', 'owner', acme, by('platform:1', 'admin')),
        'ann is an owner of acme because ann is a site administrator',
      ],
      [
        step('computed', 'viewer', acme, { from: 'editor' }),
        'ann is a viewer of acme because ann is an editor of acme',
      ],
      [step('and', 'can_view', prod), 'all of the following hold'],
      [step('but not', 'can_leave', acme), 'ann is not excluded'],
    ];
    for (const [one, words] of table) assert.equal(textOf(one, 'ann', nameOf), words);
  });

  it('What is missing is a sentence for each change', () => {
    const tuple = (relation: string, object: string) => ({ user: 'user:1', relation, object });
    const exclusion = (relation: string, object: string) => ({ relation, object, steps: [] });
    assert.deepEqual(missingTexts(undefined, 'ann', nameOf), []);
    assert.deepEqual(
      missingTexts(
        {
          add: [
            tuple('member', 'team:4'),
            tuple('viewer', 'organization:1'),
            tuple('assignee', 'role:7'),
            tuple('assignee', 'role:99'),
          ],
          excludedBy: [
            exclusion('kept', 'team:4'),
            exclusion('banned', 'organization:1'),
            exclusion('built_in', 'team:5'),
          ],
          trail: [],
        },
        'ann',
        nameOf,
      ),
      [
        'ann would have to be a member of the team operators',
        'ann would have to be a viewer of acme',
        'ann would have to have the role Operator',
        'ann would have to have a role that allows it',
        'the team operators would need another member',
        'ann must no longer be banned of acme',
        'team:5 is built in and stays',
      ],
    );
  });

  it('An answer is one sentence, with the reasons from the user to the object', () => {
    const say = (relation: string, object: string, allowed: boolean, steps: readonly Step[], missing: string[] = []) =>
      sentenceFor({ user: 'ann', relation, object }, { allowed, steps, missing }, nameOf);
    const [acme, team, prod] = ['organization:1', 'team:4', 'cluster:9'];
    assert.equal(say('can_view', prod, false, []), 'ann cannot view prod');
    assert.equal(say('can_view', prod, false, [], ['a', 'b']), 'ann cannot view prod: a, and b');
    assert.equal(say('can_view', prod, true, []), 'ann can view prod');
    assert.equal(
      say('can_view', prod, true, [step('direct', 'owner', prod)]),
      'ann can view prod because ann owns prod',
    );
    const member = [step('userset', 'editor', acme, by('team:4#member')), step('direct', 'member', team)];
    assert.equal(
      say('can_edit', prod, true, [step('parent', 'can_edit', prod, by(acme, 'can_edit_clusters')), ...member]),
      'ann can edit prod because ann is in the team operators, and editors of acme can edit its clusters',
    );
    assert.equal(
      say('can_edit', acme, true, [step('computed', 'can_edit', acme, { from: 'editor' }), ...member]),
      'ann can edit acme because ann is in the team operators, and editors of acme can edit it',
    );
    assert.equal(
      say('can_connect', prod, true, [
        step('parent', 'can_connect', prod, by(acme, 'can_connect_clusters')),
        step('userset', 'can_connect_clusters', acme, by('role:7#assignee')),
        step('userset', 'assignee', 'role:7', by('team:4#member')),
        step('direct', 'member', team),
      ]),
      'ann can connect to prod because ann is in the team operators, the team operators has the role Operator, and holders of that role can connect to the clusters of acme',
    );
    assert.equal(
      say('can_delete', acme, true, [
        step('computed', 'can_delete', acme, { from: 'owner' }),
        step('parent', 'owner', acme, by('platform:1', 'admin')),
        step('direct', 'admin', 'platform:1'),
      ]),
      'ann can delete acme because ann is a site administrator, and site administrators can delete acme',
    );
    assert.equal(
      say('can_view', team, true, [
        step('computed', 'can_view', team, { from: 'member' }),
        step('direct', 'member', team),
      ]),
      'ann can view operators because ann is in the team operators, and members of operators can view it',
    );
  });
});
