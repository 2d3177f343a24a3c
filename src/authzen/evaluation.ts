/**
 * Decisions of AuthZEN: may a subject do something with a resource?
 *
 * 1. All items of a request are decided as of one moment, by the graph that everything else is decided by.
 * 2. What does not exist, and what the caller may not see, is the same no, without a word that tells them apart. But
 *    callers hear of whatever they hold themselves.
 * 3. The sentence is that of explain. It is remembered until anything changes, and is left out if a change came between
 *    it and the decision.
 * 4. What is remembered is what an item names, and words. The decision itself is asked of the graph each time.
 */

import type { Model } from '../../packages/rebac/src/rebac.ts';
import type { Explain } from '../authz/explain/explain.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { AskedObject } from '../authz/object-ref.ts';
import { inOneMoment } from '../authz/one-moment.ts';
import { isNamespace, NOT_A_NAMESPACE } from '../authz/places/namespaces.ts';
import type { MayBeAsked } from '../authz/relations.ts';
import type { NoteUse } from '../authz/uses/access-uses.ts';
import { type Viewpoint, viewpointOf } from '../authz/viewpoint.ts';
import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { isRobotPrincipal, subjectOfPrincipal } from '../changes/principal.ts';
import { createRemembered } from '../changes/remembered.ts';
import { isListed, reachesOrganization } from '../identity/tokens/token-limits.ts';
import type { AskedSubject, AskedThings, AuthzenCaller, Entity } from './asked-things.ts';

export const THE_CALLER = 'the caller';

export interface AskedItem {
  /** `THE_CALLER` is the caller, whatever their login looks like. */
  readonly subject: Entity | typeof THE_CALLER;
  readonly action: string;
  readonly resource: Entity;
  /** As it was sent in the context. Undefined: none. */
  readonly namespace: unknown;
}

/** What an item asks, once everything that it names was found. */
export interface AskedQuestion {
  readonly subject: AskedSubject;
  readonly relation: string;
  readonly object: AskedObject;
}

export interface Verdict {
  readonly decision: boolean;
  /** Undefined if the item names something that does not exist for the caller. */
  readonly question?: AskedQuestion;
  /** Whether the caller may see the object, and so read about it. */
  readonly isSeen?: boolean;
  readonly sentence?: string;
  /** Whether the subject could ask for access. */
  readonly isRequestable?: boolean;
  /** Why the item could not be evaluated. */
  readonly fault?: AppError;
}

export const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;
export type Semantic = (typeof SEMANTICS)[number];

interface Parts {
  readonly things: Pick<AskedThings, 'subjectOf' | 'objectOf'>;
  readonly graphsAt: (at: Date | undefined) => Pick<Graphs, 'together'>;
  readonly graphsNow: Graphs['togetherNow'];
  readonly explainAt: (at: Date | undefined) => Pick<Explain, 'explain'>;
  /** The past of other users is for readers of the audit log. */
  readonly requireReader: (caller: AuthzenCaller) => Promise<void>;
  readonly mayBeAsked: MayBeAsked;
  readonly model: Model;
  readonly noteUse: NoteUse;
  readonly revision: () => bigint;
}

/** Of longer items, nothing is remembered. */
const MAX_REMEMBERED = 500;
const NOTHING: Verdict = { decision: false };

export type Evaluations = ReturnType<typeof createEvaluations>;

