import {
  check,
  createGraph,
  type Graph,
  isUnlikeOthers,
  type Model,
  nodeOf,
  possibleUsers,
  statedAbout,
  textOfObject,
  textOfSubject,
} from '../../../packages/rebac/src/rebac.ts';
import { createYielder } from '../../base/scheduling/slices.ts';
import { principalOfSubject, subjectOfPrincipal } from '../../changes/principal.ts';
import type { Graphs, GraphTuple } from '../graphs.ts';
import { nameOf, type ObjectRef } from '../object-ref.ts';
import { inOneMoment } from '../one-moment.ts';
import { type Gift, inAssignment, withoutTuples } from './held-places.ts';
import { assignmentsIn } from './namespaces.ts';
import { type Place, relationOn } from './places.ts';

/** What it takes to give something. */
export interface Giving {
  /** Must be held at this moment. */
  readonly now: readonly { readonly relation: string; readonly object: ObjectRef }[];
  /** Must be held until they end. */
  readonly gifts: readonly Gift[];
}

/** A membership or an assignment that ends. */
export interface Ending extends Pick<GraphTuple, 'object' | 'relation' | 'user'> {
  readonly expiresAt: Date;
}

export interface GiverStore {
  /** What ends in an organization before this moment, the first end first. Null: at any time. */
  endings(organizationId: bigint, before: Date | null): Promise<readonly Ending[]>;
}

/** A yes-or-no question about a user. Objects about which the same is stated have the same key. */
interface Question {
  readonly key: string;
  readonly holds: (graph: Graph, user: string) => boolean;
}

/** Whether a user who could give it now still holds it when it ends. */
interface Doubt {
  readonly giving: number;
  readonly user: string;
  readonly question: Question;
  /** So many of the endings come before the end of the gift. */
  readonly endings: number;
}

/** About one user. There are as many objects with assignments of their own as an organization has. */
const MAX_ANSWERS = 2_000;

export type Givers = ReturnType<typeof createGivers>;

/**
 * Who could give something, for many users and many gifts in one question. The engine in this process is asked, as it is
 * for every list of users; who gives something is then decided by the judge, for that user alone (held-places.ts).
 */
export function createGivers(graphs: Pick<Graphs, 'eachTuple' | 'of' | 'together'>, store: GiverStore, model: Model) {
  return { among };

  /** For each of them, those of these users who could give it. Without users, the members of the organization. */
  async function among(
    organizationId: bigint,
    givings: readonly Giving[],
    users?: readonly bigint[],
  ): Promise<ReadonlySet<bigint>[]> {
    if (givings.length === 0) return [];
    const able = await inOneMoment(graphs, organizationId, organizationId, (graph) =>
      ableNow(graph, organizationId, givings, users?.map(subjectOfPrincipal)),
    );
    const lost = Map.groupBy(await endingEarlier(organizationId, givings, able), ({ giving }) => giving);
    const known = new Map([...new Set(able)].map((some) => [some, new Set([...some].map(principalOfSubject))]));
    return able.map((some, place) => {
      const ids = known.get(some) ?? new Set();
      const without = lost.get(place);
      return without ? ids.difference(new Set(without.map(({ user }) => principalOfSubject(user)))) : ids;
    });
  }

  /** What ends before a gift does is held by users who would still hold it without all that ends earlier. */
  async function endingEarlier(
    organizationId: bigint,
    givings: readonly Giving[],
    able: readonly ReadonlySet<string>[],
  ): Promise<Doubt[]> {
    const users = new Set([...new Set(able)].flatMap((some) => [...some]));
    const ends = givings.flatMap(({ gifts }) => gifts.map(({ until }) => until?.getTime() ?? Number.POSITIVE_INFINITY));
    const last = Math.max(...ends);
    if (users.size === 0 || ends.length === 0) return [];
    const all = await store.endings(organizationId, Number.isFinite(last) ? new Date(last) : null);
    if (all.length === 0) return [];
    const graph = await graphs.of(organizationId);
    const concerned = new Map(all.map((ending) => [ending, usersOf(graph, ending).filter((user) => users.has(user))]));
    const endings = all.filter((ending) => (concerned.get(ending) ?? []).length > 0);
    const whom = new Set(endings.flatMap((ending) => concerned.get(ending) ?? []));
    // Many requests end at the same time.
    const counts = new Map<number, number>();
    const endingsBefore = (until: Date | null) => {
      if (until === null) return endings.length;
      const known = counts.get(until.getTime()) ?? endings.filter(({ expiresAt }) => expiresAt < until).length;
      counts.set(until.getTime(), known);
      return known;
    };
    const doubts = givings.flatMap(({ gifts }, giving) => {
      const theirs = [...(able[giving] ?? [])].filter((user) => whom.has(user));
      if (theirs.length === 0) return [];
      return gifts.flatMap((gift) => {
        const before = endingsBefore(gift.until);
        const questions = before === 0 ? [] : questionsAbout(graph, organizationId, gift);
        return questions.flatMap((question) => theirs.map((user) => ({ giving, user, question, endings: before })));
      });
    });
    return await lost(organizationId, endings, doubts);
  }

  /** A user who holds something until a later end holds it until an earlier one, too. */
  async function lost(organizationId: bigint, endings: readonly Ending[], doubts: Doubt[]): Promise<Doubt[]> {
    if (doubts.length === 0) return [];
    const tuples: GraphTuple[] = [];
    await graphs.eachTuple(organizationId, (tuple) => tuples.push(tuple));
    const held = new Set<string>();
    const missing: Doubt[] = [];
    const byEnd = [...Map.groupBy(doubts, (doubt) => doubt.endings)].sort(([one], [other]) => other - one);
    for (const [count, some] of byEnd) {
      const open = some.filter(({ user, question }) => !held.has(`${user} ${question.key}`));
      if (open.length === 0) continue;
      const graph = await withoutTuples(createGraph(model), tuples, endings.slice(0, count));
      const yieldIfDue = createYielder();
      for (const doubt of open) {
        const { user, question } = doubt;
        if (question.holds(graph, user)) held.add(`${user} ${question.key}`);
        else missing.push(doubt);
        await yieldIfDue();
      }
    }
    return missing;
  }
}

