import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FilePlace, openFilePlace } from '../../support/world/assignment-file.ts';
import { assign } from '../../support/world/assignments.ts';
import { inHours } from '../../support/world/expiry.ts';

const REQUESTED = sql('test.requested', `update assignment set request_id = 'r1' where id = $1`);

for (const driver of API_DRIVERS) {
  describe(`Assignments in role files on ${driver}`, () => {
    let atrium: TestServer;
    let place: FilePlace;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());
    const fresh = async () => {
      place = await openFilePlace(atrium);
      return place;
    };
    const entries = (audit: Awaited<ReturnType<typeof auditOf>>) =>
      audit.map(({ action }) => action).filter((action) => action.startsWith('assignment.'));

    it(`A file creates assignments of every kind, and its own export changes nothing on ${driver}`, async () => {
      const { fileOf, brought, exported, bring, call, dan, org, listed } = await fresh();
      const until = inHours(4);
      const contract = await call('POST', `/orgs/${org.name}/contracts`, { name: 'gold' });
      assert.equal(contract.status, 201, contract.text);
      const roles = [
        place.operatorEntry,
        { name: 'helper', permissions: { org_mgmt: ['view teams'], contract_mgmt: ['view contracts'] } },
        { name: 'keeper', permissions: { robot_mgmt: ['view robot accounts'] } },
      ];
      const file = fileOf(
        [
          {
            role: 'Cluster-Operator',
            to: { user: dan.name },
            on: { cluster: 'prod' },
            expires_at: until,
            reason: 'on call',
          },
          { role: 'cluster-operator', to: { robot: 'deploy' }, on: { cluster_set: 'new: set' } },
          { role: 'cluster-operator', to: { robot: 'deploy' } },
          { role: 'helper', to: { team: 'CREW' }, on: { team: 'Editors' } },
          { role: 'helper', to: { user: dan.name }, on: { contract: 'gold' } },
          { role: 'helper', to: { user: dan.name }, on: { organization: org.name } },
          { role: 'keeper', to: { team: 'crew' }, on: { robot: 'deploy' } },
        ],
        { roles },
      );
      const dry = await brought(file, '&dry_run=true');
      assert.deepEqual(await listed(), []);
      const done = await brought(file);
      assert.deepEqual(done, { ...dry, dry_run: false });
      assert.deepEqual(
        done.assignments.changes.map(({ assignment, kind }: { assignment: string; kind: string }) => [
          assignment,
          kind,
        ]),
        [
          ['cluster-operator to robot deploy on cluster set new: set', 'create'],
          ['cluster-operator to robot deploy on the organization', 'create'],
          [`cluster-operator to user ${dan.name} on cluster prod`, 'create'],
          ['helper to team crew on team Editors', 'create'],
          [`helper to user ${dan.name} on contract gold`, 'create'],
          [`helper to user ${dan.name} on the organization`, 'create'],
          ['keeper to team crew on robot deploy', 'create'],
        ],
      );
      assert.deepEqual(done.assignments.changes[2].words, [
        `expires at ${new Date(until).toISOString()}`,
        'reason "on call"',
      ]);
      assert.equal((await listed()).length, 7);
      assert.deepEqual(
        entries(await auditOf(atrium.instance.db, org.id)),
        Array.from({ length: 7 }, () => 'assignment.create'),
      );

      const { text, headers } = await exported();
      assert.match(
        text,
        /\nassignments:\n {2}- role: cluster-operator\n {4}to: \{robot: deploy\}\n {2}- role: cluster-operator\n {4}to: \{robot: deploy\}\n {4}on: \{cluster_set: "new: set"\}\n/,
      );
      assert.match(text, / {4}on: \{cluster: prod\}\n {4}expires_at: ".*Z"\n {4}reason: on call\n/);
      const count = (await auditOf(atrium.instance.db, org.id)).length;
      const again = await call('PUT', `/authz/roles/import?org=${org.name}&prune=true`, text, {
        'Content-Type': 'application/yaml',
        'If-Match': headers.get('etag') ?? '',
      });
      assert.equal(again.status, 200, again.text);
      assert.deepEqual(
        [again.body.changes, again.body.assignments],
        [[], { changes: [], unchanged: 7, unmanaged: [] }],
      );
      const json = await exported(call, '&format=json');
      assert.deepEqual((await brought(json.body)).assignments, { changes: [], unchanged: 7, unmanaged: [] });
      assert.equal((await auditOf(atrium.instance.db, org.id)).length, count);
      assert.equal((await bring(call, file)).body.assignments.unchanged, 7);
    });

    it(`A file without assignments changes none, and one with them prunes only if it is asked to on ${driver}`, async () => {
      const { fileOf, brought, dan, operator, listed, org, crew, exported, bring, call } = await fresh();
      const user = { type: 'user', id: Number(dan.id) };
      await assign(place, operator.id, user, { type: 'cluster', name: 'prod' });
      await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster_set', name: 'eu' });
      const asked = await assign(place, operator.id, user, { type: 'cluster', name: 'staging' });
      await atrium.instance.db.query(REQUESTED, [asked.id]);
      const { assignments: _, ...without } = fileOf([]);
      assert.equal((await brought(without, '&prune=true')).assignments, undefined);
      assert.equal((await listed()).length, 3);
      const words = [
        'cluster-operator to team crew on cluster set eu',
        `cluster-operator to user ${dan.name} on cluster prod`,
      ];
      assert.deepEqual((await brought(fileOf([]))).assignments, { changes: [], unchanged: 0, unmanaged: words });
      assert.equal((await listed()).length, 3);
      assert.doesNotMatch((await exported()).text, /staging/);
      const again = { role: 'cluster-operator', to: { user: dan.name }, on: { cluster: 'staging' } };
      const twice = await bring(call, fileOf([again]));
      assert.deepEqual([twice.status, twice.body.reason], [409, 'already_assigned'], twice.text);

      const kept = { role: 'cluster-operator', to: { team: 'crew' }, on: { cluster_set: 'eu' } };
      const pruned = await brought(fileOf([kept]), '&prune=true');
      assert.deepEqual(pruned.assignments, {
        changes: [{ assignment: words[1], kind: 'delete', words: [] }],
        unchanged: 1,
        unmanaged: [],
      });
      // What comes from an access request is never in a file, so no file takes it away.
      assert.equal((await listed()).length, 2);
      const [entry] = (await auditOf(atrium.instance.db, org.id)).filter(
        ({ action }) => action === 'assignment.delete',
      );
      assert.ok(entry);
    });

    it(`A file changes the end and the reason, and keeps what it leaves out on ${driver}`, async () => {
      const { fileOf, brought, dan, operator, listed, org } = await fresh();
      const user = { type: 'user', id: Number(dan.id) };
      const until = inHours(3);
      await assign(place, operator.id, user, { type: 'cluster', name: 'prod' }, { expires_at: until, reason: 'old' });
      const entry = { role: 'cluster-operator', to: { user: dan.name }, on: { cluster: 'prod' } };
      assert.equal((await brought(fileOf([entry]))).assignments.unchanged, 1);
      const named = (end: string, reason: string) => [
        `cluster-operator user ${dan.name} cluster prod ${end} ${reason}`,
      ];
      assert.deepEqual(await listed(), named(until, 'old'));
      const changed = await brought(fileOf([{ ...entry, reason: 'new' }]));
      assert.deepEqual(changed.assignments.changes[0].words, ['reason "old" → "new"']);
      assert.deepEqual(await listed(), named(until, 'new'));
      const open = await brought(fileOf([{ ...entry, expires_at: null }]));
      assert.deepEqual(open.assignments.changes[0].words, ['does not expire']);
      assert.deepEqual(await listed(), named('never', 'new'));
      // An entry whose end has passed is none.
      const past = await brought(fileOf([{ ...entry, expires_at: '2020-01-01T00:00:00Z' }]));
      assert.equal(past.assignments.unmanaged.length, 1);
      const gone = await brought(fileOf([{ ...entry, expires_at: '2020-01-01T00:00:00Z' }]), '&prune=true');
      assert.equal(gone.assignments.changes[0].kind, 'delete');
      assert.deepEqual(await listed(), []);
      assert.deepEqual(entries(await auditOf(atrium.instance.db, org.id)), [
        'assignment.create',
        'assignment.update',
        'assignment.update',
        'assignment.delete',
      ]);
    });

    it(`A role that the file deletes ends what is assigned of it, and takes no assignments on ${driver}`, async () => {
      const { fileOf, brought, bring, call, dan, operator, listed } = await fresh();
      const user = { type: 'user', id: Number(dan.id) };
      await assign(place, operator.id, user, { type: 'cluster', name: 'prod' });
      const entry = { role: 'cluster-operator', to: { user: dan.name }, on: { cluster: 'prod' } };
      const kept = await brought(fileOf([entry], { roles: [] }));
      assert.equal(kept.assignments.unchanged, 1);
      const answer = await bring(call, fileOf([entry], { roles: [] }), '&prune=true');
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, /^assignments\[0\]\.role: no role is called "cluster-operator"$/);
      const pruned = await brought(fileOf([], { roles: [] }), '&prune=true');
      assert.deepEqual(pruned.assignments, { changes: [], unchanged: 0, unmanaged: [] });
      assert.deepEqual(await listed(), []);
    });

    it(`Contracts of the same name are told apart by their ID on ${driver}`, async () => {
      const { fileOf, brought, bring, call, dan, org, exported } = await fresh();
      const contract = async () => {
        const made = await call('POST', `/orgs/${org.name}/contracts`, { name: 'gold' });
        assert.equal(made.status, 201, made.text);
        return made.body.id as number;
      };
      const one = await contract();
      const roles = [{ name: 'reader', permissions: { contract_mgmt: ['view contracts'] } }];
      const entry = (gold: unknown) => ({ role: 'reader', to: { user: dan.name }, on: { contract: gold } });
      await brought(fileOf([entry('gold')], { roles }));
      const two = await contract();
      const answer = await bring(call, fileOf([entry('gold')], { roles }));
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, /more than one contract is called "gold": use the ID as a number/);
      const both = await brought(fileOf([entry(one), entry(two)], { roles }));
      assert.deepEqual([both.assignments.unchanged, both.assignments.changes.length], [1, 1]);
      const { text } = await exported();
      assert.match(text, new RegExp(`on: \\{contract: ${one}\\}[^]*on: \\{contract: ${two}\\}`));
      const again = await call('PUT', `/authz/roles/import?org=${org.name}`, text, {
        'Content-Type': 'application/yaml',
      });
      assert.equal(again.body.assignments.unchanged, 2, again.text);
    });

    it(`Files and single calls in the same moment leave each assignment once, and fail in no other way on ${driver}`, async () => {
      const { fileOf, bring, call, dan, path, listed, prod, crew, org } = await fresh();
      const body = { role: { name: 'cluster-operator' }, to: { type: 'user', name: dan.name } };
      const entry = { role: 'cluster-operator', to: { user: dan.name } };
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, place) => [
          bring(
            call,
            fileOf([
              { ...entry, on: { cluster: 'prod' } },
              { ...entry, on: { cluster_set: `set ${place}` } },
            ]),
          ),
          bring(call, fileOf([{ ...entry, on: { cluster: 'prod' }, reason: `${place}` }]), '&prune=true'),
          call('POST', path, { ...body, on: { type: 'cluster', id: prod.id } }),
          call('POST', path, { ...body, on: { type: 'cluster_set', name: `set ${place}` } }),
          call(place % 2 ? 'PUT' : 'DELETE', `/teams/${crew}/members/${dan.name}`),
          call('PATCH', `/clusters/${prod.id}`, { clusterSetName: `set ${place}` }),
        ]).flat(),
      );
      for (const { status, text } of answers)
        assert.ok([200, 201, 204, 404, 409, 412, 422].includes(status), `${status} ${text}`);
      const now = await listed();
      assert.equal(new Set(now.map((line) => line.split(' never')[0])).size, now.length, now.join('\n'));
      const members = await call('GET', `/orgs/${org.name}/members`);
      const isMember = members.body.some(({ login }: { login: string }) => login === dan.name);
      if (!isMember) assert.deepEqual(now, []);
    });

    it(`The version of the file is another one after an assignment, and an old one is rejected on ${driver}`, async () => {
      const { fileOf, bring, call, dan, operator, exported } = await fresh();
      const etag = (await exported()).headers.get('etag') ?? '';
      await assign(place, operator.id, { type: 'user', id: Number(dan.id) }, { type: 'cluster', name: 'prod' });
      assert.notEqual((await exported()).headers.get('etag'), etag);
      const answer = await bring(call, fileOf([]), '', { 'If-Match': etag });
      assert.equal(answer.status, 412, answer.text);
    });
  });
}
