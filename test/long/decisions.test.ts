import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { DRIVERS } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import {
  type AskedType,
  allowedPlainly,
  holds,
  isShownByRole,
  type PlainOrganization,
  type PlainPerson,
  relationsOf,
} from './plain-rules.ts';
import { ASKED_NAMESPACES, openRandomWorld } from './random-world.ts';

const ABSENT = 999_999_999;
const ASKERS = 3;
const EACH = Math.ceil(COUNTS.decisions / DRIVERS.length);

/** Lists that need one permission in the organization. Strangers are told that it does not exist. */
const LISTS: Readonly<Record<string, string>> = {
  '': 'can_view',
  '/audit': 'can_view_audit_log',
  '/members': 'can_view_members',
  '/teams': 'can_view_teams',
  '/clusters': 'can_view_clusters',
  '/contracts': 'can_view_contracts',
  '/robots': 'can_view_robots',
};
/** Where a single object is, by its ID. */
const PLACES: Readonly<Record<string, string>> = { cluster: 'clusters', contract: 'contracts', robot_ac: 'robots' };

for (const [place, driver] of DRIVERS.entries()) {
  describe(`Decisions in random worlds on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0' } });
    });
    after(() => atrium.close());

    it(`${EACH} decisions on ${driver} agree with a plain evaluator, with seed ${SEED}`, async () => {
      const random = createRandom(SEED + place);
      const { world, change, organization, person } = await openRandomWorld(atrium, random, { expires: true });
      const wrong: string[] = [];
      let decisions = 0;
      let allowed = 0;
      let changes = 0;
      for (let last = 'nothing'; decisions < EACH && wrong.length === 0; changes++) {
        for (let asker = 0; asker < ASKERS; asker++) {
          const isRobot = world.robots.length > 0 && random.chance(0.25);
          const who = isRobot ? random.pick(world.robots) : person();
          // A robot account seldom asks about any organization but its own.
          const home = who.robotOf === undefined || random.chance(0.2) ? undefined : who.robotOf;
          const where = (home && world.organizations.get(home)) || organization();
          await askBatch(who, where, last);
          await askOne(who, where, last);
          await askNamespace(who, where, last);
          await askGates(who, where, last);
        }
        last = await change();
        if (changes % 100 === 0) progress(`${decisions} of ${EACH} decisions, ${changes} changes on ${driver}`);
      }
      assert.deepEqual(wrong.slice(0, 5), []);
      // A world in which nearly everything is denied, or allowed, would prove little.
      assert.ok(allowed > decisions / 20 && allowed < decisions / 2, `${allowed} of ${decisions} were allowed`);
      progress(`${decisions} decisions on ${driver} agree, ${allowed} of them yes, after ${changes} changes`);

      /** Everything in all organizations, and something that does not exist. */
      function objects(who: PlainPerson): { objectType: AskedType; objectID: number }[] {
        const all = [...world.organizations.values()];
        return [
          ...(who.robotOf === undefined ? [{ objectType: 'user', objectID: who.id } as const] : []),
          ...all.map(({ id }) => ({ objectType: 'organization', objectID: id }) as const),
          ...all.flatMap(({ teams }) => [...teams.keys()].map((id) => ({ objectType: 'team', objectID: id }) as const)),
          ...world.things.map(({ type, id }) => ({ objectType: type, objectID: id })),
          { objectType: 'cluster', objectID: ABSENT } as const,
        ];
      }

      async function askBatch(who: PlainPerson, where: PlainOrganization, last: string): Promise<void> {
        const asked = objects(who);
        const answer = await atrium.as(who.name)('POST', `/authz/objects/allowed-permissions?org=${where.name}`, asked);
        if (!who.isActive) {
          if (answer.status !== 403) wrong.push(`${who.name} is inactive and got ${answer.status}`);
          decisions += 1;
          return;
        }
        assert.equal(answer.status, 200, answer.text);
        for (const [index, { objectType, objectID }] of asked.entries()) {
          const expected = allowedPlainly(world, who, where, objectType, objectID);
          const given: string[] = answer.body[index].allowedPermissions;
          decisions += relationsOf(objectType).length;
          allowed += expected.length;
          if (given.join() !== expected.join()) {
            const about = `${who.name} on ${objectType}:${objectID} in ${where.name} after ${last}`;
            wrong.push(`${about}: the server says [${given}], the rules say [${expected}]`);
          }
        }
      }

      /** The single endpoint, and explain, which walks the graph in another way. */
      async function askOne(who: PlainPerson, where: PlainOrganization, last: string): Promise<void> {
        const { objectType, objectID } = random.pick(objects(who));
        const relation = random.pick(relationsOf(objectType));
        const path = `/authz/objects/${objectType}/${objectID}`;
        const single = await atrium.as(who.name)('GET', `${path}/allowed-permissions?org=${where.name}`);
        const explained = await atrium.as(who.name)('GET', `${path}/explain?org=${where.name}&relation=${relation}`);
        decisions += 2;
        if (!who.isActive) {
          if (single.status !== 403 || explained.status !== 403) wrong.push(`${who.name} is inactive after ${last}`);
          return;
        }
        const expected = allowedPlainly(world, who, where, objectType, objectID);
        const about = `${who.name} on ${objectType}:${objectID} in ${where.name} after ${last}`;
        if (single.body.allowedPermissions.join() !== expected.join()) wrong.push(`${about}, asked alone`);
        if (explained.body.allowed !== expected.includes(relation)) wrong.push(`${about}, explain ${relation}`);
        allowed += expected.includes(relation) ? 2 : 0;
      }

      /** All clusters in one namespace, in each way in which that can be asked. */
      async function askNamespace(who: PlainPerson, where: PlainOrganization, last: string): Promise<void> {
        if (!who.isActive) return;
        const namespace = random.pick(ASKED_NAMESPACES);
        const clusters = world.things.filter(({ type }) => type === 'cluster');
        if (clusters.length === 0) return;
        const call = atrium.as(who.name);
        const batch = clusters.map(({ id }) => ({ objectType: 'cluster', objectID: id, namespace }));
        const answer = await call('POST', `/authz/objects/allowed-permissions?org=${where.name}`, batch);
        assert.equal(answer.status, 200, answer.text);
        for (const [index, { id }] of clusters.entries()) {
          const expected = allowedPlainly(world, who, where, 'cluster', id, namespace);
          const given: string[] = answer.body[index].allowedPermissions;
          decisions += relationsOf('cluster').length;
          allowed += expected.length;
          if (given.join() === expected.join()) continue;
          const about = `${who.name} on cluster:${id} in ${namespace} of ${where.name} after ${last}`;
          wrong.push(`${about}: the server says [${given}], the rules say [${expected}]`);
        }
        const { id } = random.pick(clusters);
        const relation = random.pick(relationsOf('cluster'));
        const query = `org=${where.name}&relation=${relation}&namespace=${namespace}`;
        const explained = await call('GET', `/authz/objects/cluster/${id}/explain?${query}`);
        const isExpected = allowedPlainly(world, who, where, 'cluster', id, namespace).includes(relation);
        if (explained.body.allowed !== isExpected)
          wrong.push(`${who.name}, explain ${relation} in ${namespace} after ${last}`);
        const people = await call('GET', `/authz/objects/cluster/${id}/principals?${query}&limit=50`);
        if (people.status !== 200) return;
        const sees = allowedPlainly(world, who, where, 'cluster', id).includes('can_view');
        const isOurs = clusters.some((one) => one.id === id && one.owner === where.name);
        for (const one of isOurs ? world.people.values() : []) {
          const isListed = people.body.some(
            (entry: { id: number; type: string }) => entry.type === 'user' && entry.id === one.id,
          );
          const holdsIt = sees && allowedPlainly(world, one, where, 'cluster', id, namespace).includes(relation);
          decisions += 1;
          if (isListed !== holdsIt) wrong.push(`${one.name} among who can ${relation} in ${namespace} after ${last}`);
        }
      }

      /** What the routes themselves let through. */
      async function askGates(who: PlainPerson, where: PlainOrganization, last: string): Promise<void> {
        const [list, relation] = random.pick(Object.entries(LISTS));
        const teams = [...where.teams.values()];
        const isMember =
          who.isAdmin || teams.some(({ members }) => members.has(who.name)) || who.robotOf === where.name;
        // A list is also open to callers who see some of it because of a role on single objects.
        const isSome = (type: AskedType, id: number) =>
          allowedPlainly(world, who, where, type, id).includes('can_view');
        const isOpen =
          holds(who, where, relation) ||
          (list === '/teams' && teams.some((team) => isShownByRole(who, where, team))) ||
          world.things.some(
            ({ type, id, owner }) => `/${PLACES[type]}` === list && owner === where.name && isSome(type, id),
          );
        const { status } = await atrium.as(who.name)('GET', `/orgs/${where.name}${list}`);
        const expected = !who.isActive ? 403 : !isMember ? 404 : isOpen ? 200 : 403;
        if (status !== expected) wrong.push(`${who.name} got ${status} for ${where.name}${list}, not ${expected}`);
        const thing = random.pick(world.things.filter(({ type }) => type in PLACES));
        const owner = world.organizations.get(thing.owner);
        const isSeen = owner
          ? allowedPlainly(world, who, owner, thing.type, thing.id).includes('can_view')
          : thing.owner === who.name;
        const got = await atrium.as(who.name)('GET', `/${PLACES[thing.type]}/${thing.id}`);
        const due = !who.isActive ? 403 : isSeen ? 200 : 404;
        const about = `${who.name} got ${got.status} for ${thing.type} ${thing.id} after ${last}`;
        if (got.status !== due) wrong.push(`${about}, not ${due}`);
        decisions += 2;
        allowed += Number(expected === 200) + Number(due === 200);
      }
    });
  });
}
