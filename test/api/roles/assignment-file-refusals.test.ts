import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FilePlace, openFilePlace } from '../../support/world/assignment-file.ts';
import { assign } from '../../support/world/assignments.ts';
import { inHours } from '../../support/world/expiry.ts';
import { addMember, makePerson } from '../../support/world/people.ts';

interface Bad {
  readonly name: string;
  /** Instead of the fields of a good entry. An undefined field is left out. */
  readonly entry?: object;
  readonly assignments?: unknown;
  readonly status?: number;
  readonly reason?: string;
  readonly message: RegExp;
}

const TABLE: readonly Bad[] = [
  { name: 'assignments that are not a list', assignments: { a: 1 }, message: /^assignments must be a list$/ },
  { name: 'an entry that is a text', assignments: ['x'], message: /^assignments\[0\] must be an assignment with role/ },
  { name: 'an unknown field', entry: { until: 'x' }, message: /^assignments\[0\]\.until is not a known field/ },
  { name: 'a prune field', entry: { prune: true }, message: /^assignments\[0\]\.prune is not a known field/ },
  { name: 'no role', entry: { role: undefined }, message: /^assignments\[0\]\.role is required$/ },
  { name: 'a role that is a number', entry: { role: 7 }, message: /^assignments\[0\]\.role must be a string$/ },
  { name: 'an unknown role', entry: { role: 'none' }, message: /^assignments\[0\]\.role: no role is called "none"$/ },
  { name: 'no to', entry: { to: undefined }, message: /^assignments\[0\]\.to is required: it must have one of user, / },
  {
    name: 'a to that is null',
    entry: { to: null },
    message: /^assignments\[0\]\.to must have one of user, team, robot/,
  },
  { name: 'a to that is a text', entry: { to: 'dan' }, message: /^assignments\[0\]\.to must have one of/ },
  { name: 'an empty to', entry: { to: {} }, message: /^assignments\[0\]\.to must have one of/ },
  { name: 'a to with two names', entry: { to: { user: 'a', team: 'b' } }, message: /^assignments\[0\]\.to must have/ },
  {
    name: 'a to of another type',
    entry: { to: { cluster: 'prod' } },
    message: /^assignments\[0\]\.to must have one of/,
  },
  {
    name: 'a user that is a number',
    entry: { to: { user: 5 } },
    message: /^assignments\[0\]\.to\.user must be a name$/,
  },
  { name: 'an empty user', entry: { to: { user: '' } }, message: /^assignments\[0\]\.to\.user must be a name$/ },
  {
    name: 'a user who is no member',
    entry: { to: { user: 'root' } },
    reason: 'not_a_member',
    message: /^assignments\[0\]\.to: no member of the organization is called "root"$/,
  },
  {
    name: 'a user who does not exist',
    entry: { to: { user: 'nobody-at-all' } },
    reason: 'not_a_member',
    message: /no member of the organization/,
  },
  {
    name: 'an unknown team',
    entry: { to: { team: 'x' } },
    message: /^assignments\[0\]\.to: no team .* is called "x"$/,
  },
  {
    name: 'an unknown robot',
    entry: { to: { robot: 'x' } },
    message: /^assignments\[0\]\.to: no robot .* called "x"$/,
  },
  {
    name: 'a team on the organization',
    entry: { to: { team: 'crew' }, on: undefined },
    message: /^assignments\[0\]\.on is required for a team; .* is in its teams$/,
  },
  { name: 'an on that is null', entry: { on: null }, message: /^assignments\[0\]\.on must have one of organization, / },
  { name: 'an empty on', entry: { on: {} }, message: /^assignments\[0\]\.on must have one of/ },
  { name: 'an on that is a text', entry: { on: 'prod' }, message: /^assignments\[0\]\.on must have one of/ },
  { name: 'an on of another type', entry: { on: { token: 'x' } }, message: /^assignments\[0\]\.on must have one of/ },
  {
    name: 'another organization',
    entry: { on: { organization: 'acme' } },
    message: /^assignments\[0\]\.on\.organization must be the organization of the document$/,
  },
  { name: 'an unknown cluster', entry: { on: { cluster: 'x' } }, message: /^assignments\[0\]\.on: no cluster .* "x"$/ },
  { name: 'a cluster by ID', entry: { on: { cluster: 1 } }, message: /^assignments\[0\]\.on\.cluster must be a name$/ },
  { name: 'an unknown contract', entry: { on: { contract: 'x' } }, message: /on: no contract of the organization/ },
  { name: 'an unknown ID', entry: { on: { contract: 99999 } }, message: /on: no contract .* is called "99999"$/ },
  { name: 'an ID below 1', entry: { on: { contract: 0 } }, message: /on\.contract must be a name$/ },
  { name: 'an unknown robot as object', entry: { on: { robot: 'x' } }, message: /on: no robot of the organization/ },
  { name: 'an unknown team as object', entry: { on: { team: 'x' } }, message: /on: no team of the organization/ },
  { name: 'a set without a name', entry: { on: { cluster_set: '' } }, message: /on\.cluster_set must be a name$/ },
  {
    name: 'a long name of a set',
    entry: { on: { cluster_set: 'x'.repeat(256) } },
    message: /on\.cluster_set must have at most 255 characters$/,
  },
  { name: 'an end that is no time', entry: { expires_at: 'soon' }, message: /expires_at must be a date-time or null$/ },
  {
    name: 'an end in a hundred years',
    entry: { expires_at: '2126-01-01T00:00:00Z' },
    message: /^assignments\[0\]\.expires_at: expires_at must be within 10 years$/,
  },
  { name: 'a reason that is a number', entry: { reason: 7 }, message: /^assignments\[0\]\.reason must be a string$/ },
  { name: 'a long reason', entry: { reason: 'x'.repeat(1001) }, message: /reason must have at most 1000 characters$/ },
  {
    name: 'a role without effect there',
    entry: { on: { team: 'crew' } },
    reason: 'no_effect',
    message: /^assignments\[0\]\.role: the role cluster-operator has no permission that concerns this team$/,
  },
];