export function createEvaluations(parts: Parts) {
  const { things, graphsAt, graphsNow, explainAt, mayBeAsked, model, noteUse, revision } = parts;
  const remembered = createRemembered(revision);
  const sentences = remembered((text: string) => sentenceOf(JSON.parse(text) as SentenceKey));
  const requestables = remembered((text: string) => {
    const [organizationId, callerId, relation, type, id] = JSON.parse(text) as [string, string, string, string, string];
    const question = { organizationId: BigInt(organizationId), callerId: BigInt(callerId), relation };
    return mayBeAsked({ ...question, object: { type, id: BigInt(id) } });
  });
  const questions = remembered((caller: AuthzenCaller, item: NamedItem) => questionOf(caller, item, undefined), nameOf);
  return { evaluate, atHand, allowedActions, relationOf };

  /**
   * The same as `evaluate` about one item at present, without waiting, if everything is in memory; otherwise undefined. A
   * gateway asks before each request that it lets through, and promises take longer than the answer.
   */
  function atHand(caller: AuthzenCaller, item: AskedItem): Verdict | undefined {
    const { id: callerId, organization } = caller;
    const question = isShort(item) ? questions.now(caller, item) : undefined;
    const pair = question && graphsNow(organization.id, callerId);
    if (!pair) return undefined;
    const viewpoint = viewpointOf({ organizationId: organization.id, callerId, object: question.object }, ...pair);
    const subject = subjectOfPrincipal(question.subject.id);
    // What an item names is remembered; that the caller may ask about this subject is not.
    if (question.subject.id !== callerId && !viewpoint.sees(subject)) return undefined;
    const verdict = verdictOf(caller, question, viewpoint);
    if (!verdict.isSeen) return undefined;
    const said = sentences.now(sentenceKey(caller, question, undefined));
    const isRequestable = verdict.isRequestable === true ? requestables.now(requestableKey(caller, question)) : false;
    if (said === undefined || isRequestable === undefined) return undefined;
    noteUseOf(caller, question, verdict.decision);
    return spoken(verdict, isRequestable, said);
  }

  /** In the order of the items, and only as far as the semantic needs. */
  async function evaluate(
    caller: AuthzenCaller,
    items: readonly AskedItem[],
    at: Date | undefined,
    semantic: Semantic = 'execute_all',
  ): Promise<Verdict[]> {
    const found: (AskedQuestion | AppError | undefined)[] = [];
    for (const item of items) found.push(await questionOf(caller, item, at).catch(faultOf));
    const [only] = items;
    // For `atHand`, when a gateway asks it again.
    if (items.length === 1 && only && at === undefined && isShort(only)) questions(caller, only).catch(() => undefined);
    const decided = await decide(caller, found, at, semantic);
    const yieldIfDue = createYielder();
    const verdicts: Verdict[] = [];
    for (const one of decided) {
      verdicts.push(await withWords(caller, one, at));
      await yieldIfDue();
    }
    return verdicts;
  }

  async function questionOf(
    caller: AuthzenCaller,
    item: AskedItem,
    at: Date | undefined,
  ): Promise<AskedQuestion | undefined> {
    const subject =
      item.subject === THE_CALLER
        ? { id: caller.id, name: caller.login }
        : await things.subjectOf(caller, item.subject, at !== undefined);
    if (at && subject && subject.id !== caller.id) await parts.requireReader(caller);
    const object = await things.objectOf(caller, item.resource);
    const relation = relationOf(item.resource.type, item.action);
    if (!subject || !object || relation === undefined) return undefined;
    if (item.namespace === undefined || object.type !== 'cluster') return { subject, object, relation };
    if (typeof item.namespace !== 'string' || !isNamespace(item.namespace)) {
      throw new AppError('invalid', `context.${NOT_A_NAMESPACE}`);
    }
    return { subject, relation, object: { ...object, namespace: item.namespace } };
  }

  /** An action is named with or without its prefix. Structural relations are internal. */
  function relationOf(type: string, action: string): string | undefined {
    const known = model.typeIndex.get(type)?.relationIndex;
    return [action, `can_${action}`].find((one) => one.startsWith('can_') && known?.has(one));
  }

  async function decide(
    caller: AuthzenCaller,
    asked: readonly (AskedQuestion | AppError | undefined)[],
    at: Date | undefined,
    semantic: Semantic,
  ): Promise<Verdict[]> {
    const { id, organization } = caller;
    return await inOneMoment(graphsAt(at), organization.id, id, function* (graph, own, now) {
      const verdicts: Verdict[] = [];
      for (const one of asked) {
        const verdict = one instanceof AppError ? { decision: false, fault: one } : decideOne(one);
        verdicts.push(verdict);
        if (semantic === 'deny_on_first_deny' && !verdict.decision) break;
        if (semantic === 'permit_on_first_permit' && verdict.decision) break;
        yield;
      }
      return verdicts;

      function decideOne(question: AskedQuestion | undefined): Verdict {
        if (question === undefined) return NOTHING;
        const { object } = question;
        const viewpoint = viewpointOf({ organizationId: organization.id, callerId: id, object }, graph, own, now);
        return verdictOf(caller, question, viewpoint);
      }
    });
  }

  function verdictOf(caller: AuthzenCaller, question: AskedQuestion, viewpoint: Viewpoint): Verdict {
    const { subject, object, relation } = question;
    const isSelf = subject.id === caller.id;
    const reach = reachOf(caller, object, viewpoint.isOwn);
    const isSeen = reach === 'all' && viewpoint.sees(`${object.type}:${object.id}`);
    // What other users hold on their own account is theirs.
    const isTheirs = object.type === 'user' && object.id !== caller.id;
    if (reach === 'nothing' || isTheirs || !(isSelf || isSeen)) return NOTHING;
    const decision = viewpoint.holds(subjectOfPrincipal(subject.id), relation);
    const couldSee = !decision && isSeen && viewpoint.holds(subjectOfPrincipal(subject.id), 'can_view');
    return { decision, question, isSeen, isRequestable: couldSee };
  }

  async function withWords(caller: AuthzenCaller, verdict: Verdict, at: Date | undefined): Promise<Verdict> {
    const { question, decision, isSeen } = verdict;
    if (question === undefined) return verdict;
    if (at === undefined) noteUseOf(caller, question, decision);
    if (!isSeen) return { decision, question };
    const isAsked = verdict.isRequestable === true && at === undefined;
    const isRequestable = isAsked && (await requestables(requestableKey(caller, question)));
    return spoken(verdict, isRequestable, await sentences(sentenceKey(caller, question, at)));
  }

  function noteUseOf({ id, organization }: AuthzenCaller, question: AskedQuestion, decision: boolean): void {
    const { subject, relation, object } = question;
    const isUse = decision && (subject.id === id || isRobotPrincipal(id));
    if (isUse) noteUse(subject.id, organization.id, relation, object.type, object.id);
  }

  async function sentenceOf(key: SentenceKey): Promise<Said> {
    const { type, namespace, relation } = key;
    const object = { type: type as AskedObject['type'], id: BigInt(key.id), namespace };
    const ids = { organizationId: BigInt(key.organizationId), callerId: BigInt(key.callerId) };
    const explain = explainAt(key.at === undefined ? undefined : new Date(key.at));
    const about = key.isSelf ? undefined : key.subject;
    const { allowed, sentence } = await explain.explain({ ...ids, object, relation }, about);
    return { allowed, sentence };
  }

  /** Everything that a subject may do with a resource, in the order of the model. */
  async function allowedActions(
    caller: AuthzenCaller,
    { subject: asked, resource, namespace }: Omit<AskedItem, 'action'>,
    at: Date | undefined,
  ): Promise<string[]> {
    const relations = model.typeIndex.get(resource.type)?.relations.map(({ name }) => name) ?? [];
    const shown = relations.filter((name) => name.startsWith('can_'));
    const items = shown.map((action) => ({ subject: asked, resource, namespace, action }));
    const found: (AskedQuestion | undefined)[] = [];
    for (const item of items) found.push(await questionOf(caller, item, at));
    const verdicts = await decide(caller, found, at, 'execute_all');
    return shown.filter((_, place) => verdicts[place]?.decision);
  }
}

