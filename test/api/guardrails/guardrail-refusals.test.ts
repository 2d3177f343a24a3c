import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedServer } from '../../support/server/shared-server.ts';
import { numbersOf } from '../../support/world/authz.ts';

const never = (parts: object) => ({ name: 'x', never: { users: ['eve'], relation: 'can_view', ...parts } });
const atLeast = (parts: object) => ({ name: 'x', at_least: { count: 1, relation: 'can_view', ...parts } });

const REFUSED: readonly (readonly [what: string, body: object, status: number, reason: string])[] = [
  ['no name', never({}).never, 422, 'validation_failed'],
  ['an empty name', { ...never({}), name: '  ' }, 422, 'validation_failed'],
  ['a long name', { ...never({}), name: 'x'.repeat(101) }, 422, 'validation_failed'],
  ['a long description', { ...never({}), description: 'x'.repeat(1001) }, 422, 'validation_failed'],
  ['no statement', { name: 'x' }, 422, 'validation_failed'],
  ['two statements', { ...never({}), ...atLeast({}) }, 422, 'validation_failed'],
  ['nobody', never({ users: [] }), 422, 'validation_failed'],
  ['an unknown user', never({ users: ['nobody-at-all'] }), 422, 'user_not_found'],
  ['an unknown team', never({ team: 'nobody' }), 422, 'team_not_found'],
  ['a team of another organization', never({ team: 'traders' }), 422, 'team_not_found'],
  ['a team that is no name', never({ team: {} }), 422, 'validation_failed'],
  ['an unknown relation', never({ relation: 'can_fly' }), 422, 'unknown_relation'],
  ['a structural relation', never({ relation: 'owner' }), 422, 'unknown_relation'],
  ['an unknown type', never({ object: { type: 'user' } }), 422, 'validation_failed'],
  ['an unknown object', never({ object: { type: 'cluster', name: 'nothing' } }), 422, 'not_found'],
  ['an object of another organization', never({ object: { type: 'cluster', name: 'globex' } }), 422, 'not_found'],
  ['another organization', never({ object: { type: 'organization', name: 'globex' } }), 422, 'not_found'],
  ['one token', never({ object: { type: 'token', id: 1 } }), 422, 'validation_failed'],
  ['an ID that is none', never({ object: { type: 'cluster', id: -1 } }), 400, 'invalid_request'],
  ['a count of nobody', atLeast({ count: 0 }), 422, 'validation_failed'],
  ['a fraction', atLeast({ count: 1.5 }), 422, 'validation_failed'],
  ['a minimum for any object', atLeast({ object: { type: 'cluster' } }), 422, 'validation_failed'],
];

describe('Guardrails that cannot be stored', () => {
  for (const [what, body, status, reason] of REFUSED) {
    it(`A guardrail with ${what} is rejected`, async () => {
      const answer = await (await sharedServer()).as('ann')('POST', '/authz/guardrails?org=acme', body);
      assert.deepEqual([answer.status, answer.body.reason], [status, reason], answer.text);
    });
  }

  it('Only those who can edit roles can change guardrails, and only those who can view roles see them', async () => {
    const atrium = await sharedServer();
    const body = never({});
    assert.equal((await atrium.as('cat')('POST', '/authz/guardrails?org=acme', body)).status, 403);
    assert.equal((await atrium.as('cat')('GET', '/authz/guardrails?org=acme')).status, 200);
    assert.equal((await atrium.as('dan')('GET', '/authz/guardrails?org=acme')).status, 403);
    assert.equal((await atrium.as('eve')('GET', '/authz/guardrails?org=acme')).status, 403);
  });
});

describe('Many checks at once', () => {
  it('Each check is answered in its place, by ID or name, and a name that does not exist is a fault', async () => {
    const atrium = await sharedServer();
    const id = numbersOf(atrium);
    const prod = { type: 'cluster', name: 'Prod' };
    const { status, body } = await atrium.as('ann')('POST', '/authz/check?org=acme', {
      checks: [
        { user: 'dan', relation: 'connect', object: prod },
        { user: 'DAN', relation: 'can_edit', object: { type: 'cluster', id: id.cluster('prod') } },
        { relation: 'can_delete', object: { type: 'organization' } },
        { user: 'nobody-at-all', relation: 'can_edit', object: prod },
        { user: 'dan', relation: 'can_fly', object: prod },
        { user: 'dan', relation: 'can_view', object: { type: 'cluster', name: 'nothing' } },
        { user: 'eve', relation: 'can_view', object: { type: 'cluster', id: id.cluster('globex') } },
      ],
    });
    assert.equal(status, 200);
    assert.deepEqual(body.results, [
      { allowed: true },
      { allowed: false },
      { allowed: true },
      { allowed: false, fault: 'user does not exist: "nobody-at-all"' },
      { allowed: false, fault: 'cluster has no relation "can_fly"' },
      { allowed: false, fault: 'cluster does not exist: "nothing"' },
      { allowed: false, fault: `cluster does not exist: ${id.cluster('globex')}` },
    ]);
  });

  it('Only those who can view the members can ask about others', async () => {
    const atrium = await sharedServer();
    const ask = (user: string) => ({
      checks: [{ user, relation: 'can_view', object: { type: 'cluster', name: 'prod' } }],
    });
    const other = await atrium.as('dan')('POST', '/authz/check?org=acme', ask('ann'));
    assert.deepEqual([other.status, other.body.relation], [403, 'can_view_members']);
    assert.deepEqual((await atrium.as('dan')('POST', '/authz/check?org=acme', ask('dan'))).body.results, [
      { allowed: true },
    ]);
    const many = { checks: Array.from({ length: 1001 }, () => ask('dan').checks[0]) };
    assert.equal((await atrium.as('dan')('POST', '/authz/check?org=acme', many)).status, 422);
  });
});
