import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { readModel } from '../../packages/rebac/src/rebac.ts';
import { createAnswerCache } from '../../src/authz/answer-cache.ts';
import { createGraphStore } from '../../src/authz/graphs.store.ts';
import { createGraphs, type Graphs } from '../../src/authz/graphs.ts';
import { mayBeOwn } from '../../src/authz/judge.ts';
import type { AskedObject } from '../../src/authz/object-ref.ts';
import { allowedIn } from '../../src/authz/places/namespaces.ts';
import type { AppError } from '../../src/base/errors.ts';
import { subjectOfPrincipal } from '../../src/changes/principal.ts';
import { sql } from '../../src/db/db.ts';
import { createPastStore } from '../../src/history/past.store.ts';
import { createPast, type Past } from '../../src/history/past.ts';
import { findPermission } from '../../src/roles/catalog.ts';
import { COUNTS, IS_LONG } from '../counts.ts';
import { ASKED_NAMESPACES, openRandomWorld } from '../long/random-world.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { ANY_DRIVER, DRIVERS } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

type World = Awaited<ReturnType<typeof openRandomWorld>>;

type OwnedRef = AskedObject & { readonly owner: string };

const END_MEMBER = sql(
  'test.endOneMember',
  `update team_member set expires_at = clock_timestamp()
    where team_id = $1 and account_id = (select id from account where name = $2)`,
);
const END_ROLE = sql(
  'test.endOneRole',
  'update assignment set expires_at = clock_timestamp() where role_id = $1 and team_id = $2',
);

/** Everything that everybody in one organization may do there, as the server answered after a change. */
interface Remembered {
  readonly at: Date;
  readonly after: string;
  readonly organizationId: bigint;
  readonly organization: string;
  readonly objects: readonly OwnedRef[];
  readonly answers: ReadonlyMap<bigint, string>;
  readonly roles: string;
}