/** User by user: the engine knows what a user is in as long as it is asked about the same one. */
function* ableNow(
  graph: Graph,
  organizationId: bigint,
  givings: readonly Giving[],
  users?: readonly string[],
): Generator<void, ReadonlySet<string>[], void> {
  const byKey = new Map<string, { readonly giving: Giving; readonly able: Set<string> }>();
  const keyOf = givingKeys(graph);
  const found: Set<string>[] = [];
  for (const giving of givings) {
    const key = keyOf(giving);
    const alike = byKey.get(key) ?? { giving, able: new Set() };
    byKey.set(key, alike);
    found.push(alike.able);
    yield;
  }
  const asked: { readonly questions: readonly Question[]; readonly able: Set<string> }[] = [];
  for (const { giving, able } of byKey.values()) {
    asked.push({ questions: questionsOf(graph, organizationId, giving), able });
    yield;
  }
  const remembered = rememberedIn(graph);
  remembered.members ??= membersOf(graph, organizationId);
  for (const user of users ?? remembered.members) {
    const first = alikeIn(graph, remembered, user);
    const known = remembered.answers.get(first) ?? new Map<string, boolean>();
    remembered.answers.set(first, known);
    const holds = ({ key, holds: ask }: Question): boolean => {
      const answer = known.get(key) ?? ask(graph, first);
      if (known.size < MAX_ANSWERS) known.set(key, answer);
      return answer;
    };
    for (const { questions, able } of asked) if (questions.every(holds)) able.add(user);
    yield;
  }
  return found;
}

/** Equal for givings that ask the same questions. Requests for one role have one list of permissions. */
function givingKeys(graph: Graph): (giving: Giving) => string {
  const lists = new Map<Gift['grants'], number>();
  const numberOf = (grants: Gift['grants']) => {
    const known = lists.get(grants) ?? lists.size;
    lists.set(grants, known);
    return known;
  };
  return ({ now, gifts }) => {
    const held = now.map(({ relation, object }) => `${relation} ${keyOfPlace(graph, object)}`);
    const given = gifts.map(
      ({ place, grants }) => `${numberOf(grants)} ${keyOfPlace(graph, place)} in ${place.namespaces?.join() ?? ''}`,
    );
    return [...held, '', ...given].join('\n');
  };
}

function questionsOf(graph: Graph, organizationId: bigint, { now, gifts }: Giving): Question[] {
  return [
    ...now.map(({ relation, object }) => questionOf(graph, object, relation)),
    ...gifts.flatMap((gift) => questionsAbout(graph, organizationId, gift)),
  ];
}

