import type { ExplainStore, PersonRef } from '../authz/explain/explain.ts';
import type { Graphs, GraphTuple } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import { byId } from '../authz/object-ref.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { createPace, mapInSlices } from '../base/slices.ts';
import { assignmentsOf } from '../changes/derived-tuples.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { allowed } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { CATALOG, type CatalogEntry } from './catalog.ts';
import { draftOf, type RoleDraft, type RoleInput, type RoleStore } from './roles.ts';

export interface Effect {
  readonly person: PersonRef;
  readonly gains: readonly CatalogEntry[];
  readonly loses: readonly CatalogEntry[];
}

export type RolePreview = ReturnType<typeof createRolePreview>;

export interface Effects {
  /** Ordered by ID; those after the first thousand are left out. */
  readonly effects: readonly Effect[];
  /** How many users are affected. */
  readonly total: number;
}

/** Users about whom the same is said. */
interface Group {
  readonly representative: string;
  readonly users: string[];
}

/** What each group holds. */
type Held = readonly ReadonlySet<string>[];

const MAX_LISTED = 1000;

/** What a change to a role would change, and for whom. Nothing is written; the answers come from the same engine. */
export function createRolePreview(
  graphs: Pick<Graphs, 'copyOf'>,
  names: Pick<ExplainStore, 'names'>,
  roles: Pick<RoleStore, 'get'>,
  judge: Pick<Judge, 'holds'>,
) {
  return { preview };

  /** Previews creating the role if there is no ID, otherwise changing or deleting it. */
  async function preview(
    organizationId: bigint,
    callerId: bigint,
    id: bigint | undefined,
    input: RoleInput | 'delete',
  ): Promise<Effects> {
    const needed = id === undefined ? 'can_create_role' : input === 'delete' ? 'can_delete_roles' : 'can_edit_roles';
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(callerId, organizationId, needed, organization))) throw missingRelation(needed);
    const current = id === undefined ? undefined : await roles.get(organizationId, id);
    if (id !== undefined && !current) throw new AppError('notFound', 'role not found', { reason: 'role_not_found' });
    const next = input === 'delete' ? undefined : draftOf(current, input);
    const teamIds = [...new Set([...teamsOf(current), ...teamsOf(next)])];
    const teams = await visibleTeams(organizationId, callerId, teamIds);
    const { graph, groups } = await scene(organizationId, (user, object) =>
      user === subjectOfPrincipal(callerId) ? teamIds.some((id) => object === `team:${id}`) : teams.has(object),
    );
    const before = await heldBy(graph, organizationId, groups);
    graph.replaceSource(`role:${id ?? 0n}`, next ? roleTuples(organizationId, id ?? 0n, next) : []);
    const after = await heldBy(graph, organizationId, groups);
    return await effects(groups, before, after);
  }

  /**
   * The model does not know users by name, so users about whom the same is said hold the same. An organization may have
   * fifty thousand members, but they are in a few teams. So the graph has one user of each group.
   */
  async function scene(organizationId: bigint, isShown: (user: string, team: string) => boolean) {
    const about = new Map<string, GraphTuple[]>();
    const graph = await graphs.copyOf(organizationId, (tuple) => {
      const { user } = tuple;
      if (!user.startsWith('user:') || user === 'user:*') return true;
      const said = about.get(user);
      if (said) said.push(tuple);
      else about.set(user, [tuple]);
      return false;
    });
    const groups = new Map<string, Group>();
    const pace = createPace();
    for (const [user, said] of about) {
      await pace();
      // Members of a team are only ever stated directly.
      if (!said.some(({ object, relation }) => relation === 'member' && isShown(user, object))) continue;
      const key = said
        .map(({ object, relation }) => `${object}#${relation}`)
        .sort()
        .join(' ');
      const group = groups.get(key);
      if (group) group.users.push(user);
      else groups.set(key, { representative: user, users: [user] });
      if (!group) graph.load(said, said.length);
    }
    return { graph, groups: [...groups.values()] };
  }

  async function effects(groups: readonly Group[], before: Held, after: Held): Promise<Effects> {
    const changes = new Map<string, Pick<Effect, 'gains' | 'loses'>>();
    for (const [place, { users }] of groups.entries()) {
      const [had, has] = [before[place] ?? new Set(), after[place] ?? new Set()];
      const gains = CATALOG.filter(({ relation }) => has.has(relation) && !had.has(relation));
      const loses = CATALOG.filter(({ relation }) => had.has(relation) && !has.has(relation));
      if (gains.length + loses.length > 0) for (const user of users) changes.set(user, { gains, loses });
    }
    const listed = [...changes.keys()].sort(byId).slice(0, MAX_LISTED);
    const effects = (await people(listed)).flatMap((person) => {
      const change = changes.get(`user:${person.id}`);
      return change ? [{ person, ...change }] : [];
    });
    return { effects, total: changes.size };
  }

  /** Whoever may manage roles may still not know who is in which team. What changes for themselves, everybody may know. */
  async function visibleTeams(organizationId: bigint, callerId: bigint, teamIds: readonly bigint[]) {
    const organization = { type: 'organization', id: organizationId } as const;
    const seesAll = await judge.holds(callerId, organizationId, 'can_view_members', organization);
    const seen = new Set<string>();
    for (const id of teamIds) {
      if (seesAll || (await judge.holds(callerId, organizationId, 'can_view', { type: 'team', id })))
        seen.add(`team:${id}`);
    }
    return seen;
  }

  async function people(users: readonly string[]): Promise<PersonRef[]> {
    const found = await names.names(users);
    const persons = users.map((user) => ({ id: BigInt(user.slice('user:'.length)), name: found.get(user) ?? '' }));
    return persons.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** The tuples of a role as it would be. */
export function roleTuples(organizationId: bigint, id: bigint, draft: Pick<RoleDraft, 'permissions' | 'teamIds'>) {
  const relations = draft.permissions.map(({ relation }) => relation);
  return assignmentsOf(organizationId, id, relations, draft.teamIds);
}

async function heldBy(graph: Graph, organizationId: bigint, groups: readonly Group[]): Promise<Held> {
  return await mapInSlices(
    groups,
    ({ representative }) => new Set(allowed(graph, representative, `organization:${organizationId}`)),
  );
}

function teamsOf(role: Pick<RoleDraft, 'teamIds'> | undefined): readonly bigint[] {
  return role?.teamIds ?? [];
}
