import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { COUNTS } from '../../counts.ts';
import {
  type AskedType,
  allowedPlainly,
  holds,
  type PlainOrganization,
  type PlainPerson,
  type PlainRole,
  type PlainTeam,
  type PlainWorld,
  relationsOf,
} from '../../long/plain-rules.ts';
import { openRandomWorld } from '../../long/random-world.ts';
import { progress } from '../../support/checks/progress.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const TYPES: readonly AskedType[] = ['organization', 'team', 'cluster', 'contract', 'robot_ac', 'token'];
/** Names in a random world: of organizations, teams, roles and things. People may be named by whoever asks. */
const NAMES = /"([otrkcb]\d+)"/g;
const CHANGE_EVERY = 4;
const OWNERS = sql(
  'test.owned-names',
  `select o.name, a.name as owner
     from (select name, id as owner_id from account where kind = 'organization'
           union all select name, organization_id from team where type <> 'builtin'
           union all select name, organization_id from role
           union all select name, owner_id from cluster
           union all select name, owner_id from contract
           union all select name, owner_id from robot) o
     join account a on a.id = o.owner_id`,
);
/** Being in a team, with whatever role, gives these already. */
const OF_MEMBERS = ['can_view', 'can_leave'];

interface OwnedName {
  readonly name: string;
  readonly owner: string;
}

interface Via {
  readonly kind: string;
  readonly id: number;
  readonly relations: readonly string[];
}