/** What is known of a graph. It is forgotten when the graph changes. */
interface Remembered {
  readonly revision: number;
  members: readonly string[] | undefined;
  /** By what is stated to them, one of the users in the same teams, with the same roles: they get the same answers. */
  readonly byText: Map<string, string>;
  /** By user, that one. */
  readonly alike: Map<string, string>;
  /** By user, by the key of the question. */
  readonly answers: Map<string, Map<string, boolean>>;
  /** By the name of an object, what is the same for all objects like it. */
  readonly places: Map<string, string>;
}

const known = new WeakMap<Graph, Remembered>();

function rememberedIn(graph: Graph): Remembered {
  const found = known.get(graph);
  if (found?.revision === graph.revision) return found;
  const { revision } = graph;
  const fresh = {
    revision,
    members: undefined,
    byText: new Map(),
    alike: new Map(),
    answers: new Map(),
    places: new Map(),
  };
  known.set(graph, fresh);
  return fresh;
}

function alikeIn(graph: Graph, { alike, byText }: Remembered, user: string): string {
  const found = alike.get(user);
  if (found !== undefined) return found;
  const text = textOfSubject(graph, nodeOf(graph, user));
  const first = byText.get(text) ?? user;
  byText.set(text, first);
  alike.set(user, first);
  return first;
}

/** One question for each permission that counts on the place. */
function questionsAbout(graph: Graph, organizationId: bigint, { place, grants }: Gift): Question[] {
  const relations = new Set(grants.map(({ relation }) => relation));
  return [...relations].flatMap((relation) => {
    if (relationOn(place, relation) === undefined) return [];
    const key = `${keyOfPlace(graph, place)} ${relation} in ${place.namespaces?.join() ?? ''}`;
    return [{ key, holds: (on: Graph, user: string) => holdsOn(on, user, organizationId, place, relation) }];
  });
}

function holdsOn(graph: Graph, user: string, organizationId: bigint, place: Place, relation: string): boolean {
  const holds = (asked: string, object: string) => check(graph, { user, relation: asked, object });
  const isOnAll = place.type === 'organization' || place.type === 'cluster_set';
  if (isOnAll && holds(relation, `organization:${organizationId}`)) return true;
  const there = relationOn(place, relation);
  if (place.type === 'organization' || place.id === undefined || there === undefined) return false;
  const object = `${place.type}:${place.id}`;
  if (holds(there, object)) return true;
  const { namespaces } = place;
  if (!namespaces || namespaces.length === 0) return false;
  return namespaces.every((namespace) =>
    assignmentsIn(graph, object, namespace).some((assignment) => holds(inAssignment(relation), assignment)),
  );
}

function questionOf(graph: Graph, object: ObjectRef, relation: string): Question {
  const name = nameOf(object);
  const key = `${keyOfPlace(graph, object)} ${relation}`;
  return { key, holds: (on, user) => check(on, { user, relation, object: name }) };
}

/** Users are named on teams and organizations, so each is one of its own. */
function keyOfPlace(graph: Graph, { type, id }: Pick<Place, 'type' | 'id'> | ObjectRef): string {
  const name = `${type}:${id}`;
  if (type === 'organization' || type === 'team') return name;
  const { places } = rememberedIn(graph);
  const found = places.get(name) ?? textOfPlace(graph, type, name);
  places.set(name, found);
  return found;
}

function textOfPlace(graph: Graph, type: string, name: string): string {
  const node = nodeOf(graph, name);
  if (node === -1 || isUnlikeOthers(graph, node) || statedAbout(graph, name, 'owner').length > 0) return name;
  return `${type} ${textOfObject(graph, node)}`;
}

function membersOf(graph: Graph, organizationId: bigint): string[] {
  const object = `organization:${organizationId}`;
  return possibleUsers(graph, { object, relation: 'participant', filter: 'user' }).filter(
    (user) => !user.endsWith(':*') && check(graph, { user, relation: 'participant', object }),
  );
}

/** Whom it is about: a user, or the members of a team. */
function usersOf(graph: Graph, { object, relation, user }: Ending): string[] {
  if (user.startsWith('user:')) return [user];
  const team = user.endsWith('#member') ? user.slice(0, -'#member'.length) : undefined;
  if (team === undefined || nodeOf(graph, object) === -1 || relation === 'member') return [];
  return possibleUsers(graph, { object: team, relation: 'member', filter: 'user' });
}