for (const driver of IS_LONG ? DRIVERS : [ANY_DRIVER])
  describe(`The past of random histories on ${driver} (seed ${SEED})`, () => {
    let atrium: TestServer;
    let graphs: Graphs;
    let past: Past;
    before(async () => {
      atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0' } });
      const { db, revisions } = atrium.instance;
      const model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
      graphs = createGraphs(createGraphStore(db), revisions, model, 1 << 26);
      const relationOf = (pair: { namespace: string; action: string }) => findPermission(pair)?.relation;
      past = createPast({ store: createPastStore(db), present: graphs, model, relationOf, maxBytes: 1 << 26 });
    });
    after(() => atrium.close());

    it('Every answer about a past moment is the answer that was given then', async () => {
      const random = createRandom();
      const world = await openRandomWorld(atrium, random);
      const steps: Remembered[] = [];
      for (let count = 0; count < COUNTS.historyChanges; count++) {
        const more = [world.change, letEnd, deletePerson, world.change, deleteRobot][count % 5] ?? world.change;
        const change = await more(world);
        const at = new Date();
        const { name } = world.organization();
        for (const organization of count % 4 === 0 ? world.world.organizations.values() : [orgNamed(world, name)]) {
          steps.push(await remember(world, organization, at, `change ${count}, ${change}`));
        }
        while (Date.now() <= at.getTime()) await breath();
      }
      let compared = 0;
      for (const step of steps) {
        if (!world.world.organizations.has(step.organization)) continue;
        compared += await compare(step, world);
      }
      assert.ok(compared > steps.length, `only ${compared} answers of ${steps.length} steps were compared`);
    });

    it('Before an organization was created, nothing about it is answered', async () => {
      const before = new Date();
      while (Date.now() <= before.getTime()) await breath();
      const made = await atrium.as('ann')('POST', '/orgs', { username: 'latecomer' });
      assert.equal(made.status, 201, made.text);
      const id = BigInt(made.body.id);
      await assert.rejects(
        past.graphsAt(before).together(id, id, () => undefined),
        (error: AppError) => error.detail.reason === 'before_audit_log',
      );
    });

    function orgNamed({ world }: World, name: string) {
      return world.organizations.get(name) ?? assert.fail(`there is no organization ${name}`);
    }

    async function remember(
      { world }: World,
      organization: { readonly id: number; readonly name: string; readonly teams: ReadonlyMap<number, unknown> },
      at: Date,
      change: string,
    ): Promise<Remembered> {
      const objects: OwnedRef[] = [
        { type: 'organization', id: BigInt(organization.id), owner: '' },
        ...[...organization.teams.keys()].map((id) => ({ type: 'team', id: BigInt(id), owner: '' }) as const),
        ...world.things.map(({ type, id, owner }) => ({ type: type as 'cluster', id: BigInt(id), owner })),
        ...world.things
          .filter(({ type, owner }) => type === 'cluster' && owner === organization.name)
          .map(({ id, owner }, place) => {
            const namespace = ASKED_NAMESPACES[place % ASKED_NAMESPACES.length];
            return { type: 'cluster', id: BigInt(id), owner, namespace } as const;
          }),
      ];
      const body = objects.map(({ type, id, namespace }) => ({
        ...{ objectType: type, objectID: Number(id) },
        ...(namespace !== undefined && { namespace }),
      }));
      const path = `/authz/objects/allowed-permissions?org=${organization.name}`;
      const answers = new Map<bigint, string>();
      for (const { id, name, isActive } of world.people.values()) {
        if (!isActive) continue;
        const answer = await atrium.as(name)('POST', path, body);
        // Whoever is not in an organization cannot ask about it.
        if (answer.status === 200) answers.set(BigInt(id), answer.text);
      }
      const roles = await atrium.as('root')('GET', `/authz/roles?org=${organization.name}`);
      const about = { organizationId: BigInt(organization.id), organization: organization.name };
      return { at, after: change, ...about, objects, answers, roles: roles.text };
    }

    async function compare(step: Remembered, { world }: World): Promise<number> {
      const { at, organizationId, answers } = step;
      const present = new Map([...world.people.values()].map(({ id, name }) => [BigInt(id), name]));
      const then = past.graphsAt(at);
      const memory = createAnswerCache();
      for (const [personId, given] of answers) {
        // Nobody can ask about what deleted users owned themselves.
        const isPresent = present.has(personId);
        const isAsked = ({ owner }: OwnedRef) => isPresent || owner === '' || owner === step.organization;
        const objects = step.objects.filter(isAsked);
        const found = await then.together(organizationId, isPresent ? personId : organizationId, (graph, own) =>
          objects.map((object) => {
            const whole = memory.ask(graph, personId, object);
            const held = allowedIn(graph, subjectOfPrincipal(personId), object, whole);
            const isOwn = held.length === 0 && object.namespace === undefined && mayBeOwn(object);
            const allowedPermissions = isOwn ? memory.ask(own, personId, object) : held;
            return { objectType: object.type, objectID: Number(object.id), allowedPermissions };
          }),
        );
        const expected = JSON.parse(given).filter(
          (_: unknown, place: number) => step.objects[place] && isAsked(step.objects[place]),
        );
        assert.deepEqual(found, expected, `${step.organization} after ${step.after}, user ${personId}`);
      }
      await compareOverHttp(step);
      await compareMatrix(step);
      await compareAccess(step, present);
      return answers.size;
    }

    /** What everybody held on the clusters of the organization. */
    async function compareMatrix({ at, organization, objects, answers, after: change }: Remembered) {
      const path = `/authz/matrix?org=${organization}&at=${at.toISOString()}`;
      const { status, body, text } = await atrium.as('root')('POST', path, { type: 'cluster' });
      assert.equal(status, 200, text);
      const place = (list: readonly { id: number }[], id: bigint) => list.findIndex((one) => BigInt(one.id) === id);
      const clusters = objects.filter((object) => isWholeCluster(object, organization));
      assert.equal(body.objects.length, clusters.length, `${organization} after ${change}`);
      for (const [personId, given] of answers) {
        const row = body.cells[place(body.users, personId)];
        if (row === undefined) continue;
        for (const { id } of clusters) {
          const cell = row[place(body.objects, id)];
          const held = body.relations.filter((_: string, bit: number) => Math.floor(cell / 2 ** bit) % 2 === 1);
          const one = JSON.parse(given)[objects.findIndex((object) => object.type === 'cluster' && object.id === id)];
          assert.deepEqual(held, one.allowedPermissions, `${organization} after ${change}, user ${personId}`);
        }
      }
    }

    /** What one of them held on the organization, and on its clusters. */
    async function compareAccess(step: Remembered, present: ReadonlyMap<bigint, string>) {
      const { at, organization, objects, answers, after: change } = step;
      const [personId, given] = [...answers].find(([id]) => present.has(id)) ?? [];
      if (personId === undefined || given === undefined) return;
      const path = `/authz/users/${present.get(personId)}/access?org=${organization}&limit=50&at=${at.toISOString()}`;
      const { status, body, text } = await atrium.as('root')('GET', path);
      assert.equal(status, 200, text);
      const told = `${organization} after ${change}, user ${personId}`;
      const held: { allowedPermissions: string[] }[] = JSON.parse(given);
      const relations = body.permissions.map((one: { relation: string }) => one.relation);
      assert.deepEqual(relations, held[0]?.allowedPermissions, told);
      const isHeld = (object: OwnedRef, index: number) =>
        isWholeCluster(object, organization) && held[index]?.allowedPermissions.length !== 0;
      const clusters = body.types.find((one: { type: string }) => one.type === 'cluster');
      assert.equal(clusters.total, objects.filter(isHeld).length, told);
    }

    async function compareOverHttp({ at, organization, objects, answers, roles, after: change }: Remembered) {
      const when = `&at=${at.toISOString()}`;
      const root = atrium.as('root');
      const then = await root('GET', `/authz/roles?org=${organization}${when}`);
      const plain = (text: string) =>
        JSON.parse(text).map(({ id, name, permissions, team_ids }: Record<string, unknown>) => [
          id,
          name,
          permissions,
          team_ids,
        ]);
      assert.deepEqual(plain(then.text), plain(roles), `roles of ${organization} after ${change}: ${then.text}`);
      // Only members are asked, so the others are whoever else holds it.
      const [object] = objects;
      if (object === undefined) return;
      const relation = 'can_edit_roles';
      const path = `/authz/objects/organization/${object.id}`;
      const who = await root('GET', `${path}/principals?org=${organization}&relation=${relation}&limit=50${when}`);
      assert.equal(who.status, 200, who.text);
      const holding = new Set(who.body.map(({ id }: { id: number }) => BigInt(id)));
      for (const [personId, given] of answers) {
        const held: string[] = JSON.parse(given)[0].allowedPermissions;
        assert.equal(
          holding.has(personId),
          held.includes(relation),
          `${organization} after ${change}, user ${personId}`,
        );
      }
    }

    /** Something ends, and no server has noticed yet: whoever asks first about the present makes one notice. */
    async function letEnd({ organization }: World): Promise<string> {
      const { name, teams, roles } = organization();
      const root = atrium.as('root');
      const soon = { expires_at: new Date(Date.now() + 3_600_000).toISOString() };
      const assigned = [...roles.values()].find((one) => one.teams.size > 0);
      const team = [...teams.values()].find(({ level, members }) => level !== 'owner' && members.size > 0);
      const [roleTeam] = assigned?.teams ?? [];
      if (assigned && roleTeam !== undefined && (Date.now() % 2 === 0 || !team)) {
        assert.equal((await root('PUT', `/teams/${roleTeam}/roles/${assigned.id}`, soon)).status, 204);
        await atrium.instance.db.query(END_ROLE, [assigned.id, roleTeam]);
        assigned.teams.delete(roleTeam);
      } else if (team) {
        const [member = ''] = team.members;
        assert.equal((await root('PUT', `/teams/${team.id}/members/${member}`, soon)).status, 204);
        await atrium.instance.db.query(END_MEMBER, [team.id, member]);
        team.members.delete(member);
      } else return 'there is nothing that could end';
      const ended = Date.now() + 2;
      while (Date.now() <= ended) await breath();
      return `an end in ${name}`;
    }

    /** Deletes a robot with its tokens. */
    async function deleteRobot({ world }: World): Promise<string> {
      const robot = world.things.find(({ type }) => type === 'robot_ac');
      if (!robot) return 'there is no robot';
      const root = atrium.as('root');
      const { body } = await root('GET', `/robots/${robot.id}/tokens`);
      const tokens = body.map(({ id }: { id: number }) => id);
      const answer = await root('DELETE', `/robots/${robot.id}`);
      assert.equal(answer.status, 204, answer.text);
      const isGone = ({ type, id }: { type: string; id: number }) =>
        (type === 'robot_ac' && id === robot.id) || (type === 'token' && tokens.includes(id));
      world.things.splice(0, Infinity, ...world.things.filter((thing) => !isGone(thing)));
      return `deletion of robot ${robot.id} and ${tokens.length} tokens`;
    }

    /** Deletes somebody whom no organization needs. */
    async function deletePerson({ world }: World): Promise<string> {
      const teams = [...world.organizations.values()].flatMap((one) => [...one.teams.values()]);
      const isNeeded = (name: string) => teams.some(({ level, members }) => level === 'owner' && members.has(name));
      const person = [...world.people.values()].find(({ name }) => !isNeeded(name));
      if (!person) return 'nobody could be deleted';
      const answer = await atrium.as('root')('DELETE', `/admin/users/${person.name}`);
      assert.equal(answer.status, 204, answer.text);
      world.people.delete(person.name);
      for (const { members } of teams) members.delete(person.name);
      world.things.splice(0, Infinity, ...world.things.filter(({ owner }) => owner !== person.name));
      return `deletion of ${person.name}`;
    }
  });

/** Not a question about one namespace of it. */
function isWholeCluster({ type, owner, namespace }: OwnedRef, organization: string): boolean {
  return type === 'cluster' && owner === organization && namespace === undefined;
}