describe('A matrix and the access of a person in random worlds', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
  });
  after(() => atrium.close());

  it(`${COUNTS.matrixQuestions} answers are what plain rules say, and name nothing else, with seed ${SEED}`, async () => {
    const random = createRandom(SEED + 3);
    const { world, change, organization, person } = await openRandomWorld(atrium, random);
    let [cells, reasons, yes] = [0, 0, 0];
    for (let asked = 0; asked < COUNTS.matrixQuestions; asked++) {
      if (asked % CHANGE_EVERY === 0) await change();
      const [caller, where] = [active(), organization()];
      if (asked % 2 === 0) await askMatrix(caller, where);
      else await askAccess(caller, random.chance(0.3) ? caller : person(), where);
      if (asked % 500 === 0) progress(`${asked} of ${COUNTS.matrixQuestions}: ${cells} cells, ${reasons} reasons`);
    }
    assert.ok(yes > 0 && yes < cells, `${yes} of ${cells}`);
    progress(`${cells} cells, ${yes} of them with something, and ${reasons} reasons are right`);

    function active(): PlainPerson {
      for (let tries = 0; tries < 1000; tries++) {
        const one = person();
        if (one.isActive) return one;
      }
      return assert.fail('everybody is inactive');
    }

    async function askMatrix(caller: PlainPerson, where: PlainOrganization): Promise<void> {
      const type = random.pick(TYPES);
      const members = new Set([...where.teams.values()].flatMap((team) => [...team.members]));
      const some = random.chance(0.5) ? random.some([...world.people.keys()], 0.5) : undefined;
      const relations = random.chance(0.5) ? random.some(relationsOf(type), 0.5) : relationsOf(type);
      const ids = random.chance(0.3) ? idsOf(world, type) : undefined;
      const body = { type, relations, ...(some && { users: some }), ...(ids && { ids }) };
      const answer = await atrium.as(caller.name)('POST', `/authz/matrix?org=${where.name}`, body);
      if (!isMember(caller, where) || !holds(caller, where, 'can_view_members')) {
        assert.equal(answer.status, 403, answer.text);
        return;
      }
      assert.equal(answer.status, 200, answer.text);
      const { users, objects, cells: rows } = answer.body;
      const expected = idsOf(world, type).filter((id) => isSeen(caller, where, type, id));
      assert.deepEqual(
        objects.map(({ id }: { id: number }) => id),
        expected.sort((one, other) => one - other),
      );
      assert.deepEqual(names(users).sort(), [...(some ?? members)].sort());
      for (const [row, user] of users.entries()) {
        for (const [column, { id }] of objects.entries()) {
          const held = allowedPlainly(world, known(user.name), where, type, id);
          // What users own themselves is in no matrix, and no organization sees it.
          const wanted = relations.filter((relation) => held.includes(relation));
          const given = relations.filter((_, index) => Math.floor(rows[row][column] / 2 ** index) % 2 === 1);
          assert.deepEqual(given, wanted, `${user.name} on ${type}:${id}`);
          cells++;
          if (given.length > 0) yes++;
        }
      }
      await requireOwnNames(answer.text, where);
    }

    async function askAccess(caller: PlainPerson, who: PlainPerson, where: PlainOrganization): Promise<void> {
      const path = `/authz/users/${who.name}/access?org=${where.name}&limit=50`;
      const answer = await atrium.as(caller.name)('GET', path);
      const isSelf = caller === who;
      const isInside = caller.isAdmin || where.teams.values().some(({ members }) => members.has(caller.name));
      if (!isInside || (!isSelf && !holds(caller, where, 'can_view_members'))) {
        assert.equal(answer.status, 403, answer.text);
        return;
      }
      assert.equal(answer.status, 200, answer.text);
      const sees = (type: AskedType, id: number) => isSelf || isSeen(caller, where, type, id);
      const sources = sourcesOf(who, where).filter(({ kind, id }) => {
        if (kind === 'team') return sees('team', id);
        return kind === 'platform' || isSelf || seesRole(caller, where, id);
      });
      const reasonsFor = (type: AskedType, id: number) => {
        const held = allowedPlainly(world, who, where, type, id);
        return sources.flatMap((source) => {
          const given = allowedPlainly(world, source.person, source.organization, type, id);
          const isOfMembers = source.kind === 'role' && type === 'organization';
          const relations = held.filter(
            (relation) => given.includes(relation) && !(isOfMembers && OF_MEMBERS.includes(relation)),
          );
          return relations.length === 0 ? [] : [{ kind: source.kind, id: source.id, relations }];
        });
      };
      const { teams, roles, permissions, types } = answer.body;
      const idsOfKind = (kind: string) => sources.flatMap((source) => (source.kind === kind ? [source.id] : []));
      assert.deepEqual(idsIn(teams), idsOfKind('team'));
      assert.deepEqual(idsIn(roles), idsOfKind('role'));
      const held = allowedPlainly(world, who, where, 'organization', where.id);
      assert.deepEqual(
        permissions.map(({ relation }: { relation: string }) => relation),
        held,
      );
      const onOrganization = reasonsFor('organization', where.id);
      for (const { relation, via } of permissions) {
        assert.deepEqual(
          via.map(({ kind, id }: Via) => `${kind} ${id}`),
          onOrganization.flatMap((one) => (one.relations.includes(relation) ? [`${one.kind} ${one.id}`] : [])),
          `${who.name} ${relation}`,
        );
        reasons += via.length;
      }
      for (const { type, total, groups } of types) {
        const own = (id: number) =>
          world.things.some((one) => one.type === type && one.id === id && one.owner === who.name);
        const expected = idsOf(world, type).filter(
          (id) => allowedPlainly(world, who, where, type, id).length > 0 && (own(id) ? isSelf : sees(type, id)),
        );
        const shown = groups.flatMap(({ objects }: { objects: { id: number }[] }) => idsIn(objects));
        assert.deepEqual(shown.toSorted(ascending), expected.toSorted(ascending), `${type} of ${who.name}`);
        assert.equal(total, expected.length);
        for (const { relations, via, count, objects } of groups) {
          assert.equal(count, objects.length);
          for (const { id } of objects) {
            assert.deepEqual(relations, allowedPlainly(world, who, where, type, id));
            const wanted = own(id) ? [{ kind: 'owner', id: who.id, relations }] : reasonsFor(type, id);
            const given = via.map((one: Via) => ({ kind: one.kind, id: one.id, relations: one.relations }));
            assert.deepEqual(given, wanted, `${who.name} on ${type}:${id}`);
            reasons += given.length;
          }
        }
      }
      await requireOwnNames(answer.text, where, isSelf ? who : undefined);
    }

    function isSeen(caller: PlainPerson, where: PlainOrganization, type: AskedType, id: number): boolean {
      const isOwned = world.things.some((one) => one.type === type && one.id === id && one.owner === caller.name);
      return !isOwned && allowedPlainly(world, caller, where, type, id).includes('can_view');
    }

    function known(name: string): PlainPerson {
      return world.people.get(name) ?? assert.fail(`nobody is called ${name}`);
    }

    /** Every name in the answer is of the organization, or of what the caller owns. */
    async function requireOwnNames(text: string, where: PlainOrganization, self?: PlainPerson): Promise<void> {
      const owners = new Map(
        (await atrium.instance.db.query<OwnedName>(OWNERS)).map(({ name, owner }) => [name, owner]),
      );
      for (const [, name = ''] of text.matchAll(NAMES)) {
        const owner = owners.get(name) ?? assert.fail(`nothing is called ${name}`);
        assert.ok(owner === where.name || owner === self?.name, `${name} is of ${owner}`);
      }
    }
  });
});

