import type { Step } from '../../../packages/rebac/src/rebac.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import { createAskedPrincipal, type FormerPrincipals } from '../asked-principal.ts';
import type { Graphs } from '../graphs.ts';
import type { Judge } from '../judge.ts';
import { nameOf as nameOfObject } from '../object-ref.ts';
import { inOneMoment } from '../one-moment.ts';
import { type Viewpoint, viewpointOf } from '../viewpoint.ts';
import { type MissingParts, objectOf, partsOf, type ShownTuple, shown, withoutVain } from './explained-parts.ts';
import { explainedReasons, finished, type Reasons, type Standing } from './explained-reasons.ts';
import { missingTexts, PAST, PRESENT, sentenceFor, textOf } from './explanation-text.ts';
import { HIDDEN, isHidden } from './hidden-objects.ts';
import { createAskSeen, type ExplainStore, type Names, type Question, requireRelationOf } from './question.ts';
import { createWhatCan } from './what-can.ts';
import { createWhoCan } from './who-can.ts';

export interface ExplainedStep {
  readonly depth: number;
  readonly object: string;
  readonly relation: string;
  readonly rule: string;
  /** What the step follows from: a user, or the holders of a relation, such as `team:4#member`. */
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
  const askSeen = createAskSeen(graphs);
  const whoCan = createWhoCan({ askSeen, store, judge, past, namesOf });
  const whatCan = createWhatCan({ graphs, store, findPerson: personFor });
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

  /** Every way to a yes can take long to find, so other requests are served in between, and all is as of one moment. */
  async function reasonsOf(question: Question, personId: bigint, wantsAllPaths: boolean): Promise<Reasons> {
    const { organizationId, callerId, object, relation } = question;
    const work = (viewpoint: Viewpoint) => explainedReasons(viewpoint, question, personId, wantsAllPaths);
    // Some facts are in no graph, and to ask with them counts as a change of the graph.
    const hasFacts = object.type === 'user' || object.namespace !== undefined;
    if (hasFacts) return await askSeen(question, (viewpoint) => finished(work(viewpoint)));
    return await inOneMoment(graphs, organizationId, callerId, (organization, own, now) => {
      requireRelationOf(organization, object, relation);
      return work(viewpointOf(question, organization, own, now));
    });
  }

  /** Present names, and the last one of what does not exist any more. */
  async function namesOf(organizationId: bigint, objects: readonly string[]): Promise<Names> {
    const names = await store.names(objects);
    if (!past || names.size === objects.length) return names;
    const former = await past.names(organizationId);
    return new Map(objects.map((object) => [object, names.get(object) ?? former.get(object) ?? object]));
  }
}
