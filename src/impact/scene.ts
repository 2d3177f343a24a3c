/**
 * An organization as it is at one moment, read from the tuples of its graph: its teams and roles, which the changes are
 * about, who is in which team, and a graph in which nobody is anywhere yet.
 */

import type { Graphs, GraphTuple } from '../authz/graphs.ts';
import { idOf } from '../authz/object-ref.ts';
import { PERMISSION_OF } from '../changes/derived-tuples.ts';
import { kindOf } from '../changes/object-kinds.ts';
import type { Permission } from '../identity/callers.ts';
import type { Graph } from '../rebac/graph.ts';
import { CATALOG, type CatalogEntry } from '../roles/catalog.ts';
import type { RoleDraft, TeamExpiries } from '../roles/roles.ts';
import type { TeamState } from './team-state.ts';

export interface RoleState extends RoleDraft {
  readonly id: bigint;
  readonly teamExpiries: TeamExpiries;
}

export interface Scene {
  readonly organizationId: bigint;
  /** Of teams and roles. It has no users and no other objects: those that are alike are entered once, by `crowd.ts`. */
  readonly graph: Graph;
  readonly teams: ReadonlyMap<bigint, TeamState>;
  readonly roles: ReadonlyMap<bigint, RoleState>;
  /** What is said about each user, such as `user:7`. */
  readonly said: ReadonlyMap<string, readonly GraphTuple[]>;
  /** What is said about each object that is neither a team nor a role, such as `organization organization:1`. */
  readonly resources: ReadonlyMap<string, string>;
}

/** What tuples do not say: the names of teams and roles, and when memberships and assignments end. */
export interface SceneDetails {
  readonly teams: readonly { readonly id: bigint; readonly name: string }[];
  readonly roles: readonly { readonly id: bigint; readonly name: string; readonly description: string }[];
  readonly memberEnds: readonly { readonly teamId: bigint; readonly userId: bigint; readonly expiresAt: Date }[];
  readonly roleEnds: readonly { readonly roleId: bigint; readonly teamId: bigint; readonly expiresAt: Date }[];
}

interface TeamDraft {
  permission: Permission;
  isBuiltIn: boolean;
  readonly members: Set<string>;
  readonly ends: Map<string, Date>;
}

interface RoleParts {
  readonly relations: Set<string>;
  readonly teamIds: bigint[];
}

const NO_TUPLES: readonly GraphTuple[] = [];

/** @param note gets every tuple of the organization, also those that are not kept */
export async function readScene(
  graphs: Pick<Graphs, 'copyOf'>,
  organizationId: bigint,
  details: SceneDetails,
  note?: (tuple: GraphTuple) => void,
): Promise<Scene> {
  const teams = new Map<string, TeamDraft>();
  const roles = new Map<string, RoleParts>();
  const said = new Map<string, GraphTuple[]>();
  const resources = new Map<string, string>();
  const graph = await graphs.copyOf(organizationId, (tuple) => {
    note?.(tuple);
    const { object, relation, user } = tuple;
    const type = object.slice(0, object.indexOf(':'));
    if (kindOf(type)?.isResource) {
      const known = resources.get(object);
      resources.set(object, known === undefined ? `${relation} ${user}` : `${known},${relation} ${user}`);
      return false;
    }
    if (user.startsWith('user:') && user !== 'user:*') {
      const known = said.get(user);
      if (known) known.push(tuple);
      else said.set(user, [tuple]);
      if (type === 'team' && relation === 'member') teamOf(object).members.add(user);
      return false;
    }
    read(type, tuple);
    return true;
  });
  return { organizationId, graph, ...settle(), said, resources };

  function read(type: string, { object, relation, user }: GraphTuple): void {
    const [subject = '', userset] = user.split('#');
    if (type === 'team') {
      const team = teamOf(object);
      if (relation === 'built_in') team.isBuiltIn = true;
    } else if (type === 'role') {
      const role = roleOf(object);
      if (relation === 'assignee') role.teamIds.push(idOf(subject));
    } else if (userset === 'member') {
      const permission = PERMISSION_OF.get(relation);
      if (permission) teamOf(subject).permission = permission;
    } else if (userset === 'assignee') roleOf(subject).relations.add(relation);
  }

  function teamOf(name: string): TeamDraft {
    const known = teams.get(name);
    if (known) return known;
    const fresh: TeamDraft = { permission: 'none', isBuiltIn: false, members: new Set(), ends: new Map() };
    teams.set(name, fresh);
    return fresh;
  }

  function roleOf(name: string): RoleParts {
    const known = roles.get(name);
    if (known) return known;
    const fresh: RoleParts = { relations: new Set(), teamIds: [] };
    roles.set(name, fresh);
    return fresh;
  }

  function settle() {
    const teamNames = new Map(details.teams.map(({ id, name }) => [id, name]));
    const roleWords = new Map(details.roles.map((role) => [role.id, role]));
    for (const { teamId, userId, expiresAt } of details.memberEnds) {
      const team = teams.get(`team:${teamId}`);
      if (team?.members.has(`user:${userId}`)) team.ends.set(`user:${userId}`, expiresAt);
    }
    const roleEnds = Map.groupBy(details.roleEnds, ({ roleId }) => roleId);
    return {
      teams: new Map(
        [...teams].map(([text, team]) => {
          const id = idOf(text);
          return [id, { id, name: teamNames.get(id) ?? '', ...team }];
        }),
      ),
      roles: new Map(
        [...roles].map(([text, { relations, teamIds }]) => {
          const id = idOf(text);
          const { name = '', description = '' } = roleWords.get(id) ?? {};
          teamIds.sort((a, b) => (a < b ? -1 : 1));
          const ends = (roleEnds.get(id) ?? []).filter(({ teamId }) => teamIds.includes(teamId));
          const teamExpiries = new Map(ends.map(({ teamId, expiresAt }) => [teamId, expiresAt]));
          return [id, { id, name, description, permissions: entriesOf(relations), teamIds, teamExpiries }];
        }),
      ),
    };
  }
}

export function saidAbout({ said }: Pick<Scene, 'said'>, user: string): readonly GraphTuple[] {
  return said.get(user) ?? NO_TUPLES;
}

export /** Two entries of the catalog can mean one relation. Then the role has both, which makes no difference to anybody. */
function entriesOf(relations: ReadonlySet<string>): CatalogEntry[] {
  return CATALOG.filter(({ relation }) => relations.has(relation));
}