function isMember({ name, isAdmin }: PlainPerson, { teams }: PlainOrganization): boolean {
  return isAdmin || [...teams.values()].some(({ members }) => members.has(name));
}

function seesRole(caller: PlainPerson, where: PlainOrganization, id: number): boolean {
  const role = where.roles.get(id);
  const has = [...(role?.teams ?? [])].some((team) => where.teams.get(team)?.members.has(caller.name));
  const isAssigned = where.grants.some(
    ({ role, on, to }) => role === id && on === '' && 'person' in to && to.person === caller.name,
  );
  return has || isAssigned || holds(caller, where, 'can_view_roles');
}

function idsOf(world: PlainWorld, type: AskedType): number[] {
  const all = [...world.organizations.values()];
  if (type === 'organization') return all.map(({ id }) => id);
  if (type === 'team') return all.flatMap(({ teams }) => [...teams.keys()]);
  return world.things.flatMap((thing) => (thing.type === type ? [thing.id] : []));
}

/**
 * Each team, role and office of a person alone: the same person in a copy of the organization in which nothing else makes
 * them anybody. Others are in every team, so that nobody is the last.
 */
function sourcesOf(who: PlainPerson, where: PlainOrganization) {
  const nobody = { ...who, isAdmin: false };
  const mine = [...where.teams.values()].filter(({ members }) => members.has(who.name)).sort((a, b) => a.id - b.id);
  const ids = new Set(mine.map(({ id }) => id));
  const hasByTeam = (role: PlainRole) => [...role.teams].some((team) => ids.has(team));
  const assignedTo = (role: PlainRole) =>
    where.grants
      .filter(({ to, ...grant }) => {
        if (grant.role !== role.id) return false;
        return 'team' in to ? ids.has(to.team) : 'person' in to && to.person === who.name;
      })
      .map((grant) => ({ ...grant, to: { person: who.name } }));
  const roles = [...where.roles.values()].filter((role) => hasByTeam(role) || assignedTo(role).length > 0);
  const without = (change: (team: PlainTeam) => Partial<PlainTeam>): Map<number, PlainTeam> =>
    new Map(
      [...where.teams].map(([id, team]) => [id, { ...team, members: new Set(['other', 'another']), ...change(team) }]),
    );
  const just = new Set([who.name, 'other']);
  return [
    ...mine.map(({ id }) => ({
      kind: 'team',
      id,
      person: nobody,
      organization: { ...where, roles: new Map(), teams: without((team) => (team.id === id ? { members: just } : {})) },
    })),
    ...roles
      .sort((a, b) => a.id - b.id)
      .map((role) => ({
        kind: 'role',
        id: role.id,
        person: nobody,
        organization: {
          ...where,
          teams: without(() => ({})).set(0, { id: 0, level: 'none', isBuiltIn: false, members: just }),
          roles: new Map([[role.id, { ...role, teams: new Set(hasByTeam(role) ? [0] : []) }]]),
          grants: assignedTo(role),
        },
      })),
    ...(who.isAdmin
      ? [
          {
            kind: 'platform',
            id: 0,
            person: who,
            organization: { ...where, roles: new Map(), teams: without(() => ({})) },
          },
        ]
      : []),
  ];
}

function idsIn(list: readonly { readonly id: number }[]): number[] {
  return list.map(({ id }) => id);
}

function names(list: readonly { readonly name: string }[]): string[] {
  return list.map(({ name }) => name);
}

function ascending(one: number, other: number): number {
  return one - other;
}
