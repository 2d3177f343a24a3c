import type { Random } from '../checks/random.ts';
import type { Answer, TestServer } from '../server/server.ts';

/** A change as the preview takes it. */
export interface Planned {
  readonly action: string;
  readonly id?: number;
  readonly role?: {
    readonly id?: number;
    readonly name?: string;
    readonly permissions?: readonly object[];
    readonly teamIDs?: readonly number[];
  };
  readonly team?:
    | number
    | string
    | { readonly name?: string; readonly permission?: string; readonly members?: readonly string[] };
  readonly to?: object;
  readonly on?: object;
  readonly namespaces?: readonly string[];
  readonly cluster?: { readonly clusterSetName: string };
  readonly username?: string;
  readonly expires_at?: string | null;
  readonly orphan?: boolean;
  readonly document?: string;
  readonly prune?: boolean;
}

/** What a change can be about. */
export interface Things {
  readonly users: readonly string[];
  readonly teams: readonly { readonly id: number; readonly name: string }[];
  readonly roles: readonly { readonly id: number; readonly name: string }[];
  readonly permissions: readonly object[];
  /** Of assignments, clusters, contracts and robots: their IDs. */
  readonly assignments?: readonly number[];
  readonly clusters?: readonly number[];
  readonly robots?: readonly number[];
  /** When memberships and assignments may end. */
  readonly ends: readonly string[];
}

const LEVELS = ['none', 'read', 'write', 'admin'];
const ACTIONS: readonly string[] = [
  'role.create',
  'role.update',
  'role.delete',
  'role.assign',
  'role.unassign',
  'team.create',
  'team.update',
  'team.delete',
  'team.add_member',
  'team.add_member',
  'team.add_member',
  'team.remove_member',
  'team.remove_member',
  'member.add',
  'member.remove',
  'roles.import',
  'assignment.create',
  'assignment.create',
  'assignment.create',
  'assignment.update',
  'assignment.delete',
  'cluster.update',
];
const SETS = ['eu', 'us', ''];

/** A change that may or may not be possible. */
export function randomChange(random: Random, things: Things, name: string): Planned {
  const { users, teams, roles, permissions, ends, assignments = [], clusters = [999], robots = [999] } = things;
  const action = random.pick(ACTIONS);
  const team = random.pick(teams);
  const role = roles.length > 0 ? random.pick(roles) : { id: 999, name };
  const username = random.pick(users);
  const [cluster, robot] = [random.pick(clusters), random.pick(robots)];
  const content = () => ({
    permissions: random.some(permissions, 0.2),
    teamIDs: random.some(teams, 0.3).map(({ id }) => id),
  });
  switch (action) {
    case 'role.create':
      return { action, role: { name, ...content() } };
    case 'role.update':
      return { action, id: role.id, role: content() };
    case 'role.delete':
      return { action, id: role.id };
    case 'role.assign':
      return { action, id: role.id, team: team.id, ...term() };
    case 'role.unassign':
      return { action, id: role.id, team: team.id };
    case 'team.create':
      return { action, team: { name, permission: random.pick(LEVELS), members: random.some(users, 0.2) } };
    case 'team.update':
      return { action, id: team.id, team: { permission: random.pick(LEVELS) } };
    case 'team.delete':
      return { action, id: team.id };
    case 'member.add':
      return { action, username, ...(random.chance(0.5) && { team: team.name }), ...term() };
    case 'member.remove':
      return { action, username, orphan: random.chance(0.3) };
    case 'roles.import':
      return { action, prune: random.chance(0.3), document: JSON.stringify(documentOf()) };
    case 'team.add_member':
      return { action, id: team.id, username, ...term() };
    case 'assignment.create':
      return { action, role: { id: role.id }, to: principal(), ...place(), ...namespaces(), ...term() };
    case 'assignment.update':
      return { action, id: random.pick(assignments.length > 0 ? assignments : [999]), ...term() };
    case 'assignment.delete':
      return { action, id: random.pick(assignments.length > 0 ? assignments : [999]) };
    case 'cluster.update':
      return { action, id: cluster, cluster: { clusterSetName: random.pick(SETS) } };
    default:
      return { action, id: team.id, username };
  }

  function principal(): object {
    const [user, crew] = [
      { type: 'user', name: username },
      { type: 'team', id: team.id },
    ];
    return random.pick([user, user, crew, crew, crew, { type: 'robot_ac', id: robot }]);
  }

  function place(): { readonly on?: object } {
    const onCluster = { on: { type: 'cluster', id: cluster } };
    const set = { on: { type: 'cluster_set', name: random.pick(['eu', 'us']) } };
    const others = [{}, { on: { type: 'team', id: random.pick(teams).id } }, { on: { type: 'robot_ac', id: robot } }];
    return random.pick([onCluster, onCluster, set, ...others]);
  }

  /** Also where there can be none. */
  function namespaces(): { readonly namespaces?: readonly string[] } {
    if (random.chance(0.6)) return {};
    const lists = [['web'], ['web', 'team-a'], ['team-a', 'web'], ['team-*'], ['team-a*'], ['team-a'], [], ['UPPER']];
    return { namespaces: random.pick(lists) };
  }

  function term(): { readonly expires_at?: string | null } {
    if (ends.length === 0 || random.chance(0.4)) return {};
    return { expires_at: random.chance(0.2) ? null : random.pick(ends) };
  }

  function documentOf(): object {
    const listed = [...new Set([role.name, name])].map((one) => ({
      name: one,
      permissions: random.chance(0.5) ? { org_mgmt: ['edit', 'view audit log'] } : {},
      teams: random.some(teams, 0.3).map((each) => (random.chance(0.5) ? each.name : { name: each.name, ...term() })),
    }));
    return { apiVersion: 'atrium/v1', kind: 'Roles', organization: 'acme', roles: listed };
  }
}

