import type { ExplainStore, PersonRef } from '../authz/explain.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { allowed, check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { listUsers } from '../rebac/list-users.ts';
import { CATALOG, type CatalogEntry } from './catalog.ts';
import { draftOf, type RoleDraft, type RoleInput, type RoleStore } from './roles.ts';

export interface Effect {
  readonly person: PersonRef;
  readonly gains: readonly CatalogEntry[];
  readonly loses: readonly CatalogEntry[];
}

export type RolePreview = ReturnType<typeof createRolePreview>;

type Held = ReadonlyMap<string, ReadonlySet<string>>;

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
  ) {
    const needed = id === undefined ? 'can_create_role' : input === 'delete' ? 'can_delete_roles' : 'can_edit_roles';
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(callerId, organizationId, needed, organization))) throw missingRelation(needed);
    const current = id === undefined ? undefined : await roles.get(organizationId, id);
    if (id !== undefined && !current) throw new AppError('notFound', 'role not found', { reason: 'role_not_found' });
    const next = input === 'delete' ? undefined : draftOf(current, input);
    const graph = await graphs.copyOf(organizationId);
    const teams = new Set([...teamsOf(current), ...teamsOf(next)]);
    const members = new Set([...teams].flatMap((team) => membersSeen(graph, organizationId, callerId, team)));
    const before = heldBy(graph, organizationId, members);
    graph.replaceSource(`role:${id ?? 0n}`, next ? roleTuples(organizationId, id ?? 0n, next) : []);
    const after = heldBy(graph, organizationId, members);
    return await effects(before, after);
  }

  async function effects(before: Held, after: Held): Promise<Effect[]> {
    const persons = await people([...before.keys()]);
    return persons
      .map((person) => {
        const had = before.get(`user:${person.id}`) ?? new Set();
        const has = after.get(`user:${person.id}`) ?? new Set();
        return {
          person,
          gains: CATALOG.filter(({ relation }) => has.has(relation) && !had.has(relation)),
          loses: CATALOG.filter(({ relation }) => had.has(relation) && !has.has(relation)),
        };
      })
      .filter(({ gains, loses }) => gains.length + loses.length > 0);
  }

  async function people(users: readonly string[]): Promise<PersonRef[]> {
    const found = await names.names(users);
    const persons = users.map((user) => ({ id: BigInt(user.slice('user:'.length)), name: found.get(user) ?? '' }));
    return persons.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** The tuples of a role, as the database derives them from its rows. */
export function roleTuples(organizationId: bigint, id: bigint, draft: Pick<RoleDraft, 'permissions' | 'teamIds'>) {
  const role = `role:${id}`;
  const organization = `organization:${organizationId}`;
  return [
    { object: role, relation: 'organization', user: organization },
    ...draft.permissions.map(({ relation }) => ({ object: organization, relation, user: `${role}#assignee` })),
    ...draft.teamIds.map((team) => ({ object: role, relation: 'assignee', user: `team:${team}#member` })),
  ];
}

function heldBy(graph: Graph, organizationId: bigint, users: ReadonlySet<string>): Held {
  const held = [...users].map(
    (user) => [user, new Set(allowed(graph, user, `organization:${organizationId}`))] as const,
  );
  return new Map(held);
}

function teamsOf(role: Pick<RoleDraft, 'teamIds'> | undefined): readonly bigint[] {
  return role?.teamIds ?? [];
}

/** Whoever may manage roles may still not know who is in which team. What changes for themselves, everybody may know. */
function membersSeen(graph: Graph, organizationId: bigint, callerId: bigint, team: bigint): string[] {
  const user = `user:${callerId}`;
  const object = `team:${team}`;
  const members = listUsers(graph, { object, relation: 'member', filter: 'user' });
  const seesAll =
    check(graph, { user, relation: 'can_view_members', object: `organization:${organizationId}` }) ||
    check(graph, { user, relation: 'can_view', object });
  return seesAll ? members : members.filter((member) => member === user);
}
