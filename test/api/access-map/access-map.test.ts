import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

interface Line {
  readonly from: string;
  readonly to: string;
  readonly why: {
    readonly user: string;
    readonly relation: string;
    readonly object: { type: string; id: number };
  } | null;
}
interface Drawn {
  readonly people: readonly { readonly key: string; readonly name: string }[];
  readonly teams: readonly { readonly key: string; readonly name: string; readonly people: number }[];
  readonly grants: readonly {
    readonly key: string;
    readonly role: { readonly name: string } | null;
    readonly permission: string | null;
    readonly namespaces: readonly string[];
    readonly relations: readonly string[];
    readonly people: number;
  }[];
  readonly places: readonly { readonly key: string; readonly id: number | null; readonly name: string }[];
  readonly lines: readonly Line[];
  readonly left_out: Readonly<Record<string, number>>;
}

describe('GET /authz/map', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
    const ann = atrium.as('ann');
    const rows = [
      {
        role: { name: 'cluster-operator' },
        to: { type: 'user', name: 'cat' },
        on: { type: 'cluster', name: 'staging' },
      },
      {
        role: { name: 'cluster-operator' },
        to: { type: 'robot_ac', name: 'ci' },
        on: { type: 'cluster_set', name: 'eu' },
      },
      {
        ...{
          role: { name: 'cluster-operator' },
          to: { type: 'user', name: 'cat' },
          on: { type: 'cluster', name: 'prod' },
        },
        namespaces: ['shop'],
      },
    ];
    for (const row of rows) {
      const made = await ann('POST', '/authz/assignments?org=acme', row);
      assert.equal(made.status, 201, made.text);
    }
  });
  after(() => atrium.close());

  async function mapOf(query = '', caller = 'ann'): Promise<Drawn> {
    const answer = await atrium.as(caller)('GET', `/authz/map?org=acme${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  it('shows who has access through which team and role to what', async () => {
    assert.deepEqual(waysIn(await mapOf()), [
      'ann → Owners → owner → acme',
      'bob → Editors → write → acme',
      'cat → Viewers → read → acme',
      'cat → cluster-operator → prod in shop',
      'cat → cluster-operator → staging',
      'ci → cluster-operator → eu',
      'dan → operators → cluster-operator → acme',
    ]);
  });

  it('narrows to a user, a team, a robot, a role and a place', async () => {
    assert.deepEqual(waysIn(await mapOf('&to=user:dan')), ['dan → operators → cluster-operator → acme']);
    assert.deepEqual(waysIn(await mapOf('&to=team:Viewers')), ['cat → Viewers → read → acme']);
    assert.deepEqual(waysIn(await mapOf('&to=robot:ci')), ['ci → cluster-operator → eu']);
    assert.deepEqual(waysIn(await mapOf('&role=cluster-operator&to=user:cat')), [
      'cat → cluster-operator → prod in shop',
      'cat → cluster-operator → staging',
    ]);
    assert.deepEqual(waysIn(await mapOf('&on=cluster_set:eu')), ['ci → cluster-operator → eu']);
  });

  it('draws what counts in the whole organization to the cluster that it narrows to', async () => {
    assert.deepEqual(waysIn(await mapOf('&on=cluster:staging')), [
      'ann → Owners → owner → staging',
      'bob → Editors → write → staging',
      'cat → Viewers → read → staging',
      'cat → cluster-operator → staging',
      'dan → operators → cluster-operator → staging',
    ]);
  });

  it('says yes to every question that a line names', async () => {
    const { lines } = await mapOf();
    const asked = lines.flatMap(({ why }) => why ?? []);
    assert.ok(asked.length > 10, `${asked.length}`);
    for (const { user, relation, object } of asked) {
      const path = `/authz/objects/${object.type}/${object.id}/explain?org=acme&relation=${relation}&user=${user}`;
      const { body } = await atrium.as('ann')('GET', path);
      assert.equal(body.allowed, true, path);
    }
  });

  it('counts each user once, and says what a grant allows', async () => {
    const { grants, teams } = await mapOf('&on=cluster:staging');
    const owner = grants.find(({ permission }) => permission === 'owner');
    assert.equal(owner?.people, 1);
    assert.ok(owner?.relations.includes('can_administer'));
    const direct = grants.filter(({ role, people }) => role?.name === 'cluster-operator' && people === 1);
    assert.deepEqual(
      direct.map(({ relations }) => relations),
      [
        ['can_view', 'can_connect'],
        ['can_view', 'can_connect'],
      ],
    );
    assert.deepEqual(
      teams.map(({ people }) => people),
      [1, 1, 1, 1],
    );
  });

  it('answers as of a past moment', async () => {
    const at = new Date().toISOString();
    const made = await atrium.as('ann')('POST', '/authz/assignments?org=acme', {
      ...{
        role: { name: 'cluster-operator' },
        to: { type: 'user', name: 'dan' },
        on: { type: 'cluster', name: 'staging' },
      },
    });
    assert.equal(made.status, 201, made.text);
    const now = waysIn(await mapOf('&to=user:dan'));
    assert.deepEqual(now, ['dan → operators → cluster-operator → acme', 'dan → cluster-operator → staging'].sort());
    assert.deepEqual(waysIn(await mapOf(`&to=user:dan&at=${at}`)), ['dan → operators → cluster-operator → acme']);
  });

  it('is empty for what does not exist, and for what the caller may not see', async () => {
    for (const query of ['to=user:eve', 'to=team:999', 'role=nothing', 'on=cluster:laptop', 'on=cluster:3']) {
      const { people, teams, grants, places, lines, left_out: leftOut } = await mapOf(`&${query}`);
      assert.deepEqual([people, teams, grants, places, lines].flat(), [], query);
      assert.deepEqual(Object.values(leftOut), [0, 0, 0, 0], query);
    }
  });

  it('rejects callers who may not see the members, strangers, and what it cannot read', async () => {
    const dan = await atrium.as('dan')('GET', '/authz/map?org=acme');
    assert.deepEqual([dan.status, dan.body.reason], [403, 'missing_relation']);
    assert.equal((await atrium.as('eve')('GET', '/authz/map?org=acme')).status, 403);
    for (const query of ['to=dan', 'to=role:1', 'on=', 'on=token:1', 'nonsense=1']) {
      assert.equal((await atrium.as('ann')('GET', `/authz/map?org=acme&${query}`)).status, 400, query);
    }
  });

  it('leaves out roles, and what is on objects, that the caller may not see', async () => {
    const ann = atrium.as('ann');
    const role = { name: 'greeter', permissions: [{ namespace: 'org_mgmt', action: 'view members' }] };
    assert.equal((await ann('POST', '/authz/roles?org=acme', role)).status, 201);
    const row = { role: { name: 'greeter' }, to: { type: 'user', name: 'dan' } };
    assert.equal((await ann('POST', '/authz/assignments?org=acme', row)).status, 201);
    const ways = waysIn(await mapOf('', 'dan'));
    // Dan has this role as well, and sees the clusters and cat, but not what is assigned to other users.
    assert.deepEqual(
      ways,
      ['dan → greeter → acme', 'dan → operators → cluster-operator → acme', 'dan → cluster-operator → staging'].sort(),
    );
    const { body: listed } = await atrium.as('dan')('GET', '/authz/assignments?org=acme');
    assert.deepEqual(
      listed
        .map((one: { role: { name: string }; on: { name: string } }) => `dan → ${one.role.name} → ${one.on.name}`)
        .sort(),
      ways.map((way) => way.replace('operators → ', '')).sort(),
    );
    assert.equal((await mapOf('&to=user:cat', 'dan')).left_out.grants, 0);
    assert.deepEqual((await mapOf('&to=user:cat', 'dan')).grants, []);
    assert.deepEqual(
      (await mapOf('&role=cluster-operator&on=cluster:prod', 'dan')).grants.map(({ people }) => people),
      [1],
    );
  });

  it('shows a role on one object to the user who has it, although the user may not see the role elsewhere', async () => {
    const ann = atrium.as('ann');
    const role = { name: 'reader', permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
    assert.equal((await ann('POST', '/authz/roles?org=acme', role)).status, 201);
    for (const user of ['dan', 'cat']) {
      const row = {
        role: { name: 'reader' },
        to: { type: 'user', name: user },
        on: { type: 'cluster', name: 'staging' },
      };
      assert.equal((await ann('POST', '/authz/assignments?org=acme', row)).status, 201);
    }
    const ways = waysIn(await mapOf('&role=reader', 'dan'));
    assert.deepEqual(ways, ['dan → reader → staging']);
  });

  it('shows no more than the first of a column, and how many are left out', async () => {
    const ann = atrium.as('ann');
    for (let count = 0; count < 20; count++) {
      const name = `crowd${String(count).padStart(2, '0')}`;
      assert.equal((await ann('POST', '/orgs/acme/clusters', { name, uid: crypto.randomUUID() })).status, 201);
      const row = {
        role: { name: 'cluster-operator' },
        to: { type: 'user', name: 'bob' },
        on: { type: 'cluster', name },
      };
      assert.equal((await ann('POST', '/authz/assignments?org=acme', row)).status, 201);
    }
    const { grants, places, left_out: leftOut } = await mapOf('&to=user:bob');
    assert.equal(grants.length, 14);
    assert.equal(places.length, 14);
    assert.deepEqual(leftOut, { people: 0, teams: 0, grants: 7, places: 7 });
  });
});

/** Every way from a person to a place, by the names along it. */
function waysIn({ people, teams, grants, places, lines }: Drawn): string[] {
  const names = new Map<string, string>();
  for (const { key, name } of [...people, ...teams, ...places]) names.set(key, name);
  const inside = new Map<string, string>();
  for (const { key, role, permission, namespaces } of grants) {
    names.set(key, role?.name ?? permission ?? '');
    if (namespaces.length > 0) inside.set(key, ` in ${namespaces.join(', ')}`);
  }
  const next = Map.groupBy(lines, ({ from }) => from);
  const walk = (key: string): string[] => {
    const onward = next.get(key) ?? [];
    if (key.startsWith('grant:')) {
      return onward.map(({ to }) => `${names.get(key)} → ${names.get(to)}${inside.get(key) ?? ''}`);
    }
    return onward.flatMap(({ to }) => walk(to).map((rest) => `${names.get(key)} → ${rest}`));
  };
  return people.flatMap(({ key }) => walk(key)).sort();
}
