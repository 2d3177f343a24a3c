import { AppError } from '../errors.ts';
import { allowed } from '../rebac/engine.ts';
import { type Explanation, explain } from '../rebac/explain.ts';
import type { Graph } from '../rebac/graph.ts';
import { listUsers } from '../rebac/list-users.ts';
import { CATALOG, type CatalogEntry } from './catalog.ts';
import type { Graphs } from './graphs.ts';
import type { Judge } from './judge.ts';
import { nameOf, type ObjectRef } from './object-ref.ts';
import { refuseOtherPeople } from './objects.ts';
import { draftOf, type RoleDraft, type RoleInput, type RoleStore } from './roles.ts';
import { type Asked, type Sight, sightOf } from './sight.ts';

/** What an object such as `team:4` is called. */
export type Names = ReadonlyMap<string, string>;

export interface InsightStore {
  names(objects: readonly string[]): Promise<Names>;
  personNamed(login: string): Promise<{ id: bigint; name: string } | undefined>;
}

export interface Question extends Asked {
  readonly relation: string;
}

export interface Why {
  readonly personId: bigint;
  readonly allowed: boolean;
  /** From the object to the person; each rests on the deeper ones that follow it. */
  readonly steps: readonly { depth: number; object: string; relation: string; text: string }[];
  /** What would have to be so for the answer to be yes, when it is no and the object is one that the asker may see. */
  readonly missing: readonly string[];
}

export interface PersonRef {
  readonly id: bigint;
  readonly name: string;
}

export interface Effect {
  readonly person: PersonRef;
  readonly gains: readonly CatalogEntry[];
  readonly loses: readonly CatalogEntry[];
}

export type Insight = ReturnType<typeof createInsight>;

/** For those who must see who may do what, and why. Goes beyond the specification; asks the same engine. */
export function createInsight(
  graphs: Pick<Graphs, 'together' | 'copyOf'>,
  store: InsightStore,
  roles: Pick<RoleStore, 'get'>,
  judge: Pick<Judge, 'holds'>,
) {
  return { why, whoCan, preview };

  /** Why somebody may, or may not; about others only for those who may see the members. */
  async function why(question: Question, login: string | undefined): Promise<Why> {
    const { organizationId, askerId } = question;
    const person = login === undefined ? { id: askerId } : await store.personNamed(login);
    if (person?.id !== askerId) await requireOn(organizationId, askerId, 'can_view_members');
    if (!person) throw new AppError('notFound', `user does not exist: ${login}`);
    const { names, ...found } = await seen(question, (sight) => reasons(sight, question, person.id));
    const inWords = await naming(names);
    return {
      personId: person.id,
      allowed: found.allowed,
      steps: found.steps.map(({ depth, object, relation, text }) => ({ depth, object, relation, text: inWords(text) })),
      missing: found.missing.map(inWords),
    };
  }

  /** Everybody who holds a relation on an object, by id. */
  async function whoCan(question: Question): Promise<PersonRef[]> {
    const { object, relation } = question;
    const users = await seen(question, ({ graph, facts }) =>
      listUsers(graph, { object: nameOf(object), relation, filter: 'user', ...facts }),
    );
    return await people(users);
  }

  async function seen<T>(question: Question, ask: (sight: Sight) => T): Promise<T> {
    const { organizationId, askerId, object, relation } = question;
    refuseOtherPeople(askerId, [object]);
    return await graphs.together(organizationId, askerId, (organization, own) => {
      requireRelationOf(organization, object, relation);
      return ask(sightOf(question, organization, own));
    });
  }

  /** What making, changing or deleting a role would change, and for whom. Nothing is written. */
  async function preview(organizationId: bigint, askerId: bigint, id: bigint | undefined, input: RoleInput | 'delete') {
    await requireOn(
      organizationId,
      askerId,
      id === undefined ? 'can_create_role' : input === 'delete' ? 'can_delete_roles' : 'can_edit_roles',
    );
    const current = id === undefined ? undefined : await roles.get(organizationId, id);
    if (id !== undefined && !current) throw new AppError('notFound', 'role not found');
    const next = input === 'delete' ? undefined : draftOf(current, input);
    const graph = await graphs.copyOf(organizationId);
    const members = new Set([...teamsOf(current), ...teamsOf(next)].flatMap((team) => membersOf(graph, team)));
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

  async function requireOn(organizationId: bigint, personId: bigint, relation: string): Promise<void> {
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    if (await judge.holds(personId, organizationId, relation, organization)) return;
    throw new AppError('forbidden', `missing relation ${relation}`);
  }

  async function people(users: readonly string[]): Promise<PersonRef[]> {
    const names = await store.names(users);
    const persons = users.map((user) => ({ id: BigInt(user.slice('user:'.length)), name: names.get(user) ?? '' }));
    return persons.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function naming(objects: readonly string[]): Promise<(text: string) => string> {
    const names = await store.names(objects);
    return (text) =>
      text.replace(OBJECT, (object) => (names.has(object) ? `${object.split(':')[0]} ${names.get(object)}` : object));
  }
}

/** An object that the asker may not see is explained like one that does not exist: by nothing. */
function reasons(sight: Sight, { object, relation }: Question, personId: bigint) {
  const found = explain(sight.graph, { user: `user:${personId}`, relation, object: nameOf(object), ...sight.facts });
  const missing = sight.sees(nameOf(object)) ? wordingOf(found.missing) : [];
  const texts = [...found.steps.map((step) => step.text), ...missing];
  const objects = new Set(texts.flatMap((text) => text.match(OBJECT) ?? []));
  const isKnown = (one: string) => one === `user:${personId}` || sight.sees(one);
  return { allowed: found.allowed, steps: found.steps, missing, names: [...objects].filter(isKnown) };
}

function wordingOf(missing: Explanation['missing']): string[] {
  return [
    ...(missing?.add ?? []).map(({ user, relation, object }) => `${user} would have to be ${relation} of ${object}`),
    ...(missing?.excludedBy ?? []).map(({ object, relation }) => `${object} ${relation} would have to end`),
  ];
}

type Held = ReadonlyMap<string, ReadonlySet<string>>;

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

const OBJECT = /\b[a-z_]+:\d+\b/g;

function heldBy(graph: Graph, organizationId: bigint, users: ReadonlySet<string>): Held {
  const held = [...users].map(
    (user) => [user, new Set(allowed(graph, user, `organization:${organizationId}`))] as const,
  );
  return new Map(held);
}

function teamsOf(role: Pick<RoleDraft, 'teamIds'> | undefined): readonly bigint[] {
  return role?.teamIds ?? [];
}

function membersOf(graph: Graph, team: bigint): string[] {
  return listUsers(graph, { object: `team:${team}`, relation: 'member', filter: 'user' });
}

/** Structural relations are nobody's business: only what is shown can be asked about. */
function requireRelationOf(graph: Graph, object: ObjectRef, relation: string): void {
  const isKnown = graph.model.typeIndex.get(object.type)?.relationIndex.has(relation);
  if (isKnown && relation.startsWith('can_')) return;
  throw new AppError('invalid', `${object.type} has no relation ${JSON.stringify(relation.slice(0, 60))}`);
}
