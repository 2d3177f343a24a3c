import { createPace } from '../base/slices.ts';
import { kindOf } from '../changes/object-kinds.ts';
import { allowed, check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import type { Tuple } from '../rebac/tuple.ts';
import type { Graphs } from './graphs.ts';
import { idOf } from './object-ref.ts';

/** A team of the organization that the caller may see. */
export interface TeamInScene {
  readonly id: bigint;
  /** What its members are in the organization: viewer, editor, admin or owner, if anything. */
  readonly level: string | undefined;
  readonly roles: readonly bigint[];
  readonly members: readonly string[];
}

export interface RoleInScene {
  readonly id: bigint;
  readonly relations: readonly string[];
  readonly teams: readonly bigint[];
}

/** Users who are in exactly the same teams. */
export interface Crowd {
  readonly teams: readonly bigint[];
  readonly size: number;
}

/**
 * The rules of an organization, as far as the caller may see its teams and roles, in a graph of their own. Nothing that
 * is computed from it can depend on a team or role that the caller may not see.
 */
export interface Scene {
  readonly graph: Graph;
  readonly teams: ReadonlyMap<bigint, TeamInScene>;
  readonly roles: ReadonlyMap<bigint, RoleInScene>;
  /** The teams of the user. */
  readonly userTeams: readonly bigint[];
  /** Everybody else in the teams, by what they are in. */
  readonly crowds: readonly Crowd[];
  /** What the caller holds and may do, which does not depend on what they may see. */
  readonly caller: CallerInScene;
  /** Other objects of the same type that the caller may see. Those about which the same is said are in the graph once. */
  readonly peers: readonly Peer[];
  /** An object of that type as it would be if it were created now. Undefined if there is only one of the type. */
  readonly newcomer: string | undefined;
}

export interface Peer {
  readonly object: string;
  readonly count: number;
}

export interface CallerInScene {
  readonly seesAllTeams: boolean;
  /** Relations that the caller holds on the organization. */
  readonly held: ReadonlySet<string>;
  /** Levels that the caller has in the organization. */
  readonly levels: ReadonlySet<string>;
  /** Teams to which the caller may add members of the organization. */
  readonly addsTo: ReadonlySet<bigint>;
  /** Teams to which the caller may add those who are no members yet. */
  readonly hosts: ReadonlySet<bigint>;
  /** Whether the user is a member of the organization already. */
  readonly isUserMember: boolean;
}

export const LEVELS = ['viewer', 'editor', 'admin', 'owner'];

export interface SceneQuery {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly userId: bigint;
  readonly object: string;
}

export async function readScene(
  graphs: Pick<Graphs, 'copyOf'>,
  { organizationId, callerId, userId, object }: SceneQuery,
): Promise<Scene> {
  const organization = `organization:${organizationId}`;
  const [caller, user] = [`user:${callerId}`, `user:${userId}`];
  const members = new Map<string, string[]>();
  const statements: Tuple[] = [];
  const admins = new Set<string>();
  const [type = ''] = object.split(':');
  const isResource = kindOf(type)?.isResource === true;
  const said = new Map<string, string>();
  const graph = await graphs.copyOf(organizationId, (tuple) => {
    if (isResource && tuple.object !== object && tuple.object.startsWith(`${type}:`)) {
      const known = said.get(tuple.object);
      said.set(tuple.object, `${known === undefined ? '' : `${known},`}${tuple.relation} ${tuple.user}`);
      return false;
    }
    if (tuple.relation === 'member' && tuple.object.startsWith('team:')) push(members, tuple.object, tuple.user);
    if (tuple.object.startsWith('platform:')) admins.add(tuple.user);
    if (tuple.user.startsWith('user:') && tuple.user !== 'user:*') return tuple.user === caller || tuple.user === user;
    const isRule = tuple.object === organization || /^(team|role):/.test(tuple.object);
    if (isRule && tuple.user.includes('#')) statements.push(tuple);
    return isRule || tuple.object === object;
  });
  const pace = createPace();
  const teams = new Map<bigint, TeamInScene & { level: string | undefined; roles: bigint[] }>();
  const roles = new Map<bigint, { id: bigint; relations: string[]; teams: bigint[] }>();
  for (const { object: on, relation, user: subject } of statements) {
    const [from = ''] = subject.split('#');
    if (on === organization && from.startsWith('team:')) {
      const team = teamOf(from);
      if (LEVELS.includes(relation)) team.level = relation;
    } else if (on === organization && from.startsWith('role:')) roleOf(from).relations.push(relation);
    else if (on.startsWith('role:') && from.startsWith('team:')) {
      roleOf(on).teams.push(idOf(from));
      teamOf(from).roles.push(idOf(on));
    }
    await pace();
  }
  const holds = (relation: string, on: string) => check(graph, { user: caller, relation, object: on });
  const isUserMember = check(graph, { user, relation: 'participant', object: organization });
  const isHost = holds('can_add_member', organization);
  const [addsTo, hosts] = [new Set<bigint>(), new Set<bigint>()];
  const hidden: string[] = [];
  for (const { id } of teams.values()) {
    if (!holds('can_view', `team:${id}`)) hidden.push(`team:${id}`);
    if (holds('can_add_member', `team:${id}`)) addsTo.add(id);
    if (isHost || holds('steward', `team:${id}`)) hosts.add(id);
    await pace();
  }
  const isTeamHidden = new Set(hidden);
  for (const role of roles.values()) {
    // Whoever sees a team sees its roles.
    const isSeen = role.teams.some((id) => !isTeamHidden.has(`team:${id}`)) || holds('can_view', `role:${role.id}`);
    if (!isSeen) hidden.push(`role:${role.id}`);
    await pace();
  }
  const inScene: CallerInScene = {
    seesAllTeams: holds('can_view_teams', organization),
    held: new Set(allowed(graph, caller, organization)),
    levels: new Set(LEVELS.filter((level) => holds(level, organization))),
    addsTo,
    hosts,
    isUserMember,
  };
  for (const source of hidden) {
    graph.replaceSource(source, []);
    if (source.startsWith('team:')) teams.delete(idOf(source));
    else roles.delete(idOf(source));
    await pace();
  }
  const userTeams = [...teams.values()].filter(({ members: all }) => all.includes(user)).map(({ id }) => id);
  // Site administrators hold everything already.
  const crowds = await crowdsOf(teams.values(), (member) => member !== user && !admins.has(member), pace);
  const peers = isResource ? await resourcePeers() : type === 'team' ? teamPeers() : [];
  const newcomer = isResource || type === 'team' ? `${type}:0` : undefined;
  if (newcomer) graph.replaceSource(newcomer, [{ object: newcomer, relation: 'organization', user: organization }]);
  return { graph, teams, roles, userTeams, crowds, caller: inScene, peers, newcomer };

  /** There may be thousands, but they differ in little: one of each kind is asked about. */
  async function resourcePeers(): Promise<Peer[]> {
    const counts = new Map<string, number>();
    for (const facts of said.values()) {
      counts.set(facts, (counts.get(facts) ?? 0) + 1);
      await pace();
    }
    return [...counts].flatMap(([facts, count], place) => {
      const peer = `${type}:${-1 - place}`;
      const tuples = facts.split(',').map((fact): Tuple => {
        const [relation = '', subject = ''] = fact.split(' ');
        return { object: peer, relation, user: subject };
      });
      graph.replaceSource(peer, tuples);
      return holds('can_view', peer) ? [{ object: peer, count }] : [];
    });
  }

  function teamPeers(): Peer[] {
    return [...teams.keys()].map((id) => ({ object: `team:${id}`, count: 1 })).filter((peer) => peer.object !== object);
  }

  function teamOf(text: string) {
    const id = idOf(text);
    const known = teams.get(id);
    if (known) return known;
    const team = { id, level: undefined, roles: [], members: members.get(text) ?? [] };
    teams.set(id, team);
    return team;
  }

  function roleOf(text: string) {
    const id = idOf(text);
    const known = roles.get(id);
    if (known) return known;
    const role = { id, relations: [], teams: [] };
    roles.set(id, role);
    return role;
  }
}

/** An organization may have fifty thousand members, but they are in a few teams. */
async function crowdsOf(
  teams: Iterable<TeamInScene>,
  counts: (member: string) => boolean,
  pace: ReturnType<typeof createPace>,
) {
  const teamsOf = new Map<string, bigint[]>();
  for (const { id, members } of teams) {
    for (const member of members) if (counts(member)) push(teamsOf, member, id);
    await pace();
  }
  const crowds = new Map<string, { teams: readonly bigint[]; size: number }>();
  for (const ids of teamsOf.values()) {
    const key = ids.join();
    const crowd = crowds.get(key);
    if (crowd) crowd.size += 1;
    else crowds.set(key, { teams: ids, size: 1 });
    await pace();
  }
  return [...crowds.values()];
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
