import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openTestServer } from '../../support/server/server.ts';
import { assign, openPlace, rejected } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { backdate, backdateUses } from '../../support/world/reviews.ts';

interface Unused {
  readonly kind: string;
  readonly assignment_id?: number;
  readonly team?: { readonly name: string };
  readonly role?: { readonly name: string };
  readonly to?: { readonly name: string };
  readonly on?: { readonly name: string };
  readonly permission?: { readonly action: string };
  readonly last_used_on: string | null;
}

const named = ({ kind, team, role, to, on, permission }: Unused) =>
  [kind, to?.name, team?.name ?? role?.name, on?.name ?? permission?.action].filter((part) => part).join(' ');

it('Access is unused if it made no difference for so many days, and all of it can be ended together', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, dan, crew, owner, operator, prod, staging, at } = place;
  const path = (days: number, rest = '') => `/authz/unused?org=${org.name}&days=${days}&limit=50${rest}`;
  const list = async (days: number, rest = ''): Promise<Unused[]> => {
    const answer = await call('GET', path(days, rest));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(Number(answer.headers.get('x-total-count')), answer.body.items.length);
    return answer.body.items;
  };
  const eve = await makePerson(atrium);
  for (const team of ['Owners', 'Viewers']) await addMember(atrium.instance, BigInt(org.team(team)), eve.id);
  await addMember(atrium.instance, BigInt(crew), eve.id);
  const to = { type: 'user', id: Number(dan.id) };
  await assign(place, operator.id, to, { type: 'cluster', id: prod.id });
  const spare = await assign(place, operator.id, to, { type: 'cluster', id: staging.id });
  await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: prod.id });

  const early = await call('GET', path(90));
  assert.deepEqual([early.status, early.body.complete, early.body.items], [200, false, []]);
  await backdate(atrium, org.id, 100);
  const everything = (await list(0)).map(named);
  const all = (kind: string) => everything.filter((name) => name.startsWith(`${kind} `)).length;
  assert.ok(everything.includes(`membership ${eve.name} Viewers`));

  // dan holds the same on prod through the crew, so only one of the two is needed. eve does what only owners do.
  await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
  await atrium.as(eve.name)('GET', `/authz/reviews?org=${org.name}`);
  const started = await atrium.as(eve.name)('POST', `/authz/reviews?org=${org.name}`, {
    question: { kind: 'team', team: { id: crew } },
  });
  assert.equal(started.status, 201, started.text);
  await atrium.as(eve.name)('GET', `/orgs/${org.name}/members`);

  const unused = await list(90);
  const names = unused.map(named);
  assert.ok(names.includes(`membership ${eve.name} Viewers`), names.join());
  assert.ok(names.includes(`membership ${eve.name} crew`));
  assert.ok(!names.includes(`membership ${eve.name} Owners`));
  assert.ok(!names.includes(`membership ${owner.name} Owners`));
  assert.ok(names.includes(`assignment ${dan.name} cluster-operator staging`));
  assert.equal(unused.find(({ assignment_id }) => assignment_id === spare.id)?.last_used_on, null);
  const ways = [
    [`assignment ${dan.name} cluster-operator prod`],
    [`assignment crew cluster-operator prod`, `membership ${dan.name} crew`],
  ];
  assert.equal(ways.filter((way) => way.every((one) => !names.includes(one))).length, 1, names.join());
  const permissions = (await list(90, '&kind=permission')).map(named);
  assert.deepEqual(permissions, ['permission cluster-operator view members']);

  const overview = await call('GET', `/orgs/${org.name}/overview`);
  const counts = (kind: string) => unused.filter((one) => one.kind === kind).length;
  const { memberships, assignments, permissions: roles, complete, days } = overview.body.unused_access;
  assert.deepEqual(
    [memberships, assignments, roles, complete, days],
    [counts('membership'), counts('assignment'), counts('permission'), true, 90],
  );
  assert.deepEqual(overview.body.unused_access.all, {
    memberships: all('membership'),
    assignments: all('assignment'),
    permissions: all('permission'),
  });

  // Ending all of it takes nothing away that was used.
  for (const { assignment_id } of unused) {
    if (assignment_id !== undefined) assert.equal((await call('DELETE', at(assignment_id))).status, 204);
  }
  for (const one of unused.filter(({ kind }) => kind === 'membership')) {
    const team = org.team(one.team?.name ?? '') || crew;
    assert.equal((await call('DELETE', `/teams/${team}/members/${one.to?.name}`)).status, 204);
  }
  assert.deepEqual(await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name), ['can_view', 'can_connect']);
  assert.equal((await atrium.as(eve.name)('GET', `/orgs/${org.name}/members`)).status, 200);
});