interface SentenceKey {
  readonly organizationId: string;
  readonly callerId: string;
  readonly subject: string;
  readonly isSelf: boolean;
  readonly relation: string;
  readonly type: string;
  readonly id: string;
  readonly namespace?: string;
  readonly at?: string;
}

/** What explain says. */
interface Said {
  readonly allowed: boolean;
  readonly sentence: string;
}

function sentenceKey(caller: AuthzenCaller, question: AskedQuestion, at: Date | undefined): string {
  const { subject, relation, object } = question;
  const key: SentenceKey = {
    ...{ organizationId: String(caller.organization.id), callerId: String(caller.id), subject: subject.name, relation },
    ...{ type: object.type, id: String(object.id), isSelf: subject.id === caller.id },
    ...(object.namespace !== undefined && { namespace: object.namespace }),
    ...(at && { at: at.toISOString() }),
  };
  return JSON.stringify(key);
}

function requestableKey({ organization }: AuthzenCaller, { subject, relation, object }: AskedQuestion): string {
  return JSON.stringify([organization.id, subject.id, relation, object.type, object.id].map(String));
}

/** With the sentence, if it is about the same moment. */
function spoken(verdict: Verdict, isRequestable: boolean, said: Said): Verdict {
  const isTrue = said.allowed === verdict.decision;
  return { ...verdict, isRequestable, ...(isTrue && { sentence: said.sentence }) };
}

/** An item whose subject has a name, not the caller whatever their name, and a namespace that could be one. */
interface NamedItem extends AskedItem {
  readonly subject: Entity;
  readonly namespace: string | undefined;
}

/** What a member is called counts as well as its ID, so the whole item is the name of the question. */
function nameOf({ id, organization }: AuthzenCaller, { subject, action, resource, namespace }: NamedItem): string {
  const who = [String(organization.id), String(id), subject.type, subject.id];
  return JSON.stringify([...who, action, resource.type, resource.id, namespace]);
}

function isShort(item: AskedItem): item is NamedItem {
  const { subject, action, resource, namespace } = item;
  if (subject === THE_CALLER || !(namespace === undefined || typeof namespace === 'string')) return false;
  const texts = [subject.type, subject.id, action, resource.type, resource.id, namespace ?? ''];
  return texts.reduce((sum, text) => sum + text.length, 0) <= MAX_REMEMBERED;
}

/** How far the token of the caller reaches: with reasons, only for the answer about themselves, or not at all. */
function reachOf({ limits, organization }: AuthzenCaller, object: AskedObject, isOwn: boolean) {
  if (limits === undefined) return 'all';
  if (reachesOrganization(limits, organization.id) && !isOwn && object.type !== 'user') return 'all';
  return isListed(limits, object) ? 'answer' : 'nothing';
}

/** What is wrong with one item does not keep the others from an answer. */
function faultOf(error: unknown): AppError {
  const isOurs = error instanceof AppError && ['forbidden', 'conflict', 'invalid'].includes(error.kind);
  if (isOurs) return error;
  throw error;
}
