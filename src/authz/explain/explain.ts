import { check, type Graph, possibleObjects, type Step } from '../../../packages/rebac/src/rebac.ts';
import { AppError, missingRelation } from '../../base/errors.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import { createSlices } from '../../base/scheduling/slices.ts';
import type { ObjectType } from '../../changes/object-kinds.ts';
import { isSingle, type PrincipalType, principalOfSubject, subjectOfPrincipal } from '../../changes/principal.ts';
import type { MaybeLimits } from '../../identity/tokens/token-limits.ts';
import { createObjectAnswers, createUserAnswers } from '../alike-answers.ts';
import {
  type AskedPrincipalStore,
  createAskedPrincipal,
  type FormerPrincipals,
  inPrincipalOrder,
} from '../asked-principal.ts';
import type { Graphs } from '../graphs.ts';
import { type Judge, mayBeOwn } from '../judge.ts';
import { idOf, nameOf as nameOfObject, type ObjectRef } from '../object-ref.ts';
import { rejectOtherPeople } from '../objects.ts';
import { inOneMoment } from '../one-moment.ts';
import { reachesHeld } from '../token-reach.ts';
import { type Viewpoint, type ViewpointQuery, viewpointOf } from '../viewpoint.ts';
import { type Reason, reasonsFor } from './all-paths.ts';
import { type MissingParts, objectOf, partsOf, type ShownTuple, shown, withoutVain } from './explained-parts.ts';
import { explainedReasons, finished, type Reasons, type Standing } from './explained-reasons.ts';
import { missingTexts, PAST, PRESENT, sentenceFor, textOf } from './explanation-text.ts';
import { HIDDEN, isHidden, isNamed } from './hidden-objects.ts';

/** The names of objects such as `team:4`. */
export type Names = ReadonlyMap<string, string>;

