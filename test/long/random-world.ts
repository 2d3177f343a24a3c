import assert from 'node:assert/strict';
import { sql } from '../../src/db/db.ts';
import type { Random } from '../support/checks/random.ts';
import type { Answer, TestServer } from '../support/server/server.ts';
import {
  type Level,
  PERMISSIONS,
  type PlainGrant,
  type PlainOrganization,
  type PlainPerson,
  type PlainRole,
  type PlainTeam,
  type PlainWorld,
} from './plain-rules.ts';

const EXPIRE = sql('test.expireAssignment', 'update assignment set expires_at = clock_timestamp() where id = $1');
const LATER = new Date(Date.now() + 86_400_000).toISOString();
const PEOPLE = 16;
const ORGANIZATIONS = 3;
const MAX_TEAMS = 8;
const MAX_ROLES = 8;
const MAX_THINGS = 14;
const CUSTOM_LEVELS: readonly Level[] = ['none', 'none', 'none', 'read', 'write', 'admin'];
const BUILT_IN: Readonly<Record<string, Level>> = { Owners: 'owner', Editors: 'write', Viewers: 'read' };
/** What roles are assigned in, and the namespaces that questions are about. */
const NAMESPACES: readonly (readonly string[])[] = [['web'], ['shop-*'], ['web', 'data'], ['shop-eu', 'd*']];
export const ASKED_NAMESPACES: readonly string[] = ['web', 'shop-eu', 'shop-us', 'data', 'shop', 'other'];

/**
 * A world that changes through the API, one acknowledged request at a time, together with plain records of what those
 * requests said. Nothing in the records is read from the database.
 */