it('The last use counts by the day, and what is new is not unused', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, dan, operator, prod, staging } = place;
  const to = { type: 'user', id: Number(dan.id) };
  const used = await assign(place, operator.id, to, { type: 'cluster', id: prod.id });
  await backdate(atrium, org.id, 100);
  const fresh = await assign(place, operator.id, to, { type: 'cluster', id: staging.id });
  await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
  const days = async (count: number): Promise<Unused[]> =>
    (await call('GET', `/authz/unused?org=${org.name}&days=${count}&kind=assignment&limit=50`)).body.items;
  assert.deepEqual(await days(90), []);
  await backdateUses(atrium, org.id, 91);
  const [only, ...others] = await days(90);
  assert.deepEqual([only?.assignment_id, others], [used.id, []]);
  assert.equal(only?.last_used_on, new Date(Date.now() - 91 * 86_400_000).toISOString().slice(0, 10));
  assert.deepEqual(await days(95), []);
  assert.ok((await days(0)).some(({ assignment_id }) => assignment_id === fresh.id));
});

it('A program that asks whether a user may do something uses the access of that user, a curious person does not', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, dan, operator, prod, staging, robot } = place;
  const to = { type: 'user', id: Number(dan.id) };
  await assign(place, operator.id, to, { type: 'cluster', id: prod.id, namespaces: undefined });
  const inNamespace = { namespaces: ['shop'] };
  const other = await assign(place, operator.id, to, { type: 'cluster', id: staging.id }, inNamespace);
  await assign(place, operator.id, { type: 'robot_ac', id: robot });
  await backdate(atrium, org.id, 100);
  const { body: token } = await call('POST', `/robots/${robot}/tokens`, { name: 'gate', scopes: ['read:authz'] });
  const asRobot = { Authorization: `Bearer ${token.sha1}` };
  const ask = (cluster: number, rest = '') =>
    `/authz/objects/cluster/${cluster}/explain?org=${org.name}&relation=can_connect&user=${dan.name}${rest}`;
  const unused = async (): Promise<string[]> =>
    (await call('GET', `/authz/unused?org=${org.name}&days=90&kind=assignment&limit=50`)).body.items.map(named);
  assert.equal((await call('GET', ask(prod.id))).body.allowed, true);
  assert.ok((await unused()).includes(`assignment ${dan.name} cluster-operator prod`));
  const asked = await atrium.as()('GET', ask(prod.id), undefined, asRobot);
  assert.equal(asked.body.allowed, true, asked.text);
  assert.ok(!(await unused()).includes(`assignment ${dan.name} cluster-operator prod`));
  assert.ok((await unused()).includes(`assignment ${dan.name} cluster-operator staging`));
  const inside = await atrium.as()('GET', ask(staging.id, '&namespace=shop'), undefined, asRobot);
  assert.equal(inside.body.allowed, true, inside.text);
  assert.ok(!(await unused()).includes(`assignment ${dan.name} cluster-operator staging`), String(other.id));
});

it('Only callers who may see members, teams and roles see what is unused', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const { org, dan, call } = await openPlace(atrium);
  const path = `/authz/unused?org=${org.name}`;
  await rejected(atrium.as(dan.name), ['GET', path], 403, 'missing_relation');
  await rejected(call, ['GET', `${path}&days=366`], 400, 'invalid_request');
  await rejected(call, ['GET', `${path}&kind=people`], 400, 'invalid_request');
  const overview = await atrium.as(dan.name)('GET', `/orgs/${org.name}/overview`);
  assert.equal('unused_access' in overview.body, false);
});