describe('Assignments in role files that are rejected', () => {
  let atrium: TestServer;
  let place: FilePlace;
  let asDan: Call;
  const good = () => ({ role: 'cluster-operator', to: { user: place.dan.name }, on: { cluster: 'prod' } });
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());
  const fresh = async () => {
    place = await openFilePlace(atrium);
    asDan = atrium.as(place.dan.name);
    return place;
  };
  const user = () => ({ type: 'user', id: Number(place.dan.id) });
  /** Rejected in the same way by a dry run, and nothing changes. */
  const rejected = async (call: Call, document: object, status: number, reason: string, query = '') => {
    const before = [await place.listed(), (await auditOf(atrium.instance.db, place.org.id)).length];
    const dry = await place.bring(call, document, `&dry_run=true${query}`);
    const real = await place.bring(call, document, query);
    assert.deepEqual([real.status, real.body.reason], [status, reason], real.text);
    assert.deepEqual([dry.status, dry.body.message], [real.status, real.body.message], dry.text);
    assert.deepEqual([await place.listed(), (await auditOf(atrium.instance.db, place.org.id)).length], before);
    return real.body;
  };

  describe('by what they say', () => {
    before(fresh);
    for (const { name, entry, assignments, status = 422, reason = 'validation_failed', message } of TABLE) {
      it(`An assignment in a role file is rejected with ${name}`, async () => {
        const document = place.fileOf(assignments ?? [{ ...good(), ...entry }], {
          roles: [place.operatorEntry, { name: 'not to be created' }],
        });
        const body = await rejected(place.call, JSON.parse(JSON.stringify(document)), status, reason);
        assert.match(body.message, message);
        assert.match(body.errors[0].field, /^assignments(\[0\])?/);
      });
    }

    it('An assignment in a role file is rejected if it is there twice', async () => {
      const twin = { ...good(), role: 'CLUSTER-OPERATOR', reason: 'again' };
      const body = await rejected(place.call, place.fileOf([good(), twin]), 422, 'validation_failed');
      assert.match(body.message, /^assignments\[1\]\.role: the same as assignments\[0\]$/);
    });
  });

  it('A caller who may not assign roles changes no assignment with a file, except for ending their own', async () => {
    const { role, fileOf, operator, crew, bring, listed } = await fresh();
    const reader = await role('reader', 'org_mgmt view roles', 'org_mgmt view teams', 'cluster_mgmt view clusters');
    await assign(place, reader.id, user());
    await assign(place, operator.id, user(), { type: 'cluster', name: 'prod' });
    const roles: object[] = [];
    const body = await rejected(
      asDan,
      fileOf([{ ...good(), on: { cluster: 'staging' } }], { roles }),
      403,
      'missing_relation',
    );
    assert.equal(body.relation, 'assign_roles:org');
    await rejected(asDan, fileOf([{ ...good(), reason: 'x' }], { roles }), 403, 'missing_relation');
    const same = await bring(asDan, fileOf([good()], { roles }));
    assert.deepEqual([same.status, same.body.assignments.unchanged], [200, 1], same.text);
    await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', name: 'prod' });
    const file = {
      ...(await asDan('GET', `/authz/roles/export?org=${place.org.name}&format=json`)).body,
      assignments: [{ role: 'reader', to: { user: place.dan.name } }],
    };
    await rejected(asDan, file, 403, 'missing_relation', '&prune=true');
    file.assignments.push({ role: 'cluster-operator', to: { team: 'crew' }, on: { cluster: 'prod' } });
    const left = await bring(asDan, file, '&prune=true');
    assert.equal(left.status, 200, left.text);
    assert.deepEqual(
      left.body.assignments.changes.map(({ kind }: { kind: string }) => kind),
      ['delete'],
    );
    assert.equal((await listed()).length, 2);
  });

  it('Nobody gives more with a file than they hold, there and for as long', async () => {
    const { role, fileOf, operator, bring } = await fresh();
    const assigner = await role('assigner', 'org_mgmt assign roles', 'org_mgmt view roles', 'org_mgmt view teams');
    await assign(place, assigner.id, user());
    const until = inHours(4);
    await assign(place, operator.id, user(), { type: 'cluster', name: 'prod' }, { expires_at: until });
    const roles: object[] = [];
    const to = (on: object, more: object = {}) =>
      fileOf([{ role: 'cluster-operator', to: { team: 'crew' }, on, ...more }], { roles });
    const hidden = await rejected(asDan, to({ cluster: 'staging' }), 422, 'validation_failed');
    assert.equal(hidden.message, 'assignments[0].on: no cluster of the organization is called "staging"');
    const more = await rejected(asDan, to({ cluster: 'prod' }), 403, 'escalation');
    assert.match(more.message, /^assignments\[0\], cluster-operator to team crew on cluster prod: you cannot grant/);
    await rejected(asDan, to({ cluster: 'prod' }, { expires_at: inHours(5) }), 403, 'escalation');
    await rejected(asDan, to({ cluster_set: 'eu' }, { expires_at: inHours(1) }), 403, 'escalation');
    // The role itself counts in the whole organization.
    await rejected(
      asDan,
      fileOf([{ role: 'cluster-operator', to: { robot: 'deploy' }, expires_at: inHours(1) }], { roles }),
      403,
      'escalation',
    );
    const given = await bring(asDan, to({ cluster: 'prod' }, { expires_at: inHours(3) }));
    assert.equal(given.status, 200, given.text);
    await rejected(asDan, to({ cluster: 'prod' }, { expires_at: null }), 403, 'escalation');
    await rejected(asDan, to({ cluster: 'prod' }, { expires_at: inHours(5) }), 403, 'escalation');
    assert.equal((await bring(asDan, to({ cluster: 'prod' }, { expires_at: inHours(2) }))).status, 200);
  });

  it('Objects that the caller may not see have no name in the report, and their assignments are not exported', async () => {
    const { role, fileOf, operator, bring, exported } = await fresh();
    const assigner = await role('assigner', 'org_mgmt assign roles', 'org_mgmt view roles');
    await assign(place, assigner.id, user());
    assert.match((await exported(asDan)).text, /\nassignments:\n/);
    await assign(place, operator.id, { type: 'robot_ac', id: place.robot }, { type: 'cluster', name: 'staging' });
    assert.doesNotMatch((await exported(asDan)).text, /assignments:/);
    assert.match((await exported()).text, /staging/);
    const answer = await bring(asDan, fileOf([], { roles: [] }));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.assignments.unmanaged, [
      `assigner to user ${place.dan.name} on the organization`,
      'cluster-operator to robot deploy on cluster (hidden)',
    ]);
    const same = { role: 'cluster-operator', to: { robot: 'deploy' }, on: { cluster: 'staging' } };
    const body = await rejected(asDan, fileOf([same], { roles: [] }), 422, 'validation_failed');
    assert.equal(body.message, 'assignments[0].on: no cluster of the organization is called "staging"');
  });

  it('A guardrail rejects a file with an assignment that would violate it, and nothing of the file is done', async () => {
    const { fileOf, call, org, dan } = await fresh();
    const never = { users: [dan.name], relation: 'can_connect', object: { type: 'cluster', name: 'prod' } };
    const made = await call('POST', `/authz/guardrails?org=${org.name}`, { name: 'prod is closed', never });
    assert.equal(made.status, 201, made.text);
    for (const entry of [
      good(),
      { ...good(), to: { team: 'crew' } },
      { ...good(), on: undefined },
      { ...good(), on: { cluster_set: 'eu' } },
      { ...good(), role: 'fresh' },
    ]) {
      const roles = [place.operatorEntry, { name: 'fresh', permissions: { cluster_mgmt: ['connect to clusters'] } }];
      const document = JSON.parse(JSON.stringify(fileOf([entry], { roles })));
      await rejected(call, document, 409, 'guardrail_violated');
    }
    assert.equal((await call('GET', `/authz/roles?org=${org.name}`)).body.length, 1);
  });

  it('A preview does not show what assignments of a document do, and says so', async () => {
    const { fileOf, call, org } = await fresh();
    const changes = [{ action: 'roles.import', document: JSON.stringify(fileOf([good()])) }];
    const answer = await call('POST', `/authz/preview?org=${org.name}`, { changes });
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.body.message, /a preview does not show what assignments do/);
  });

  it('A user who has left meanwhile gets nothing, and members can be named in any case', async () => {
    const { fileOf, brought, listed, crew, call } = await fresh();
    const fay = await makePerson(atrium);
    const document = fileOf([{ ...good(), to: { user: fay.name.toUpperCase() } }]);
    await rejected(place.call, document, 422, 'not_a_member');
    await addMember(atrium.instance, BigInt(crew), fay.id);
    await brought(document);
    assert.equal((await listed()).length, 1);
    const gone = await call('DELETE', `/teams/${crew}/members/${fay.name}`);
    assert.equal(gone.status, 204, gone.text);
    assert.deepEqual(await listed(), []);
    await rejected(place.call, document, 422, 'not_a_member');
  });
});