export async function openRandomWorld(atrium: TestServer, random: Random, { expires = false } = {}) {
  const world: PlainWorld = { people: new Map(), organizations: new Map(), things: [], robots: [] };
  let made = 0;
  const root = atrium.as('root');

  for (let count = 0; count < PEOPLE; count++) await addPerson();
  for (let count = 0; count < ORGANIZATIONS; count++) await addOrganization();
  return { world, change, organization: anyOrganization, person: anyPerson };

  function anyPerson(): PlainPerson {
    return random.pick([...world.people.values()]);
  }

  function anyOrganization(): PlainOrganization {
    return random.pick([...world.organizations.values()]);
  }

  /** One random change. Returns what it was, for the message of a failure. */
  async function change(): Promise<string> {
    const organization = anyOrganization();
    const kinds = [addMember, addMember, removeMember, leave, addTeam, editTeam, removeTeam];
    const more = [addRole, editRole, editRole, removeRole, assign, unassign, addThing, removeThing];
    const single = [grant, grant, grant, withdraw, moveCluster, ...(expires ? [letOneExpire] : [])];
    const rare = [toggleAdmin, toggleActive, replaceOrganization];
    const kind = random.chance(0.06) ? random.pick(rare) : random.pick([...kinds, ...more, ...single]);
    await kind(organization);
    return `${kind.name} in ${organization.name}`;
  }

  async function addPerson(): Promise<void> {
    const name = `p${++made}`;
    const id = await atrium.instance.features.users.create({ name, email: `${name}@example.com` });
    const { id: tokenId, text } = await atrium.instance.identity.tokens.issue({
      accountId: id,
      name: 'test',
      scopes: ['all'],
    });
    atrium.world.users[name] = { id, token: text };
    world.people.set(name, { id: Number(id), name, isAdmin: false, isActive: true });
    world.things.push({ type: 'token', id: Number(tokenId), owner: name });
    if (made % 4 === 0) await addCluster('/user/clusters', name, atrium.as(name));
  }

  async function addOrganization(): Promise<void> {
    const founder = anyPerson();
    const name = `o${++made}`;
    const { id } = ok(await root('POST', `/admin/users/${founder.name}/orgs`, { username: name })).body;
    const organization: PlainOrganization = { id, name, teams: new Map(), roles: new Map(), grants: [] };
    for (const team of ok(await root('GET', `/orgs/${name}/teams`)).body) {
      const level = BUILT_IN[team.name] ?? assert.fail(`an organization starts with a team ${team.name}`);
      const members = new Set(level === 'owner' ? [founder.name] : []);
      organization.teams.set(team.id, { id: team.id, level, isBuiltIn: true, members });
    }
    assert.equal(organization.teams.size, Object.keys(BUILT_IN).length);
    world.organizations.set(name, organization);
    for (let count = 0; count < 6; count++) await addMember(organization);
    for (let count = 0; count < 3; count++) await addTeam(organization);
    for (let count = 0; count < 3; count++) await addRole(organization);
    for (let count = 0; count < 6; count++) await addThing(organization);
    for (let count = 0; count < 4; count++) await grant(organization);
  }

  async function replaceOrganization(organization: PlainOrganization): Promise<void> {
    ok(await root('DELETE', `/orgs/${organization.name}`));
    world.organizations.delete(organization.name);
    world.things.splice(0, Infinity, ...world.things.filter(({ owner }) => owner !== organization.name));
    world.robots.splice(0, Infinity, ...world.robots.filter(({ robotOf }) => robotOf !== organization.name));
    await addOrganization();
  }

  async function addMember({ teams }: PlainOrganization): Promise<void> {
    const [team, person] = [random.pick([...teams.values()]), anyPerson()];
    ok(await root('PUT', `/teams/${team.id}/members/${person.name}`));
    team.members.add(person.name);
  }

  async function removeMember(organization: PlainOrganization): Promise<void> {
    const { teams } = organization;
    const team = random.pick([...teams.values()]);
    if (team.members.size === 0) return;
    const name = random.pick([...team.members]);
    const answer = await root('DELETE', `/teams/${team.id}/members/${name}`);
    if (team.level === 'owner' && team.members.size === 1) {
      assert.ok(answer.status >= 400 && answer.status < 500, `the last owner was removed: ${answer.status}`);
      return;
    }
    ok(answer);
    team.members.delete(name);
    endOfLeavers(organization);
  }

  /** A member leaves the organization with all its teams. */
  async function leave(organization: PlainOrganization): Promise<void> {
    const { name, teams } = organization;
    const all = [...teams.values()];
    const members = [...new Set(all.flatMap((team) => [...team.members]))];
    const who = random.pick(members);
    const isLastOwner = all.some(({ level, members: of }) => level === 'owner' && of.size === 1 && of.has(who));
    const answer = await root('DELETE', `/orgs/${name}/members/${who}`);
    if (isLastOwner) {
      assert.ok(answer.status >= 400 && answer.status < 500, `the last owner left: ${answer.status}`);
      return;
    }
    ok(answer);
    for (const team of all) team.members.delete(who);
    endOfLeavers(organization);
  }

  async function addTeam(organization: PlainOrganization): Promise<void> {
    const { name, teams } = organization;
    if (teams.size >= MAX_TEAMS) return removeTeam(organization);
    const permission = random.pick(CUSTOM_LEVELS);
    const { id } = ok(await root('POST', `/orgs/${name}/teams`, { name: `t${++made}`, permission })).body;
    const team: PlainTeam = { id, level: permission, isBuiltIn: false, members: new Set() };
    teams.set(id, team);
    for (const person of random.some([...world.people.values()], 0.2)) {
      ok(await root('PUT', `/teams/${id}/members/${person.name}`));
      team.members.add(person.name);
    }
  }

  async function editTeam({ teams }: PlainOrganization): Promise<void> {
    const custom = [...teams.values()].filter(({ isBuiltIn }) => !isBuiltIn);
    if (custom.length === 0) return;
    const team = random.pick(custom);
    const permission = random.pick(CUSTOM_LEVELS);
    ok(await root('PATCH', `/teams/${team.id}`, { permission }));
    team.level = permission;
  }

  async function removeTeam(organization: PlainOrganization): Promise<void> {
    const { teams, roles } = organization;
    const team = random.pick([...teams.values()]);
    const answer = await root('DELETE', `/teams/${team.id}`);
    if (team.isBuiltIn) {
      assert.ok(answer.status >= 400 && answer.status < 500, `a built-in team was deleted: ${answer.status}`);
      return;
    }
    ok(answer);
    teams.delete(team.id);
    for (const role of roles.values()) role.teams.delete(team.id);
    end(organization, ({ to, on }) => ('team' in to && to.team === team.id) || on === `team:${team.id}`);
    endOfLeavers(organization);
  }

  function anyPermissions(): string[] {
    return random.some(PERMISSIONS, random.pick([0.03, 0.1, 0.4]));
  }

  async function addRole(organization: PlainOrganization): Promise<void> {
    const { name, teams, roles } = organization;
    if (roles.size >= MAX_ROLES) return removeRole(organization);
    const permissions = anyPermissions();
    const teamIDs = random.some([...teams.keys()], 0.3);
    const body = { name: `r${++made}`, permissions: permissions.map(pairOf), teamIDs };
    const { id } = ok(await root('POST', `/authz/roles?org=${name}`, body)).body;
    roles.set(id, { id, permissions: new Set(permissions), teams: new Set(teamIDs) });
  }

  async function editRole({ name, roles }: PlainOrganization): Promise<void> {
    const role = anyRole(roles);
    if (role === undefined) return;
    const permissions = anyPermissions();
    ok(await root('PUT', `/authz/roles/${role.id}?org=${name}`, { permissions: permissions.map(pairOf) }));
    role.permissions = new Set(permissions);
  }

  async function removeRole(organization: PlainOrganization): Promise<void> {
    const { name, roles } = organization;
    const role = anyRole(roles);
    if (role === undefined) return;
    ok(await root('DELETE', `/authz/roles/${role.id}?org=${name}`));
    roles.delete(role.id);
    end(organization, (one) => one.role === role.id);
  }

  async function assign({ teams, roles }: PlainOrganization): Promise<void> {
    const [team, role] = [random.pick([...teams.keys()]), anyRole(roles)];
    if (role === undefined) return;
    ok(await root('PUT', `/teams/${team}/roles/${role.id}`));
    role.teams.add(team);
  }

  async function unassign({ roles }: PlainOrganization): Promise<void> {
    const role = anyRole(roles);
    if (role === undefined || role.teams.size === 0) return;
    const team = random.pick([...role.teams]);
    ok(await root('DELETE', `/teams/${team}/roles/${role.id}`));
    role.teams.delete(team);
  }

  /** Assigns a role to a member, a robot account or a team, somewhere, some until later. One that has no effect there, or is there already, is rejected. */
  async function grant(organization: PlainOrganization): Promise<void> {
    const { name, teams, roles, grants } = organization;
    const role = anyRole(roles);
    const members = [...new Set([...teams.values()].flatMap((team) => [...team.members]))];
    if (role === undefined || members.length === 0) return;
    const owned = world.things.filter(({ owner, type }) => owner === name && type !== 'token');
    const robots = owned.filter(({ type }) => type === 'robot_ac');
    const places = [
      { text: '', on: undefined },
      ...owned.map(({ type, id }) => ({ text: `${type}:${id}`, on: { type, id } })),
      ...[...teams.keys()].map((id) => ({ text: `team:${id}`, on: { type: 'team', id } })),
      ...['eu', 'us'].map((set) => ({ text: `set:${set}`, on: { type: 'cluster_set', name: set } })),
    ];
    const { text, on } = random.pick(places);
    const isToTeam = text !== '' && random.chance(0.3);
    const person = random.pick(members);
    const team = random.pick([...teams.keys()]);
    const robot = !isToTeam && robots.length > 0 && random.chance(0.4) ? random.pick(robots).id : undefined;
    const single = robot === undefined ? { type: 'user', name: person } : { type: 'robot_ac', id: robot };
    const to = isToTeam ? { type: 'team', id: team } : single;
    const ends = expires && random.chance(0.4);
    const isOnClusters = text.startsWith('cluster:') || text.startsWith('set:');
    const namespaces = isOnClusters ? NAMESPACES[grants.length % (2 * NAMESPACES.length)] : undefined;
    const more = { ...(namespaces && { namespaces }), ...(ends && { expires_at: LATER }) };
    const body = { role: { id: role.id }, to, ...(on && { on }), ...more };
    const answer = await root('POST', `/authz/assignments?org=${name}`, body);
    if (answer.body?.reason === 'no_effect' || answer.body?.reason === 'already_assigned') return;
    const { id } = ok(answer).body;
    const plainTo = isToTeam ? { team } : robot === undefined ? { person } : { robot };
    grants.push({ id, role: role.id, to: plainTo, on: text, namespaces, ends });
  }

  async function withdraw({ name, grants }: PlainOrganization): Promise<void> {
    if (grants.length === 0) return;
    const one = random.pick(grants);
    ok(await root('DELETE', `/authz/assignments/${one.id}?org=${name}`));
    grants.splice(grants.indexOf(one), 1);
  }

  /** The time of an assignment is over. Nobody says so to any server. */
  async function letOneExpire({ grants }: PlainOrganization): Promise<void> {
    const ending = grants.filter(({ ends }) => ends);
    if (ending.length === 0) return;
    const one = random.pick(ending);
    await atrium.instance.db.query(EXPIRE, [one.id]);
    grants.splice(grants.indexOf(one), 1);
  }

  async function moveCluster({ name }: PlainOrganization): Promise<void> {
    const clusters = world.things.filter(({ owner, type }) => owner === name && type === 'cluster');
    if (clusters.length === 0) return;
    const cluster = random.pick(clusters);
    const set = random.pick(['', 'eu', 'us']);
    ok(await root('PATCH', `/clusters/${cluster.id}`, { clusterSetName: set }));
    cluster.set = set;
  }

  function end({ grants }: PlainOrganization, isOver: (one: PlainGrant) => boolean): void {
    grants.splice(0, Infinity, ...grants.filter((one) => !isOver(one)));
  }

  function endOfLeavers(organization: PlainOrganization): void {
    const all = [...organization.teams.values()];
    end(organization, ({ to }) => 'person' in to && !all.some(({ members }) => members.has(to.person)));
  }

  async function addThing(organization: PlainOrganization): Promise<void> {
    const { name } = organization;
    if (world.things.filter(({ owner }) => owner === name).length >= MAX_THINGS) return removeThing(organization);
    const kind = random.below(4);
    if (kind === 0) return addCluster(`/orgs/${name}/clusters`, name, root);
    if (kind === 1) {
      const { id } = ok(await root('POST', `/orgs/${name}/contracts`, { name: `c${++made}` })).body;
      world.things.push({ type: 'contract', id, owner: name });
      return;
    }
    const { id } = ok(await root('POST', `/orgs/${name}/robots`, { name: `b${++made}` })).body;
    world.things.push({ type: 'robot_ac', id, owner: name });
    if (kind === 2) return;
    const token = ok(await root('POST', `/robots/${id}/tokens`, { name: 'test', scopes: ['all'] })).body;
    world.things.push({ type: 'token', id: token.id, owner: name });
    const caller = `robot ${id}`;
    atrium.world.users[caller] = { id: BigInt(id), token: token.sha1 };
    world.robots.push({ id, name: caller, robotOf: name, isAdmin: false, isActive: true });
  }

  async function addCluster(path: string, owner: string, call: typeof root): Promise<void> {
    const { id } = ok(await call('POST', path, { name: `k${++made}`, uid: uidOf(made) })).body;
    world.things.push({ type: 'cluster', id, owner });
  }

  /** Robots stay, because their tokens go with them. */
  async function removeThing(organization: PlainOrganization): Promise<void> {
    const { name } = organization;
    const owned = world.things.filter(({ owner, type }) => owner === name && /^c/.test(type));
    if (owned.length === 0) return;
    const thing = random.pick(owned);
    ok(await root('DELETE', `/${thing.type}s/${thing.id}`));
    world.things.splice(world.things.indexOf(thing), 1);
    end(organization, ({ on }) => on === `${thing.type}:${thing.id}`);
  }

  async function toggleAdmin(): Promise<void> {
    const person = anyPerson();
    ok(await root('PATCH', `/admin/users/${person.name}`, { admin: !person.isAdmin }));
    person.isAdmin = !person.isAdmin;
  }

  async function toggleActive(): Promise<void> {
    const person = anyPerson();
    ok(await root('PATCH', `/admin/users/${person.name}`, { active: !person.isActive }));
    person.isActive = !person.isActive;
  }

  function anyRole(roles: ReadonlyMap<number, PlainRole>): PlainRole | undefined {
    return roles.size === 0 ? undefined : random.pick([...roles.values()]);
  }
}

function uidOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

function pairOf(permission: string): { namespace: string; action: string } {
  const [namespace = '', action = ''] = permission.split('/');
  return { namespace, action };
}

function ok(answer: Answer): Answer {
  assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status}: ${answer.text}`);
  return answer;
}