/** Makes a change by its own calls. The answer is that of the first call that was rejected, or of the last one. */
export async function makeForReal(atrium: TestServer, who: string, change: Planned): Promise<Answer> {
  const { action, id, role, team, username, orphan, document, prune, expires_at, to, on, cluster, namespaces } = change;
  const term = expires_at === undefined ? {} : { expires_at };
  const call = atrium.as(who);
  switch (action) {
    case 'role.create':
      return await call('POST', '/authz/roles?org=acme', role);
    case 'role.update':
      return await call('PUT', `/authz/roles/${id}?org=acme`, role);
    case 'role.delete':
      return await call('DELETE', `/authz/roles/${id}?org=acme`);
    case 'role.assign':
      return await call('PUT', `/teams/${team}/roles/${id}`, term);
    case 'role.unassign':
      return await call('DELETE', `/teams/${team}/roles/${id}`);
    case 'team.create': {
      const { members = [], ...body } = team as { readonly members?: readonly string[] };
      let answer = await call('POST', '/orgs/acme/teams', body);
      const created = answer.body.id;
      for (const member of answer.status < 300 ? members : []) {
        answer = await call('PUT', `/teams/${created}/members/${member}`);
        if (answer.status >= 300) break;
      }
      return answer;
    }
    case 'team.update':
      return await call('PATCH', `/teams/${id}`, team);
    case 'team.delete':
      return await call('DELETE', `/teams/${id}`);
    case 'team.add_member':
      return await call('PUT', `/teams/${id}/members/${username}`, term);
    case 'team.remove_member':
      return await call('DELETE', `/teams/${id}/members/${username}`);
    case 'member.add':
      return await call('PUT', `/orgs/acme/members/${username}`, { ...(team !== undefined && { team }), ...term });
    case 'member.remove':
      return await call('DELETE', `/orgs/acme/members/${username}${orphan ? '?orphan=true' : ''}`);
    case 'assignment.create':
      return await call('POST', '/authz/assignments?org=acme', { role, to, ...(on && { on }), namespaces, ...term });
    case 'assignment.update':
      return await call('PATCH', `/authz/assignments/${id}?org=acme`, term);
    case 'assignment.delete':
      return await call('DELETE', `/authz/assignments/${id}?org=acme`);
    case 'cluster.update':
      return await call('PATCH', `/clusters/${id}`, cluster);
    case 'roles.import':
      return await call('PUT', `/authz/roles/import?org=acme${prune ? '&prune=true' : ''}`, JSON.parse(document ?? ''));
    default:
      throw new Error(`no call makes ${action}`);
  }
}
