import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { SERVER } from '../../../src/changes/audit-entry.ts';
import { sql } from '../../../src/db/db.ts';
import { createGroupSyncStore } from '../../../src/providers/groups/group-sync.store.ts';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { ANY_DRIVER, DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, orgPermission } from '../../support/world/authz.ts';
import { openRequestPlace } from '../../support/world/requests.ts';
import { GROUP, newScimToken, patch, scimCaller } from '../../support/world/scim.ts';

const OLD_ENTRY = sql(
  'test.oldTeamDeletion',
  `update audit set before = (before::jsonb - 'isScim')::json where action = 'team.delete' and object_id = $1`,
);
const SECTIONS = 'teams,roles,assignments,guardrails';
const PEOPLE = ['bob', 'cat', 'dan'];
const TEAMS = ['alpha', 'beta', 'gamma'];
const ROLES = ['one', 'two', 'three'];
const RULES = ['closed', 'staffed'];
const PAIRS = ['view clusters', 'connect to clusters', 'reconfigure clusters'].map((action) => ({
  ...{ namespace: 'cluster_mgmt', action },
}));

type Step = { readonly at: string; readonly change: string; readonly file: object };

for (const driver of IS_LONG ? DRIVERS : [ANY_DRIVER])
  describe(`The file of an organization as of a past moment on ${driver} (seed ${SEED})`, () => {
    let atrium: TestServer;
    const random = createRandom();
    before(async () => {
      atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0', SCIM_DOMAINS: 'acme:acme.example' } });
    });
    after(() => atrium.close());

    const ann = (...send: Parameters<ReturnType<TestServer['as']>>) => atrium.as('ann')(...send);
    async function done(...send: Parameters<ReturnType<TestServer['as']>>) {
      const answer = await ann(...send);
      assert.ok(answer.status < 300, `${send.join(' ')}: ${answer.text}`);
      return answer;
    }
    const exported = async (org: string, query = '') =>
      (await done('GET', `/orgs/${org}/file?format=json&sections=${SECTIONS}${query}`)).body;
    const now = async () => {
      const at = new Date();
      while (Date.now() <= at.getTime()) await breath();
      return at.toISOString();
    };
    async function found(name: string) {
      await done('POST', '/orgs', { username: name });
      for (const login of PEOPLE) await done('PUT', `/orgs/${name}/members/${login}`, { teams: ['Viewers'] });
      for (const cluster of ['prod', 'test'])
        await done('POST', `/orgs/${name}/clusters`, { name: cluster, uid: randomUUID() });
      await done('POST', `/orgs/${name}/robots`, { name: 'deploy' });
    }

    it('Every export of the past is the export that was made then', async () => {
      await found('story');
      const steps: Step[] = [];
      const made = new Map<string, number>();
      for (let count = 0; count < COUNTS.fileHistory; count++) {
        const change = await changeOne();
        if (change.startsWith('2')) made.set(change.slice(4).split(' ')[0] ?? '', count);
        const file = await exported('story');
        steps.push({ at: await now(), change, file });
      }
      for (const { at, change, file } of steps) {
        const { as_of: asOf, ...then } = await exported('story', `&at=${at}`);
        assert.equal(asOf, at);
        assert.deepEqual(then, file, `after ${change}, at ${at}`);
      }
      assert.ok(made.size >= Math.min(COUNTS.fileHistory / 4, 12), [...made.keys()].join());
    });

    /** One change, by a call or by a file. It may be rejected. */
    async function changeOne(): Promise<string> {
      const list = async (path: string): Promise<{ id: number }[]> => (await done('GET', path)).body;
      const idIn = async (path: string) => random.pick([...(await list(path)), { id: 999_999 }]).id;
      const [query, user] = ['?org=story', random.pick(PEOPLE)];
      const teams = (await list('/orgs/story/teams')) as { id: number; name: string }[];
      const team = random.pick(teams.filter(({ name }) => name !== 'Owners')).id;
      const role = await idIn(`/authz/roles${query}`);
      const assignment = await idIn(`/authz/assignments${query}`);
      const rule = await idIn(`/authz/guardrails${query}`);
      const end = random.chance(0.4) ? { expires_at: new Date(Date.now() + 3_600_000).toISOString() } : {};
      const member = `/teams/${team}/members/${user}`;
      const to = random.pick([
        { type: 'user', name: user },
        { type: 'team', id: team },
      ]);
      const on = random.pick([
        {},
        { on: { type: 'cluster', name: 'prod' } },
        { on: { type: 'cluster', name: 'prod' }, namespaces: ['web', 'shop-*'] },
        { on: { type: 'cluster_set', name: 'eu' } },
        { on: { type: 'team', id: team } },
      ]);
      const reason = random.pick([{}, { reason: 'on call' }]);
      const roleBody = { name: random.pick(ROLES), permissions: random.some(PAIRS, 0.5), teamIDs: [team] };
      const choices: [string, () => Promise<{ readonly status: number }>][] = [
        ['join', () => ann('PUT', member, end)],
        ['join-again', () => ann('PUT', member, { expires_at: null })],
        ['leave', () => ann('DELETE', member)],
        ['team', () => ann('POST', '/orgs/story/teams', { name: random.pick(TEAMS), permission: 'read' })],
        ['rename', () => ann('PATCH', `/teams/${team}`, { name: random.pick(TEAMS), description: 'renamed' })],
        ['remove-team', () => ann('DELETE', `/teams/${team}`)],
        ['role', () => ann('POST', `/authz/roles${query}`, roleBody)],
        ['change-role', () => ann('PUT', `/authz/roles/${role}${query}`, roleBody)],
        ['remove-role', () => ann('DELETE', `/authz/roles/${role}${query}`)],
        ['role-of-team', () => ann('PUT', `/teams/${team}/roles/${role}`, end)],
        [
          'assign',
          () => ann('POST', `/authz/assignments${query}`, { role: { id: role }, to, ...on, ...end, ...reason }),
        ],
        ['reassign', () => ann('PATCH', `/authz/assignments/${assignment}${query}`, { expires_at: null, reason: 'x' })],
        ['unassign', () => ann('DELETE', `/authz/assignments/${assignment}${query}`)],
        ['remove-rule', () => ann('DELETE', `/authz/guardrails/${rule}${query}`)],
        ['file', () => ann('PUT', '/orgs/story/file', randomFile())],
        ['prune', () => ann('PUT', '/orgs/story/file', randomFile(true))],
        ['end', () => letEnd(team, user)],
      ];
      const [name, make] = random.pick(choices);
      const { status } = await make();
      assert.ok(status < 500, `${name} ${status}`);
      return `${status} ${name} ${JSON.stringify({ team, role, assignment, rule, user, to, on })}`;
    }

    /** A membership ends by itself. On a slow machine, the end may have passed before the server reads it. */
    async function letEnd(team: number, user: string) {
      const end = new Date(Date.now() + 250);
      const given = await ann('PUT', `/teams/${team}/members/${user}`, { expires_at: end.toISOString() });
      while (Date.now() <= end.getTime()) await breath();
      // The first question about the present makes a server notice.
      const left = await ann('GET', `/teams/${team}/members/${user}`);
      if (given.status < 300) assert.equal(left.status, 404, 'the membership has ended');
      return given;
    }

    function randomFile(prune = false): object {
      const part = (items: readonly object[]) => (prune ? { prune: true, items } : items);
      const teams = random.some(TEAMS, 0.6).map((name) => ({
        ...{ name, permission: random.pick(['none', 'read']), members: random.some(PEOPLE, 0.5) },
      }));
      const roles = random.some(ROLES, 0.6).map((name) => ({
        ...{ name, permissions: { cluster_mgmt: ['view clusters', ...random.some(['remove clusters'], 0.5)] } },
        teams: random.some(['Viewers', ...teams.map((team) => team.name)], 0.4),
      }));
      const expiring = random.chance(0.5) ? { expires_at: '2030-12-01T18:00:00.000Z' } : {};
      const assignments = roles.flatMap(({ name: role }) => [
        { role, to: { robot: 'deploy' }, on: { cluster: random.pick(['prod', 'test']) }, ...expiring },
        { role, to: { user: 'bob' }, on: { cluster: 'test' }, namespaces: random.pick([['a'], ['a', 'b-*']]) },
      ]);
      const object = { type: 'organization' };
      const guardrails = random.some(RULES, 0.6).map((name) => ({
        ...{ name, description: random.pick(['', 'why']), enforce: false },
        ...random.pick([
          { never: { users: ['dan'], robots: ['deploy'], relation: 'can_delete', object } },
          { never: { team: 'Viewers', relation: 'can_edit', object } },
          { at_least: { count: 1, relation: 'can_edit', object } },
        ]),
      }));
      const viewers = { name: 'Viewers', members: PEOPLE };
      return {
        ...{ apiVersion: 'atrium/v1', kind: 'Organization', organization: 'story' },
        ...{ teams: part([viewers, ...teams]), roles: part(roles) },
        ...{ assignments: part(assignments), guardrails: part(guardrails) },
      };
    }

    it('An export of the past has as_of and the headers of the past, no ETag, and cannot be applied', async () => {
      await found('plain');
      const at = await now();
      await done('POST', '/orgs/plain/teams', { name: 'later', permission: 'none' });
      const answer = await done('GET', `/orgs/plain/file?format=json&at=${at}`);
      assert.deepEqual(Object.keys(answer.body), [
        ...['apiVersion', 'kind', 'organization', 'as_of', 'teams', 'roles', 'assignments', 'guardrails'],
      ]);
      assert.equal(answer.headers.get('x-as-of'), at);
      assert.equal(answer.headers.get('x-changed-since'), '1');
      assert.equal(answer.headers.get('etag'), null);
      const { text } = await done('GET', `/orgs/plain/file?at=${at}&sections=teams`);
      assert.match(text, new RegExp(`^as_of: .*${at}`, 'm'));
      assert.doesNotMatch(text, /later|roles/);
      for (const [method, path] of [
        ['PUT', '/orgs/plain/file'],
        ['POST', '/orgs/plain/plan'],
      ] as const) {
        const refused = await ann(method, path, answer.body);
        assert.equal(refused.status, 422, refused.text);
        assert.match(refused.body.message, /^as_of is that of a past moment/);
      }
    });

    it('An export of the past is for those who may export now and view the audit log', async () => {
      const at = await now();
      const words = ['edit', 'view teams', 'view members', 'view roles', 'view audit log'];
      const rest = [clusterPermission('view clusters'), { namespace: 'robot_mgmt', action: 'view robot accounts' }];
      const permissions = [...words.map(orgPermission), ...rest];
      const asked = async (without: string) => {
        const { name } = await makeHolder(
          atrium,
          permissions.filter(({ action }) => action !== without),
        );
        const answer = await atrium.as(name)('GET', `/orgs/acme/file?at=${at}`);
        return `${answer.status} ${answer.body?.message ?? ''}`;
      };
      assert.match(await asked('nothing'), /^200/);
      assert.equal(await asked('view audit log'), '403 missing relation can_view_audit_log');
      assert.match(await asked('edit'), /^403 missing relation edit:org/);
      assert.match(await asked('view roles'), /^403 missing relation view_roles:org/);
    });

    it('What a request or a provider gave is not in an export of the past, whether it is there now or not', async () => {
      const place = await openRequestPlace(atrium);
      const { org, crew, dan, call } = place;
      const { db, revisions, quotas } = atrium.instance;
      const teams = async (query = '') =>
        (await call('GET', `/orgs/${org.name}/file?format=json&sections=${SECTIONS}${query}`)).body;
      const groups = createGroupSyncStore(db, revisions.write, quotas);
      const sync = async (accountId: bigint, teamIds: readonly bigint[]) => {
        const plan = { provider: 'okta', accountId, teamIds, removalsOnly: false };
        await groups.apply(plan, { ...SERVER, name: 'provider okta' });
      };
      const { id } = await place.ask();
      const approved = await place.approve(id);
      await sync(place.lead.id, [BigInt(crew)]);
      const before = await teams();
      const at = await now();
      const told = JSON.stringify(before);
      assert.doesNotMatch(told, /INC-1/, 'granted by a request');
      assert.deepEqual((await teams(`&at=${at}`)).assignments, before.assignments);
      await sync(place.lead.id, []);
      const [assignment] = approved.body.grants?.assignment_ids ?? approved.body.assignment_ids ?? [];
      assert.equal((await call('DELETE', place.at(assignment))).status, 204);
      assert.equal((await call('DELETE', `/teams/${crew}/members/${dan.name}`)).status, 204);
      const { as_of: _, ...then } = await teams(`&at=${at}`);
      assert.deepEqual(then, before);
    });

    it('Whether SCIM managed a team is told or the moment is rejected', async () => {
      const scim = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
      const group = { schemas: [GROUP], displayName: 'crew', externalId: 'g-1' };
      const early = await now();
      const made = await scim('POST', '/Groups', group);
      assert.equal(made.status, 201, made.text);
      const later = await now();
      const managed = await exported('acme');
      assert.deepEqual(
        managed.teams.find((team: { name: string }) => team.name === 'crew'),
        { name: 'crew', permission: 'none', managed_by: 'scim' },
      );
      assert.equal((await scim('DELETE', `/Groups/${made.body.id}`)).status, 204);
      const { as_of: _, ...then } = await exported('acme', `&at=${later}`);
      assert.deepEqual(then, managed);
      assert.doesNotMatch(JSON.stringify(await exported('acme', `&at=${early}`)), /crew/);
      const plain = await done('POST', '/orgs/acme/teams', { name: 'plain', permission: 'none' });
      const between = await now();
      const taken = patch({ op: 'replace', path: 'externalId', value: 'g-2' });
      const connected = await scim('PATCH', `/Groups/${plain.body.id}`, taken);
      assert.ok(connected.status < 300, connected.text);
      const refused = await ann('GET', `/orgs/acme/file?at=${between}`);
      assert.equal(refused.body.reason, 'history_incomplete', refused.text);
      assert.match(refused.body.message, /whether SCIM managed the team plain/);
    });

    it('Moments, sections and histories that cannot be answered are rejected', async () => {
      const early = await now();
      await found('short');
      const team = await done('POST', '/orgs/short/teams', { name: 'gone', permission: 'none' });
      const kept = await now();
      await done('DELETE', `/teams/${team.body.id}`);
      const rejected = async (query: string, status: number, reason: string) => {
        const answer = await ann('GET', `/orgs/short/file?${query}`);
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.body.reason, reason, answer.text);
      };
      await rejected(`at=${early}`, 400, 'before_audit_log');
      await rejected('at=2999-01-01T00:00:00Z', 400, 'moment_in_future');
      await rejected(`at=${kept}&sections=teams,robots`, 422, 'validation_failed');
      assert.equal((await ann('GET', `/orgs/short/file?at=${kept}`)).status, 200);
      await atrium.instance.db.query(OLD_ENTRY, [team.body.id]);
      await rejected(`at=${kept}`, 400, 'history_incomplete');
    });
  });
