import { missingRelation } from '../../base/errors.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import { createSlices } from '../../base/scheduling/slices.ts';
import { isSingle, type PrincipalType, principalOfSubject, subjectOfPrincipal } from '../../changes/principal.ts';
import { createUserAnswers } from '../alike-answers.ts';
import { type FormerPrincipals, inPrincipalOrder } from '../asked-principal.ts';
import type { Judge } from '../judge.ts';
import { idOf, nameOf as nameOfObject, type ObjectRef } from '../object-ref.ts';
import type { Viewpoint } from '../viewpoint.ts';
import { type Reason, reasonsFor } from './all-paths.ts';
import { isNamed } from './hidden-objects.ts';
import type { AskSeen, ExplainStore, Names, Question } from './question.ts';

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

interface WhoCanOptions {
  readonly askSeen: AskSeen;
  readonly store: ExplainStore;
  readonly judge: Pick<Judge, 'holds'>;
  readonly past: FormerPrincipals | undefined;
  readonly namesOf: (organizationId: bigint, objects: readonly string[]) => Promise<Names>;
}

export function createWhoCan({ askSeen, store, judge, past, namesOf }: WhoCanOptions) {
  return whoCan;

  /**
   * All users who hold a relation on an object, by ID, and after them all robots that the caller may view. No user does
   * on an object that the caller may not see. Among tens of thousands, other requests are served in between: each user
   * in the list holds the relation at a moment after the call.
   */
  async function whoCan(
    question: Question,
    { offset, limit }: PageRequest,
    further: readonly string[] = [],
    wantsReasons = false,
    only?: PrincipalType,
  ): Promise<Page<Holder>> {
    const { relation, organizationId } = question;
    if (past) await requireAuditLog(organizationId, question.callerId);
    for (const one of further) await askSeen({ ...question, relation: one }, () => undefined);
    const object = nameOfObject(question.object);
    const possible = await askSeen(question, ({ possible: all, sees }) => {
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
      next = await askSeen(question, (viewpoint) => {
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

  async function requireAuditLog(organizationId: bigint, personId: bigint): Promise<void> {
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    if (await judge.holds(personId, organizationId, 'can_view_audit_log', organization)) return;
    throw missingRelation('can_view_audit_log');
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
}
