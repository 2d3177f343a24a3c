import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditSentence } from '../../../src/audit/sentences/audit-sentences.ts';
import { AUDIT_ACTIONS } from '../../../src/changes/audit-actions.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission } from '../../support/world/authz.ts';
import { openScene } from '../../support/world/expiry.ts';

describe('Audit entries in words', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('An entry says who did what to whom', async () => {
    const { owner, other, org, call, put } = await openScene(atrium);
    await put(`/teams/${org.team('Owners')}/members/${other.name}`);
    await put(`/teams/${org.team('Owners')}/members/${other.name}`, { expires_at: '2030-01-31T12:00:00Z' });
    assert.equal((await call('DELETE', `/teams/${org.team('Owners')}/members/${other.name}`)).status, 204);
    const permissions = [clusterPermission('view clusters')];
    const role = await call('POST', `/authz/roles?org=${org.name}`, { name: 'ops', permissions, teamIDs: [] });
    const next = { permissions: [clusterPermission('connect to clusters')], teamIDs: [org.team('Viewers')] };
    assert.equal((await call('PUT', `/authz/roles/${role.body.id}?org=${org.name}`, next)).status, 200);
    const { body } = await call('GET', `/orgs/${org.name}/audit`);
    assert.deepEqual(body.items.map((entry: { summary: string }) => entry.summary).toReversed(), [
      `${owner.name} added ${other.name} to the team Owners`,
      `${owner.name} changed when the membership of ${other.name} in the team Owners ends: 2030-01-31 12:00:00Z`,
      `${owner.name} removed ${other.name} from the team Owners`,
      `${owner.name} created the role ops: + view clusters`,
      `${owner.name} changed the role ops: + connect to clusters, - view clusters, for 1 team more`,
    ]);
    const exported = await call('GET', `/orgs/${org.name}/audit/export`);
    assert.equal(JSON.parse(exported.text.split('\n')[0] ?? '').summary, body.items.at(-1).summary);
  });

  it('A request for access is told as what was asked for, and a phase by both values', () => {
    const about = (action: string, before: object | null, after_: object) => ({
      ...{ id: 1n, at: '', organizationId: 1n, actor: { id: 2n, name: 'dan' }, onBehalfOf: null, via: null, action },
      ...{ object: { type: 'cluster', id: 7n }, requestId: '', previousHash: Buffer.alloc(0), hash: Buffer.alloc(0) },
      ...{ before: before && JSON.stringify(before), after: JSON.stringify(after_) },
    });
    const asked = { relation: 'can_connect', on: { type: 'cluster', id: 7, name: 'prod' }, reason: 'INC-1' };
    const told = [
      auditSentence(about('request.create', null, asked), () => 'prod'),
      auditSentence(about('request.create', null, { ...asked, relation: 'can_view_members' }), () => 'prod'),
      auditSentence(about('cluster.phase', { phase: 'Registered' }, { phase: 'Active' }), () => 'prod'),
    ];
    assert.deepEqual(told, [
      'dan asked to connect to prod: INC-1',
      'dan asked to view the members of prod: INC-1',
      'the cluster prod reported another phase: Registered → Active',
    ]);
  });

  it('A robot is called by its name', async () => {
    const { org, call } = await openScene(atrium);
    const robot = (await call('POST', `/orgs/${org.name}/robots`, { name: 'deployer' })).body.id;
    const made = await call('POST', `/robots/${robot}/tokens`, {
      ...{ name: 'self', scopes: ['write:organization'], can_rotate: true },
    });
    assert.equal(made.status, 201, made.text);
    const rotated = await atrium.call('POST', '/api/v1/user/token/rotate', undefined, {
      Authorization: `token ${made.body.sha1 ?? made.body.token}`,
    });
    assert.ok(rotated.status < 300, rotated.text);
    const { body } = await call('GET', `/orgs/${org.name}/audit?action=token.rotate`);
    assert.match(body.items[0].summary, /^robot deployer replaced the token self/);
  });

  it('Every action has a sentence without a gap, whatever its entry contains', () => {
    for (const action of Object.keys(AUDIT_ACTIONS)) {
      const row = {
        ...{ id: 1n, at: '', organizationId: 1n, actor: { id: 2n, name: 'pia' }, onBehalfOf: null, via: null, action },
        ...{ object: { type: 'team', id: 7n }, requestId: '', previousHash: Buffer.alloc(0), hash: Buffer.alloc(0) },
      };
      for (const [before, after_] of [
        [null, null],
        ['{"name":"$& %actor","username":"ben","expiresAt":"2030"}', '{"name":"b","list":[1,{"a":2}]}'],
        ['[]', '"text"'],
      ] as const) {
        const text = auditSentence({ ...row, before, after: after_ }, () => 'Owners');
        assert.ok(text.length > 10 && !text.includes('undefined'), `${action}: ${text}`);
      }
    }
  });
});
