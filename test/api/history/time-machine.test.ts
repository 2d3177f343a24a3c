import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { allTuples } from '../../../src/changes/tuple-lines.store.ts';
import { sql } from '../../../src/db/db.ts';
import { stateOf, tuplesOf } from '../../../src/history/past-state.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, makeRole, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

const STORES = sql('test.tupleStores', 'select distinct store from tuple where store <> 0 order by 1');
const AGE = sql('test.teamAge', `update team set created_at = now() + interval '1 hour' where id = $1`);
const YEAR_MS = 365 * 86_400_000;

interface Entry {
  readonly action: string;
  readonly actor: { readonly name: string };
  readonly object: { readonly type: string; readonly name: string };
  readonly user?: { readonly name: string };
}

describe('The time machine', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  /** A moment that everything so far is before, and everything from now on is after. */
  async function moment(): Promise<string> {
    const at = Date.now() + 1;
    while (Date.now() <= at) await breath();
    return new Date(at).toISOString();
  }
  const why = (who: string, relation: string, object: string, rest = '') =>
    atrium.as(who)('GET', `/authz/objects/${object.replace(':', '/')}/explain?org=acme&relation=${relation}${rest}`);
  const who = (asker: string, relation: string, object: string, rest = '') =>
    atrium.as(asker)(
      'GET',
      `/authz/objects/${object.replace(':', '/')}/principals?org=acme&relation=${relation}${rest}`,
    );
  const namesOf = (body: readonly { name: string }[]) => body.map(({ name }) => name);
  const done = async (call: ReturnType<typeof who>) => {
    const answer = await call;
    assert.ok(answer.status >= 200 && answer.status < 300, answer.text);
    return answer;
  };

  it('The rules that give rows their tuples are those of the view', async () => {
    const { db } = atrium.instance;
    for (const { store } of await db.query<{ store: bigint }>(STORES)) {
      const tuples = [...(await allTuples(db.query, store)).tuples];
      const isOrganization = tuples.some(({ relation }) => relation === 'platform');
      const again = tuplesOf(stateOf(store, isOrganization ? 'organization' : 'owner', tuples));
      const lines = (all: Iterable<object>) => [...all].map((one) => JSON.stringify(one)).sort();
      assert.deepEqual(
        lines(again),
        lines(
          tuples
            // Nothing changes these.
            .filter(({ source }) => !source.startsWith('account:') && source !== 'platform:1')
            .map(({ object, relation, user, source }) => ({ object, relation, user, source })),
        ),
      );
    }
  });

  it('Explain answers as of a past moment, says whether it is so now, and what has changed since', async () => {
    const prod = `cluster:${id.cluster('prod')}`;
    const at = await moment();
    await done(atrium.as('ann')('DELETE', `/teams/${id.team('operators')}/members/dan`));
    const { body, headers } = await done(why('ann', 'can_connect', prod, `&user=dan&at=${at}`));
    assert.deepEqual([body.allowed, body.allowed_now, body.at], [true, false, at]);
    assert.match(body.sentence, /^dan could connect to prod/);
    assert.equal(body.changed_since.total, 1);
    const [entry] = body.changed_since.entries as Entry[];
    assert.deepEqual(
      [entry?.action, entry?.actor.name, entry?.object.name, entry?.user?.name],
      ['team.remove_member', 'ann', 'operators', 'dan'],
    );
    assert.deepEqual([headers.get('x-as-of'), headers.get('x-changed-since')], [at, '1']);
    const now = await done(why('ann', 'can_connect', prod, '&user=dan'));
    assert.deepEqual([now.body.allowed, 'at' in now.body, now.headers.get('x-as-of')], [false, false, null]);
    await done(atrium.as('ann')('PUT', `/teams/${id.team('operators')}/members/dan`));
  });

  it('Principals, roles, one role and the export are as they were, also of what has been deleted since', async () => {
    const ann = atrium.as('ann');
    const team = (await done(ann('POST', '/orgs/acme/teams', { name: 'night shift', permission: 'none' }))).body.id;
    await done(ann('PUT', `/teams/${team}/members/eve`));
    const permissions = [clusterPermission('reconfigure clusters')];
    const role = (await makeRole(atrium, { name: 'night', permissions, teamIDs: [team] })).body.id;
    const cluster = (await done(ann('POST', '/orgs/acme/clusters', { name: 'gone', uid: crypto.randomUUID() }))).body
      .id;
    const at = await moment();
    await done(ann('DELETE', `/teams/${team}`));
    await done(ann('PUT', `/authz/roles/${role}?org=acme`, { name: 'day', permissions: [] }));
    await done(ann('DELETE', `/authz/roles/${role}?org=acme`));
    await done(ann('DELETE', `/clusters/${cluster}`));

    const then = await done(who('ann', 'can_edit', `cluster:${cluster}`, `&at=${at}`));
    assert.deepEqual(namesOf(then.body).sort(), ['ann', 'bob', 'eve', 'root']);
    assert.equal(then.headers.get('x-changed-since'), '4');
    assert.deepEqual((await done(who('ann', 'can_edit', `cluster:${cluster}`))).body, []);
    const reason = await done(why('ann', 'can_edit', `cluster:${cluster}`, `&user=eve&at=${at}`));
    assert.match(reason.body.sentence, /eve could edit gone .*night shift/s);

    const listed = await done(ann('GET', `/authz/roles?org=acme&at=${at}`));
    const found = listed.body.find((one: { id: number }) => one.id === role);
    assert.deepEqual([found.name, found.permissions, found.team_ids], ['night', permissions, [team]]);
    const single = await done(ann('GET', `/authz/roles/${role}?org=acme&at=${at}`));
    assert.deepEqual([single.body, single.headers.get('etag')], [found, null]);
    assert.equal((await ann('GET', `/authz/roles/${role}?org=acme`)).status, 403, 'it does not exist now');
    const exported = await done(ann('GET', `/authz/roles/export?org=acme&format=yaml&at=${at}`));
    assert.match(exported.text, /- name: night\n.*\n {4}permissions:\n {6}cluster_mgmt: .*\n {4}teams: .*night shift/);
    assert.equal(exported.headers.get('x-as-of'), at);
    const missing = await ann('GET', `/authz/roles/999999999?org=acme&at=${at}`);
    assert.deepEqual([missing.status, missing.body.reason], [404, 'role_not_found']);
  });

  it('The matrix and the access of a person are as they were, also on what has been deleted since', async () => {
    const owner = atrium.as('ann');
    const made = await done(owner('POST', '/orgs/acme/clusters', { name: 'brief', uid: crypto.randomUUID() }));
    const team = await done(owner('POST', '/orgs/acme/teams', { name: 'passing', permission: 'write' }));
    await done(owner('PUT', `/teams/${team.body.id}/members/cat`));
    const at = await moment();
    await done(owner('DELETE', `/clusters/${made.body.id}`));
    await done(owner('DELETE', `/teams/${team.body.id}`));
    const asked = { type: 'cluster', users: ['cat'], relations: ['can_edit'] };
    const now = await done(owner('POST', '/authz/matrix?org=acme', asked));
    assert.ok(!namesOf(now.body.objects).includes('brief') && now.body.cells[0].every((cell: number) => cell === 0));
    const { body, headers } = await done(owner('POST', `/authz/matrix?org=acme&at=${at}`, asked));
    const index = namesOf(body.objects).indexOf('brief');
    assert.deepEqual([body.cells[0][index], body.changed_since.total], [1, 2]);
    assert.deepEqual([headers.get('x-as-of'), headers.get('x-changed-since')], [at, '2']);
    const all = { type: 'cluster', team: team.body.id };
    assert.deepEqual(namesOf((await done(owner('POST', `/authz/matrix?org=acme&at=${at}`, all))).body.users), ['cat']);
    assert.equal((await owner('POST', '/authz/matrix?org=acme', all)).status, 400);

    const access = `/authz/users/cat/access?org=acme&type=cluster`;
    const then = await done(owner('GET', `${access}&at=${at}`));
    assert.ok(namesOf(then.body.teams).includes('passing') && then.body.changed_since.total === 2);
    const groups: { relations: string[]; objects: { name: string }[] }[] = then.body.types[0].groups;
    const brief = groups.find(({ objects }) => namesOf(objects).includes('brief'));
    assert.ok(brief?.relations.includes('can_edit'), then.text);
    assert.ok(!(await done(owner('GET', access))).text.includes('can_edit'));
    // Every member may ask about themselves, and only readers of the audit log about others, or what has changed.
    const own = await done(atrium.as('cat')('GET', `${access}&at=${at}`));
    assert.deepEqual([own.body.teams.length, own.body.changed_since], [then.body.teams.length, undefined]);
    for (const answer of [
      await atrium.as('cat')('GET', `/authz/users/ann/access?org=acme&at=${at}`),
      await atrium.as('cat')('POST', `/authz/matrix?org=acme&at=${at}`, asked),
    ]) {
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.text, /can_view_audit_log|view audit log/);
    }
    for (const path of [`/authz/users/cat/access?org=acme`, '/authz/matrix?org=acme']) {
      const early = await owner(
        path.includes('matrix') ? 'POST' : 'GET',
        `${path}&at=2020-01-01T00:00:00Z`,
        path.includes('matrix') ? asked : undefined,
      );
      assert.deepEqual([early.status, early.body.reason], [400, 'before_audit_log'], early.text);
    }
  });

  it('About something that did not exist yet, the answer says so', async () => {
    const at = await moment();
    const cluster = { name: 'newborn', uid: crypto.randomUUID() };
    const { body: made } = await done(atrium.as('ann')('POST', '/orgs/acme/clusters', cluster));
    const { body } = await done(why('ann', 'can_edit', `cluster:${made.id}`, `&at=${at}`));
    assert.deepEqual([body.allowed, body.allowed_now, body.missing], [false, true, []]);
    assert.equal(body.sentence, 'newborn did not exist at that moment');
    assert.deepEqual((await done(who('ann', 'can_edit', `cluster:${made.id}`, `&at=${at}`))).body, []);
    const never = await done(why('ann', 'can_edit', 'cluster:999999', `&at=${at}`));
    const now = await done(why('ann', 'can_edit', 'cluster:999999'));
    assert.equal(never.body.sentence.replace('could not', 'cannot'), now.body.sentence);
    assert.deepEqual([never.body.missing, never.body.found], [now.body.missing, false]);
  });

  it('A user who has been deleted since is known by the name of then', async () => {
    const { name } = await makePerson(atrium);
    await done(atrium.as('ann')('PUT', `/teams/${id.team('Editors')}/members/${name}`));
    const at = await moment();
    await done(atrium.as('root')('DELETE', `/admin/users/${name}`));
    const prod = `cluster:${id.cluster('prod')}`;
    assert.ok(namesOf((await done(who('ann', 'can_edit', prod, `&at=${at}`))).body).includes(name));
    const { body } = await done(why('ann', 'can_edit', prod, `&user=${name}&at=${at}`));
    assert.deepEqual([body.allowed, body.allowed_now], [true, false]);
    assert.match(body.sentence, new RegExp(`^${name} could edit prod`));
    const nobody = await why('ann', 'can_edit', prod, `&user=nobody-at-all&at=${at}`);
    assert.deepEqual([nobody.status, nobody.body.reason], [404, 'user_not_found']);
  });

  it('Site administrators are those of then, and only they are told who became one', async () => {
    const { name } = await makePerson(atrium);
    const at = await moment();
    await done(atrium.as('root')('PATCH', `/admin/users/${name}`, { admin: true }));
    const acme = `organization:${id.org('acme')}`;
    const { body } = await done(why('root', 'can_delete', acme, `&user=${name}&at=${at}`));
    assert.deepEqual([body.allowed, body.allowed_now], [false, true]);
    assert.deepEqual(
      body.changed_since.entries.map((entry: Entry) => [entry.action, entry.object.name]),
      [['user.update', name]],
    );
    const told = await done(why('ann', 'can_delete', acme, `&user=${name}&at=${at}`));
    assert.deepEqual([told.body.allowed, told.body.changed_since], [false, { total: 0, entries: [] }]);
    await done(atrium.as('root')('PATCH', `/admin/users/${name}`, { admin: false }));
    const later = await moment();
    assert.equal((await done(why('root', 'can_delete', acme, `&user=${name}&at=${later}`))).body.allowed, false);
  });

  it('What users own themselves is as it was, too', async () => {
    const eve = atrium.as('ann');
    const at = await moment();
    const { id: own } = (await done(eve('POST', '/user/clusters', { name: 'desk', uid: crypto.randomUUID() }))).body;
    const later = await moment();
    await done(eve('DELETE', `/clusters/${own}`));
    const allowed = async (when: string) =>
      (await done(why('ann', 'can_connect', `cluster:${own}`, `&at=${when}`))).body.allowed;
    assert.deepEqual([await allowed(at), await allowed(later)], [false, true]);
  });

  it('Whoever asks is judged by what they may see now, not then', async () => {
    const { name } = await makePerson(atrium);
    const staging = `cluster:${id.cluster('staging')}`;
    const at = await moment();
    await done(atrium.as('ann')('PUT', `/teams/${id.team('Owners')}/members/${name}`));
    const asked = await done(why(name, 'can_edit', staging, `&user=bob&at=${at}`));
    assert.equal(asked.body.allowed, true, 'was not even a member then');
    assert.ok(namesOf((await done(who(name, 'can_edit', staging, `&at=${at}`))).body).includes('bob'));
    const own = await done(why(name, 'can_edit', staging, `&at=${at}`));
    assert.deepEqual([own.body.allowed, own.body.allowed_now], [false, true]);
    const member = await moment();
    await done(atrium.as('ann')('DELETE', `/orgs/acme/members/${name}`));
    for (const path of [`/authz/roles?org=acme&at=${member}`, `/authz/changes?org=acme&since=${member}`]) {
      const answer = await atrium.as(name)('GET', path);
      assert.ok([403, 404].includes(answer.status), `${path}: ${answer.status}`);
    }
    assert.ok([403, 404].includes((await who(name, 'can_edit', staging, `&at=${member}`)).status));
    assert.ok([403, 404].includes((await why(name, 'can_edit', staging, `&user=bob&at=${member}`)).status));
  });

  it('The past of others is for readers of the audit log, and everybody may ask about themselves', async () => {
    const at = await moment();
    const prod = `cluster:${id.cluster('prod')}`;
    const refused = [
      why('bob', 'can_edit', prod, `&user=ann&at=${at}`),
      who('bob', 'can_edit', prod, `&at=${at}`),
      atrium.as('bob')('GET', `/authz/roles?org=acme&at=${at}`),
      atrium.as('bob')('GET', `/authz/roles/${id.role('cluster-operator')}?org=acme&at=${at}`),
      atrium.as('bob')('GET', `/authz/roles/export?org=acme&at=${at}`),
      atrium.as('bob')('GET', `/authz/changes?org=acme&since=${at}`),
    ];
    for (const answer of await Promise.all(refused)) {
      assert.deepEqual([answer.status, answer.body.reason], [403, 'missing_relation'], answer.text);
      assert.match(answer.text, /view_audit_log/);
    }
    const { body, headers } = await done(why('bob', 'can_edit', prod, `&at=${at}`));
    assert.deepEqual([body.allowed, body.allowed_now, body.changed_since], [true, true, undefined]);
    assert.deepEqual([headers.get('x-as-of'), headers.get('x-changed-since')], [at, null]);
    const auditor = await makeHolder(atrium, [orgPermission('view audit log'), orgPermission('view members')]);
    const asked = await done(why(auditor.name, 'can_edit', prod, `&user=bob&at=${at}`));
    assert.equal(asked.body.allowed, false, 'an auditor who may not see clusters does not see this one');
    assert.deepEqual(asked.body.steps, []);
  });

  it('The past of an organization is for its members, and strangers cannot tell it from one that does not exist', async () => {
    const secret = await makeOrganization(atrium, 'bob');
    const path = (org: string, object: string, at: string) =>
      `/authz/objects/${object}/explain?org=${org}&relation=can_view&at=${at}`;
    const at = await moment();
    const objects = [`organization/${secret.id}`, 'organization/1', 'organization/99999999', 'team/1', 'cluster/1'];
    // The first request is not remembered, and the second one is.
    for (const object of [...objects, ...objects]) {
      for (const when of ['2026-01-01T00:00:00Z', at, '']) {
        const there = await atrium.as('eve')('GET', path(secret.name, object, when));
        const nowhere = await atrium.as('eve')('GET', path('no-such-organization', object, when));
        assert.deepEqual([there.status, there.body], [403, nowhere.body], `${object} ${when}`);
      }
    }
    assert.equal((await atrium.as('eve')('GET', path(secret.name, 'team/1', '').replace('&at=', ''))).status, 200);
  });

  it('About organizations other than the one that is asked, the past knows nothing', async () => {
    const at = await moment();
    for (const other of ['1', '2', '99999999', String((await makeOrganization(atrium, 'bob')).id)]) {
      const { body } = await done(why('ann', 'can_view', `organization:${other}`, `&at=${at}`));
      const isSame = other === String(atrium.world.orgs.acme?.id);
      assert.equal(body.allowed, isSame, other);
      await done(who('ann', 'can_view', `organization:${other}`, `&at=${at}`));
    }
    const { id: acme = 0n } = atrium.world.orgs.acme ?? {};
    const own = await done(why('ann', 'can_view', `organization:${acme}`, `&at=${at}`));
    assert.equal(own.body.allowed, true);
    const body = { type: 'organization', ids: ['1', '99999999', String(acme)] };
    const matrix = await atrium.as('ann')('POST', `/authz/matrix?org=acme&at=${at}`, body);
    assert.ok(matrix.status < 500, matrix.text);
  });

  it('The list of changes says what happened, newest first, and since when it is known', async () => {
    const at = await moment();
    const { body: role } = await makeRole(atrium, { name: 'listed' });
    await done(atrium.as('ann')('DELETE', `/authz/roles/${role.id}?org=acme`));
    const { body } = await done(atrium.as('ann')('GET', `/authz/changes?org=acme&since=${at}`));
    const entries = body.entries.map((entry: Entry) => [entry.action, entry.object.name, entry.user]);
    assert.deepEqual(entries, [
      ['role.delete', 'listed', undefined],
      ['role.create', 'listed', undefined],
    ]);
    assert.deepEqual([body.total, body.since], [2, at]);
    assert.ok(Date.parse(body.begins_at) < Date.parse(at));
    const earliest = await why('ann', 'can_edit', `organization:${id.org('acme')}`, `&at=${body.begins_at}`);
    assert.equal(earliest.status, 200, earliest.text);
  });

  it('Moments that cannot be answered are rejected in words', async () => {
    const prod = `cluster:${id.cluster('prod')}`;
    const REFUSED: readonly [string, string, RegExp][] = [
      [new Date(Date.now() - YEAR_MS).toISOString(), 'before_audit_log', /begins at \d{4}-.*; at must not be earlier$/],
      [new Date(Date.now() + YEAR_MS).toISOString(), 'moment_in_future', /at must not be in the future/],
      ['yesterday', 'invalid_request', /at must be an RFC 3339 time/],
      ['2026-02-30T10:00:00Z', 'invalid_request', /at must be an RFC 3339 time/],
      ['2026-11-03', 'invalid_request', /at must be an RFC 3339 time/],
      ['', 'invalid_request', /at must be an RFC 3339 time/],
    ];
    for (const [at, reason, message] of REFUSED) {
      for (const path of [
        `/authz/objects/cluster/${id.cluster('prod')}/explain?org=acme&relation=can_edit&at=${at}`,
        `/authz/objects/cluster/${id.cluster('prod')}/principals?org=acme&relation=can_edit&at=${at}`,
        `/authz/roles?org=acme&at=${at}`,
        `/authz/roles/${id.role('cluster-operator')}?org=acme&at=${at}`,
        `/authz/roles/export?org=acme&at=${at}`,
      ]) {
        const answer = await atrium.as('ann')('GET', path);
        assert.deepEqual([answer.status, answer.body.reason], [400, reason], `${path}: ${answer.text}`);
        assert.match(answer.body.message, message);
      }
    }
    const offset = (await moment()).replace('Z', '+00:00');
    assert.equal((await why('ann', 'can_edit', prod, `&at=${offset}`)).status, 200, 'an unescaped plus');
    assert.equal(
      (await why('ann', 'can_fly', prod, `&at=${encodeURIComponent(offset)}`)).body.reason,
      'unknown_relation',
    );
  });

  it('Moments before something that was made without an entry are rejected, naming it', async () => {
    const org = await makeOrganization(atrium, 'eve');
    const path = `/authz/roles?org=${org.name}`;
    const empty = await atrium.as('eve')('GET', `${path}&at=${await moment()}`);
    assert.deepEqual([empty.status, empty.body.reason], [400, 'before_audit_log']);
    assert.match(empty.body.message, /is empty/);
    await done(atrium.as('eve')('POST', `/orgs/${org.name}/teams`, { name: 'first', permission: 'read' }));
    const at = await moment();
    await done(atrium.as('eve')('GET', `${path}&at=${at}`));
    await atrium.instance.db.query(AGE, [org.team('Editors')]);
    const refused = await atrium.as('eve')('GET', `${path}&at=${at}`);
    assert.deepEqual([refused.status, refused.body.reason], [400, 'history_incomplete']);
    assert.match(refused.body.message, new RegExp(`team:${org.team('Editors')} was made without an entry`));
  });
});