describe('Limits of assignments in role files', () => {
  const sets = (count: number, to: object) =>
    Array.from({ length: count }, (_, place) => ({
      role: 'cluster-operator',
      to,
      on: { cluster_set: `set-${place}` },
    }));

  for (const [setting, to] of [
    ['LIMIT_ASSIGNMENTS_PER_PRINCIPAL', 'one'],
    ['LIMIT_ASSIGNMENTS_PER_ORGANIZATION', 'several'],
  ] as const) {
    it(`A file that exceeds ${setting} is rejected, and one that fills it is not`, async (t) => {
      const atrium = await openTestServer({ env: { [setting]: '3' } });
      t.after(() => atrium.close());
      const { fileOf, bring, call, dan, listed } = await openFilePlace(atrium);
      const whom = [{ user: dan.name }, ...(to === 'one' ? [] : [{ team: 'crew' }])];
      const entries = (count: number) => whom.flatMap((one) => sets(count, one)).slice(0, count);
      const full = await bring(call, fileOf(entries(4)));
      assert.deepEqual([full.status, full.body.reason], [422, 'limit_reached'], full.text);
      assert.deepEqual(await listed(), []);
      assert.equal((await bring(call, fileOf(entries(3)))).status, 200);
      const more = await bring(call, fileOf([{ role: 'cluster-operator', to: whom[0], on: { cluster: 'prod' } }]));
      assert.deepEqual([more.status, more.body.reason], [422, 'limit_reached'], more.text);
      const other = fileOf([{ role: 'cluster-operator', to: whom[0], on: { cluster: 'prod' } }]);
      assert.equal((await bring(call, other, '&prune=true')).status, 200);
      assert.equal((await listed()).length, 1);
    });
  }
});
