import assert from 'node:assert/strict';
import { it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { createRandom, type Random } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

const ACTIONS = [
  'cluster_mgmt view clusters',
  'cluster_mgmt connect to clusters',
  'cluster_mgmt reconfigure clusters',
  'cluster_mgmt remove clusters',
  'org_mgmt assign roles',
  'org_mgmt edit roles',
  'org_mgmt manage team members',
  'org_mgmt add members',
];
const HOUR = 3_600_000;

it('Lists of approvers, and of what a user can decide, agree with what each user may decide', async (t) => {
  const random = createRandom();
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  let decidable = 0;
  let probes = 0;
  for (let world = 0; world < COUNTS.approverWorlds; world++) {
    const place = await openRequestPlace(atrium);
    const people = await fillRandomly(atrium, place, random);
    const asked = await askRandomly(place, random);
    const inboxes = new Map<string, Set<string>>();
    for (const { name } of people) {
      const inbox = await place.as(name)('GET', `${place.requests}&for_me=true&limit=50`);
      assert.equal(inbox.status, 200, inbox.text);
      inboxes.set(name, new Set(inbox.body.map(({ id }: { id: string }) => id)));
    }
    for (const id of asked) {
      const seen = await place.call('GET', place.request(id));
      const approvers: string[] = seen.body.approvers.map(({ name }: { name: string }) => name);
      assert.equal(seen.body.approvers_count, approvers.length, seen.text);
      for (const { name } of people) {
        // Whoever may decide hears that the digest is another one.
        const tried = await place.as(name)('POST', place.request(id, 'approve'), { digest: 'sha256:another' });
        assert.ok([403, 404, 409].includes(tried.status), tried.text);
        const mayDecide = tried.status === 409;
        const whom = `${name} about ${seen.text}: ${tried.text}`;
        if (mayDecide) assert.equal(tried.body.reason, 'changed_since', tried.text);
        assert.equal(approvers.includes(name), mayDecide, whom);
        assert.equal(inboxes.get(name)?.has(id), mayDecide, whom);
        probes++;
        if (mayDecide) decidable++;
      }
    }
  }
  t.diagnostic(`${decidable} of ${probes} decisions were possible`);
  assert.ok(decidable > 0 && decidable < probes);
});

/** Roles and memberships, some of which end soon, on the organization, on clusters, on a set, in namespaces. */
async function fillRandomly(atrium: TestServer, place: RequestPlace, random: Random) {
  const { org, prod, staging, dan, cat, lead, owner, call } = place;
  const people = [dan, cat, lead, owner];
  const known = [org.team('Editors'), org.team('Viewers'), place.crew, place.leads];
  for (const team of known) {
    const one = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(team), one.id);
    people.push(one);
  }
  const end = () => new Date(Date.now() + (1 + random.below(6)) * HOUR).toISOString();
  const maybeEnding = () => (random.chance(0.5) ? { expires_at: end() } : {});
  const teams: number[] = [];
  for (const name of ['north', 'south']) {
    const team = Number(await createTeam(atrium.instance, { organizationId: org.id, name, permission: 'none' }));
    teams.push(team);
    for (const { name: login } of random.some(people, 0.4)) {
      const joined = await call('PUT', `/teams/${team}/members/${login}`, maybeEnding());
      assert.equal(joined.status, 204, joined.text);
    }
  }
  const places = [
    undefined,
    { type: 'cluster', id: prod.id },
    { type: 'cluster', id: staging.id },
    { type: 'cluster_set', name: 'eu' },
    { type: 'team', id: teams[0] },
  ];
  for (let count = 0; count < 10; count++) {
    const role = await place.role(`random-${count}`, ...new Set([random.pick(ACTIONS), ...random.some(ACTIONS, 0.4)]));
    const to = random.chance(0.6)
      ? { type: 'user', id: Number(random.pick(people).id) }
      : { type: 'team', id: random.pick(teams) };
    const on = places[random.below(places.length)];
    const isCluster = on?.type === 'cluster' || on?.type === 'cluster_set';
    const more = { ...maybeEnding(), ...(isCluster && random.chance(0.3) && { namespaces: ['web', 'shop-*'] }) };
    const made = await call('POST', place.path, { role: { id: role.id }, to, ...(on && { on }), ...more });
    assert.ok(made.status === 201 || made.body.reason === 'no_effect', made.text);
  }
  return people;
}

async function askRandomly(place: RequestPlace, random: Random): Promise<string[]> {
  const { prod, staging, dan, cat, as, requests } = place;
  const asked: string[] = [];
  for (const { name } of [dan, cat]) {
    for (const { id } of [prod, staging]) {
      for (const relation of ['can_connect', 'can_edit', 'can_remove']) {
        const isInside = relation !== 'can_remove' && random.chance(0.4);
        const made = await as(name)('POST', requests, {
          ...{ relation, object: { type: 'cluster', id }, for: `PT${1 + random.below(6)}H`, reason: 'x' },
          ...(isInside && { namespaces: [random.pick(['web', 'shop-*', 'other'])] }),
        });
        assert.ok([200, 201, 404, 409, 422].includes(made.status), made.text);
        if (made.status === 201) asked.push(made.body.id);
      }
    }
    // Other ways than the least are joining teams, and roles that give more.
    const path = `/authz/objects/cluster/${prod.id}/explain?org=${place.org.name}&relation=can_edit&remedies=true`;
    const explained = await as(name)('GET', path);
    for (const [remedy] of (explained.body.remedies ?? []).entries()) {
      const object = { type: 'cluster', id: prod.id };
      const body = { relation: 'can_edit', object, for: 'PT3H', reason: 'x', remedy };
      const made = await as(name)('POST', requests, body);
      if (made.status === 201) asked.push(made.body.id);
    }
  }
  return asked;
}