export interface ExplainStore extends AskedPrincipalStore {
  names(objects: readonly string[]): Promise<Names>;
  /** Which of these users are deactivated. */
  inactive(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

export interface Question extends ViewpointQuery {
  readonly relation: string;
}

export interface ExplainedStep {
  readonly depth: number;
  readonly object: string;
  readonly relation: string;
  readonly rule: string;
  /** What the step follows from: a user, or whoever holds a relation, such as `team:4#member`. */
  readonly subject: string;
  readonly text: string;
  /** The name of the object, and of the subject, as far as the caller may know them. */
  readonly name: string;
  readonly subjectName: string;
  /** The row of the database that the step rests on, if it rests on one. */
  readonly tuple: ShownTuple | undefined;
}

export interface Explained {
  readonly personId: bigint;
  readonly allowed: boolean;
  /** Otherwise the object does not exist, or the caller may not see it: which of the two is not told. */
  readonly isFound: boolean;
  /** The whole answer in one sentence. */
  readonly sentence: string;
  /** From the object to the user. Each step rests on the deeper ones that follow it. */
  readonly steps: readonly ExplainedStep[];
  /** What would have to change for the answer to be yes, if it is no and the caller may see the object. */
  readonly missing: readonly string[];
  readonly parts: MissingParts;
  /** Every way to a yes, if they were asked for. */
  readonly paths: readonly (readonly ExplainedStep[])[];
  /** Whether there are more ways than these. */
  readonly hasMorePaths: boolean;
  readonly standing: Standing;
  /** Asked about a past moment: whether it is allowed now. */
  readonly allowedNow: boolean | undefined;
}

export interface ObjectsQuestion {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly type: ObjectType;
  readonly relation: string;
  /** What the caller's token is limited to. */
  readonly limits?: MaybeLimits;
}

export interface ObjectName {
  readonly id: bigint;
  readonly name: string;
}

/** A user, or a robot. */
export interface PersonRef {
  /** The number of changes/principal.ts. */
  readonly id: bigint;
  readonly name: string;
  /** Set if the user is deactivated: what they hold is theirs, but all their requests are rejected. */
  readonly active?: false;
}

export interface Holder extends PersonRef {
  /** Which of the further relations they hold too, if any were asked for. */
  readonly also?: readonly string[];
  /** Through what they hold the relation, if that was asked for. */
  readonly via?: readonly Via[];
}

/** What a user holds a relation through. Without number and name if the caller may not know them. */
export interface Via {
  readonly kind: Reason['kind'];
  readonly id?: bigint;
  readonly name?: string;
}

export type Explain = ReturnType<typeof createExplain>;

/**
 * Explains who may do what, and why. Goes beyond the specification, but uses the same engine. With graphs of a past
 * moment and the names of then, it explains the past to readers of the audit log, and to callers what they could do.
 */
export function createExplain(
  graphs: Pick<Graphs, 'together'>,
  store: ExplainStore,
  judge: Pick<Judge, 'holds'>,
  past?: FormerPrincipals,
) {
  const findAsked = createAskedPrincipal(store, judge);
  return { explain, whoCan, whatCan };

  /** Why a user or a robot may or may not do something. About whom a caller can ask, asked-principal.ts decides. */
  async function explain(question: Question, login: string | undefined, wantsAllPaths = false): Promise<Explained> {
    const { organizationId, callerId } = question;
    const person = await personFor(organizationId, callerId, login);
    const found = await reasonsOf(question, person.id, wantsAllPaths);
    const names = await namesOf(organizationId, found.visible);
    const nameOf = (object: string) => names.get(object) ?? (isHidden(object) ? HIDDEN : object);
    const user = nameOf(subjectOfPrincipal(person.id));
    const tense = past ? PAST : PRESENT;
    const missing = missingTexts(withoutVain(found.missing), user, nameOf, tense);
    const { allowed, steps, standing } = found;
    const isFound = standing !== 'hidden' || allowed;
    const object = nameOfObject(question.object);
    const asked = { user, relation: question.relation, object, namespace: question.object.namespace };
    const shownStep = (step: Step): ExplainedStep => ({
      depth: step.depth,
      object: step.object,
      relation: step.relation,
      rule: step.rule,
      subject: step.tuple?.user ?? '',
      text: textOf(step, user, nameOf, tense),
      name: nameOf(step.object),
      subjectName: step.tuple ? nameOf(objectOf(step.tuple.user)) : '',
      tuple: step.tuple && shown(step.tuple),
    });
    return {
      personId: person.id,
      allowed,
      isFound,
      sentence: found.isMissed
        ? `${nameOf(object)} did not exist at that moment`
        : sentenceFor(asked, { allowed, steps, missing }, nameOf, tense),
      steps: steps.map(shownStep),
      paths: found.paths.paths.map((path) => path.map(shownStep)),
      hasMorePaths: found.paths.hasMore,
      standing,
      missing,
      parts: partsOf(found.missing, nameOf),
      allowedNow: found.allowedNow,
    };
  }

  async function personFor(organizationId: bigint, callerId: bigint, login?: string): Promise<{ readonly id: bigint }> {
    return login === undefined ? { id: callerId } : await findAsked(organizationId, callerId, login, past);
  }

  /**
   * All users who hold a relation on an object, by ID, and after them all robots that the caller may view. Nobody does on
   * an object that the caller may not see. Among tens of thousands, others are served in between: each user in the list
   * holds the relation at a moment after the call.
   */
  async function whoCan(
    question: Question,
    { offset, limit }: PageRequest,
    further: readonly string[] = [],
    wantsReasons = false,
    only?: PrincipalType,
  ): Promise<Page<Holder>> {
    const { relation, organizationId } = question;
    if (past) await requireOn(organizationId, question.callerId, 'can_view_audit_log');
    for (const one of further) await seen({ ...question, relation: one }, () => undefined);
    const object = nameOfObject(question.object);
    const possible = await seen(question, ({ possible: all, sees }) => {
      if (!sees(object)) return [];
      const users = only === 'robot_ac' ? [] : all(relation, 'user');
      if (only === 'user') return users;
      return [...users, ...all(relation, 'robot_ac').filter((robot) => isSingle(robot) && sees(robot))];
    });
    const ids: bigint[] = [];
    let eyes: Viewpoint | undefined;
    const holds = createUserAnswers((_, user) => eyes?.holds(user, relation) ?? false);
    await eachSeen(question, possible, (viewpoint, user) => {
      eyes = viewpoint;
      // What is asked about an account depends on more than the graph.
      const isHeld = question.object.type === 'user' ? viewpoint.holds(user, relation) : holds(viewpoint.graph, user);
      if (isHeld) ids.push(principalOfSubject(user));
    });
    const named = await people(organizationId, inPrincipalOrder(ids).slice(offset, offset + limit));
    const shown = wantsReasons ? await withReasons(question, named) : named;
    if (further.length === 0) return { items: shown, total: ids.length };
    const also = new Map<PersonRef, string[]>();
    await eachSeen(question, shown, (viewpoint, person) => {
      const user = subjectOfPrincipal(person.id);
      also.set(
        person,
        further.filter((one) => viewpoint.holds(user, one)),
      );
    });
    return { items: shown.map((person) => ({ ...person, also: also.get(person) ?? [] })), total: ids.length };
  }

  /** Others are served in between, so each item is visited at a moment of its own, if the caller sees the object then. */
  async function eachSeen<T>(
    question: Question,
    items: readonly T[],
    visit: (viewpoint: Viewpoint, item: T) => void,
  ): Promise<void> {
    const slices = createSlices();
    for (let next = 0; next < items.length; ) {
      next = await seen(question, (viewpoint) => {
        const isSeen = viewpoint.sees(nameOfObject(question.object));
        let place = next;
        for (const item of items.slice(next)) {
          if (isSeen) visit(viewpoint, item);
          place++;
          if (slices.isOver()) break;
        }
        return place;
      });
      if (next < items.length) await slices.rest();
    }
  }

  async function withReasons(question: Question, persons: readonly PersonRef[]): Promise<Holder[]> {
    const { relation } = question;
    const object = nameOfObject(question.object);
    const found = new Map<PersonRef, readonly Reason[]>();
    let eyes: Viewpoint | undefined;
    // Users who are alike hold it through the same.
    const reasons = createUserAnswers((_, user) => (eyes ? reasonsFor(eyes, { user, relation, object }) : []));
    await eachSeen(question, persons, (viewpoint, person) => {
      const user = subjectOfPrincipal(person.id);
      eyes = viewpoint;
      const isPlain = question.object.type !== 'user';
      found.set(person, isPlain ? reasons(viewpoint.graph, user) : reasonsFor(viewpoint, { user, relation, object }));
    });
    const objects = new Set([...found.values()].flatMap((list) => list.flatMap((reason) => reason.object ?? [])));
    const names = await store.names([...objects].filter(isNamed));
    const via = ({ kind, object: through }: Reason): Via => {
      if (kind === 'platform') return { kind, name: 'site administrators' };
      return through === undefined ? { kind } : { kind, id: idOf(through), name: names.get(through) ?? '' };
    };
    return persons.map((person) => ({ ...person, via: (found.get(person) ?? []).map(via) }));
  }

  /**
   * All objects of a type on which a user holds a relation, by ID, as far as the caller may see them. What users own
   * themselves is only in their own answer.
   */
  async function whatCan(
    question: ObjectsQuestion,
    login: string | undefined,
    { offset, limit }: PageRequest,
  ): Promise<Page<ObjectName>> {
    const { organizationId, callerId, type, relation, limits } = question;
    if (type === 'user') throw new AppError('invalid', 'users cannot be listed by relation; list the members instead');
    const person = await personFor(organizationId, callerId, login);
    const user = subjectOfPrincipal(person.id);
    const isSelf = person.id === callerId;
    const caller = subjectOfPrincipal(callerId);
    const holds = createObjectAnswers(user, (graph, object) => check(graph, { user, relation, object }));
    const sees = createObjectAnswers(caller, (graph, object) =>
      check(graph, { user: caller, relation: 'can_view', object }),
    );
    const possible = await graphs.together(organizationId, callerId, (organization, own) => {
      requireRelationOf(organization, { type, id: 0n }, relation);
      const graphsToAsk = isSelf && mayBeOwn({ type, id: 0n }) ? [organization, own] : [organization];
      return graphsToAsk.map((graph) => possibleObjects(graph, { user, relation, type }));
    });
    const found: string[] = [];
    for (const [at, objects] of possible.entries()) {
      const reaches = (object: string) => reachesHeld(limits, organizationId, { type, id: idOf(object) }, at === 1);
      const select = (from: readonly string[], isWanted: (graph: Graph, object: string) => boolean) =>
        selected(organizationId, callerId, from, (organization, own, object) =>
          isWanted(at === 0 ? organization : own, object),
        );
      // One user after the other: to find out what a user is in takes longer than most answers.
      const held = await select(objects, (graph, object) => reaches(object) && holds(graph, object));
      for (const object of isSelf ? held : await select(held, sees)) found.push(object);
    }
    const ids = found.map((object) => BigInt(object.slice(type.length + 1)));
    const shown = pageOf(ids, { offset, limit });
    const names = await store.names(shown.map((id) => `${type}:${id}`));
    return { items: shown.map((id) => ({ id, name: names.get(`${type}:${id}`) ?? '' })), total: ids.length };
  }

  /** Others are served in between, so each object is asked about at a moment of its own. */
  async function selected(
    organizationId: bigint,
    callerId: bigint,
    objects: readonly string[],
    isWanted: (organization: Graph, own: Graph, object: string) => boolean,
  ): Promise<string[]> {
    const slices = createSlices();
    const found: string[] = [];
    for (let next = 0; next < objects.length; ) {
      next = await graphs.together(organizationId, callerId, (organization, own) => {
        let place = next;
        for (const object of objects.slice(next)) {
          if (isWanted(organization, own, object)) found.push(object);
          place++;
          if (slices.isOver()) break;
        }
        return place;
      });
      if (next < objects.length) await slices.rest();
    }
    return found;
  }

  /** Every way to a yes can take long to find, so others are served in between, and all is as of one moment. */
  async function reasonsOf(question: Question, personId: bigint, wantsAllPaths: boolean): Promise<Reasons> {
    const { organizationId, callerId, object, relation } = question;
    const work = (viewpoint: Viewpoint) => explainedReasons(viewpoint, question, personId, wantsAllPaths);
    // Some facts are in no graph, and to ask with them counts as a change of the graph.
    const hasFacts = object.type === 'user' || object.namespace !== undefined;
    if (hasFacts) return await seen(question, (viewpoint) => finished(work(viewpoint)));
    return await inOneMoment(graphs, organizationId, callerId, (organization, own, now) => {
      requireRelationOf(organization, object, relation);
      return work(viewpointOf(question, organization, own, now));
    });
  }

  async function seen<T>(question: Question, ask: (viewpoint: Viewpoint) => T): Promise<T> {
    const { organizationId, callerId, object, relation } = question;
    rejectOtherPeople(callerId, [object]);
    return await graphs.together(organizationId, callerId, (organization, own, now) => {
      requireRelationOf(organization, object, relation);
      return ask(viewpointOf(question, organization, own, now));
    });
  }

  async function requireOn(organizationId: bigint, personId: bigint, relation: string): Promise<void> {
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    if (await judge.holds(personId, organizationId, relation, organization)) return;
    throw missingRelation(relation);
  }

  async function people(organizationId: bigint, ids: readonly bigint[]): Promise<PersonRef[]> {
    const names = await namesOf(organizationId, ids.map(subjectOfPrincipal));
    const inactive = await store.inactive(ids);
    return ids.map((id) => ({
      id,
      name: names.get(subjectOfPrincipal(id)) ?? '',
      ...(inactive.has(id) && { active: false }),
    }));
  }

  /** Present names, and the last one of what does not exist any more. */
  async function namesOf(organizationId: bigint, objects: readonly string[]): Promise<Names> {
    const names = await store.names(objects);
    if (!past || names.size === objects.length) return names;
    const former = await past.names(organizationId);
    return new Map(objects.map((object) => [object, names.get(object) ?? former.get(object) ?? object]));
  }
}

/** Structural relations are internal: callers can ask only about relations that are shown. */
export function requireRelationOf({ model }: Pick<Graph, 'model'>, object: ObjectRef, relation: string): void {
  const isKnown = model.typeIndex.get(object.type)?.relationIndex.has(relation);
  if (isKnown && relation.startsWith('can_')) return;
  throw new AppError('invalid', `${object.type} has no relation ${JSON.stringify(relation.slice(0, 60))}`, {
    reason: 'unknown_relation',
  });
}

/** Of IDs in any order. Tens of thousands are sorted in a fraction of the time that a comparison in JavaScript takes. */
function pageOf(ids: readonly bigint[], { offset, limit }: PageRequest): bigint[] {
  return [
    ...BigInt64Array.from(ids)
      .sort()
      .subarray(offset, offset + limit),
  ];
}
