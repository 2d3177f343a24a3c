/**
 * The judge that has its answers from an OpenFGA server.
 *
 * 1. A question waits until everything about its accounts is in the store that was in the database when it was asked.
 * 2. An answer counts only if nothing about its accounts was written to the store while it was asked: a server reads
 *    several times for one answer, and together those reads would describe a state that never was.
 * 3. With each call goes a question about the fence. If the store does not contain the write that our database knows as
 *    its last, the server has another state than we think, or a replica of it is behind, and nothing that it says
 *    counts.
 * 4. If the first attempt does not count, the next one is made while no process publishes, unless it takes several
 *    calls: writes never wait for a batch.
 * 5. Objects about which the store says the same are asked about once. The same tuples give the same answers.
 * 6. Calls of batches take turns, a few at a time. A question of one call never waits for them.
 * 7. What cannot be answered in time is not answered at all.
 */

import { type Model, possibleObjects } from '../../../packages/rebac/src/rebac.ts';
import { createSlots } from '../../base/scheduling/slots.ts';
import { within } from '../../base/scheduling/within.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import { PLATFORM } from '../../changes/write.ts';
import type { Graphs } from '../graphs.ts';
import { type Judge, mayBeOwn } from '../judge.ts';
import { type AskedObject, idOf, nameOf, type ObjectRef } from '../object-ref.ts';
import { assignmentsIn, everywhere, IN_NAMESPACES } from '../places/namespaces.ts';
import {
  fenceTuple,
  MAX_CHECKS,
  nameIn,
  type OpenFgaServer,
  openFgaFailed,
  type ServerCheck,
  type ServerTuple,
} from './openfga-server.ts';
import type { Moment, PublicationStore } from './publication.ts';
import type { Publisher } from './publisher.ts';

export interface JudgeParts {
  readonly server: Pick<OpenFgaServer, 'check'>;
  readonly store: Pick<PublicationStore, 'moment' | 'looks'>;
  readonly publisher: Pick<Publisher, 'quietly' | 'publish' | 'distrust'>;
  readonly model: Model;
  /** Only to find out which objects are worth a question. */
  readonly graphs: Pick<Graphs, 'of'>;
  readonly timeoutMs?: number;
}

/** A question about one relation, in the graph of one account. */
interface Asked {
  readonly accountId: bigint;
  readonly object: ObjectRef;
  readonly relation: string;
}

const TIMEOUT_MS = 3000;
/** Of the checks in a call, up to two are about fences. */
const CHECKS_IN_CALL = MAX_CHECKS - 2;
/** Of one batch, and of all batches of this process together. */
const CALLS_OF_BATCH = 2;
const BATCH_CALLS_AT_ONCE = 4;
/** All questions of one call, however many are asked at the same moment. The others wait here, not at the server. */
const CALLS_AT_ONCE = 8;
/** How many times as long as a question a batch may take until its answers count. */
const BATCH_PATIENCE = 4;
const SHOWN = 'can_';

export function createOpenFgaJudge(parts: JudgeParts): Judge {
  const { server, store, publisher, model, graphs, timeoutMs = TIMEOUT_MS } = parts;
  const tuplesets = tuplesetsOf(model.json);
  const callSlots = createSlots(CALLS_AT_ONCE);
  const batchSlots = createSlots(BATCH_CALLS_AT_ONCE);
  return { allowed, holds, objects };

  async function allowed(personId: bigint, organizationId: bigint, objects: readonly AskedObject[]) {
    const asked = objects.flatMap((object) => {
      const accounts = mayBeOwn(object) && personId !== organizationId ? [organizationId, personId] : [organizationId];
      return accounts.flatMap((accountId) =>
        shownRelations(object.type).map((relation) => ({ accountId, object, relation: decisive(object, relation) })),
      );
    });
    const inNamespaces = await Promise.all(
      objects.map((object) => questionsIn(organizationId, object, [...IN_NAMESPACES.keys()])),
    );
    const further = inNamespaces.flat();
    const all = await ask(personId, [...asked, ...further.map(({ question }) => question)]);
    const answers = all.slice(0, asked.length).values();
    const isGiven = new Map(further.map((one, place) => [one, all[asked.length + place] === true]));
    return objects.map((object, place) => {
      const relations = shownRelations(object.type);
      const here = relations.filter(() => answers.next().value);
      const added = (inNamespaces[place] ?? []).flatMap((one) => (isGiven.get(one) ? [one.relation] : []));
      const held = added.length === 0 ? here : relations.filter((one) => here.includes(one) || added.includes(one));
      if (!mayBeOwn(object) || personId === organizationId) return held;
      const own = relations.filter(() => answers.next().value);
      return held.length === 0 ? own : held;
    });
  }

  async function holds(personId: bigint, accountId: bigint, relation: string, object: AskedObject): Promise<boolean> {
    const further = await questionsIn(accountId, object, [relation]);
    const answers = await ask(personId, [
      { accountId, object, relation: decisive(object, relation) },
      ...further.map(({ question }) => question),
    ]);
    return answers.includes(true);
  }

  /**
   * The engine in this process names the assignments that count in a namespace. Whether one of them gives something is
   * the server's decision.
   */
  async function questionsIn(accountId: bigint, object: AskedObject, relations: readonly string[]) {
    const { namespace } = object;
    if (namespace === undefined) return [];
    const found = assignmentsIn(await graphs.of(accountId), nameOf(object), namespace);
    return relations.flatMap((relation) => {
      const given = IN_NAMESPACES.get(relation)?.given;
      if (given === undefined) return [];
      return found.map((assignment): { readonly relation: string; readonly question: Asked } => ({
        relation,
        question: { accountId, object: { type: 'assignment', id: idOf(assignment) }, relation: given },
      }));
    });
  }

  /**
   * The engine in this process names the candidates, because a server cuts its lists off without a word. Whether a
   * candidate is in the list is the server's decision.
   */
  async function objects(personId: bigint, accountId: bigint, relation: string, type: ObjectRef['type']) {
    const possible = possibleObjects(await graphs.of(accountId), {
      user: subjectOfPrincipal(personId),
      relation,
      type,
    });
    const ids = possible.map((object) => BigInt(object.slice(type.length + 1)));
    const answers = await ask(
      personId,
      ids.map((id) => ({ accountId, object: { type, id }, relation })),
    );
    return ids.filter((_, place) => answers[place]);
  }

  function shownRelations(type: ObjectRef['type']): string[] {
    const { relations = [] } = model.typeIndex.get(type) ?? {};
    return relations.map(({ name }) => name).filter((name) => name.startsWith(SHOWN));
  }

  async function ask(personId: bigint, asked: readonly Asked[]): Promise<readonly boolean[]> {
    if (asked.length === 0) return [];
    const accountIds = [...new Set([...asked.map(({ accountId }) => accountId), PLATFORM])];
    /** The revision of the database when the question was asked. */
    let until: bigint | undefined;
    let calls = Math.ceil(asked.length / CHECKS_IN_CALL);
    const began = performance.now();
    const timeLeft = () => began + timeoutMs * (calls > 1 ? BATCH_PATIENCE : 1) - performance.now();
    const first = await attempt();
    if (first) return first;
    for (;;) {
      const left = timeLeft();
      if (left <= 0) throw late();
      const answers = calls > 1 ? await attemptAgain(left) : await attemptQuietly(left);
      if (answers) return answers;
    }

    /** A question that waits for a turn gives up in time. The turn itself then asks nothing. */
    async function attemptQuietly(left: number): Promise<readonly boolean[] | undefined> {
      return await inTime(
        left,
        publisher.quietly(async () => (timeLeft() > 0 ? await attempt() : undefined)),
      );
    }

    async function attemptAgain(left: number): Promise<readonly boolean[] | undefined> {
      await inTime(left, publisher.publish());
      return await attempt();
    }

    /** Undefined if the answers do not count. */
    async function attempt(): Promise<readonly boolean[] | undefined> {
      const before = await store.moment({ accountIds, ...(until !== undefined && { until }) });
      until ??= before?.latest;
      if (before === undefined || before.isBehind) return undefined;
      const groups = asked.length > CHECKS_IN_CALL ? await grouped(personId, asked) : asked.map((_, place) => place);
      // The first of each group speaks for all of it.
      const spokesmen = [...new Set(groups)];
      const checks = spokesmen.flatMap((place) => asked[place] ?? []).map((one) => checkOf(personId, one));
      calls = Math.ceil(checks.length / CHECKS_IN_CALL);
      const answers = await callAll(before, checks);
      if (answers === undefined) {
        publisher.distrust();
        return undefined;
      }
      const after = await store.moment({ accountIds, until: before.published, since: before.published });
      if (!after || after.isBehind || after.storeId !== before.storeId) return undefined;
      const said = new Map(spokesmen.map((place, at) => [place, answers[at] === true]));
      return groups.map((place) => said.get(place) === true);
    }
  }

  function late() {
    return openFgaFailed(`no answer that is up to date within ${timeoutMs / 1000} s`);
  }

  async function inTime<T>(left: number, work: Promise<T>): Promise<T> {
    return await within(left, work, LATE).catch((error: unknown) => {
      work.catch(() => undefined);
      throw error instanceof Error && error.message === LATE ? late() : error;
    });
  }

  /** For each question, the place of the first one that has the same answer. */
  async function grouped(personId: bigint, asked: readonly Asked[]): Promise<readonly number[]> {
    const objects = new Map(asked.map((one) => [`${one.accountId} ${nameOf(one.object)}`, one]));
    const looks = await store.looks(
      [...objects.values()].map(({ accountId, object }) => ({ accountId, object: nameOf(object) })),
      personId,
      tuplesets,
    );
    const firsts = new Map<string, number>();
    return asked.map(({ accountId, object, relation }, place) => {
      const name = nameOf(object);
      // What is asked about a user depends on more than the store.
      const look = object.type === 'user' ? name : (looks.get(`${accountId} ${name}`) ?? '');
      const key = `${accountId} ${object.type} ${relation} ${look}`;
      const first = firsts.get(key) ?? place;
      firsts.set(key, first);
      return first;
    });
  }

  async function callAll(moment: Moment, checks: readonly ServerCheck[]): Promise<readonly boolean[] | undefined> {
    const calls = Array.from({ length: Math.ceil(checks.length / CHECKS_IN_CALL) }, (_, at) =>
      checks.slice(at * CHECKS_IN_CALL, (at + 1) * CHECKS_IN_CALL),
    );
    const [only] = calls;
    if (only !== undefined && calls.length === 1) return await callSlots(() => callOne(moment, only));
    const answers: boolean[] = [];
    for (let first = 0; first < calls.length; first += CALLS_OF_BATCH) {
      const part = calls.slice(first, first + CALLS_OF_BATCH);
      const some = await Promise.all(part.map((call) => batchSlots(() => callOne(moment, call))));
      for (const one of some) {
        if (one === undefined) return undefined;
        answers.push(...one);
      }
    }
    return answers;
  }

  /** Undefined if the store does not contain what it should. */
  async function callOne(moment: Moment, checks: readonly ServerCheck[]): Promise<readonly boolean[] | undefined> {
    const { fence, nextFence } = moment;
    const fences = [fence, ...(nextFence === undefined ? [] : [nextFence])].map(fenceTuple);
    const answers = await server.check(moment, [...fences, ...checks]);
    if (answers === undefined || !answers.slice(0, fences.length).includes(true)) return undefined;
    return answers.slice(fences.length);
  }
}

const LATE = 'late';

/** A namespace is decided by what is held in all of them, and by what assignments give in this one. */
function decisive({ namespace }: AskedObject, relation: string): string {
  return namespace === undefined ? relation : everywhere(relation);
}

function checkOf(personId: bigint, { accountId, object, relation }: Asked): ServerCheck {
  const user = subjectOfPrincipal(personId);
  const check = { user, relation, object: nameIn(accountId, nameOf(object)) };
  if (object.type !== 'user') return check;
  // That a user is themselves is in no graph.
  const contextual: ServerTuple = { user, relation: 'identity', object: user };
  return { ...check, contextual };
}

/** Relations through which an object takes something from its parents, whatever these are. */
function tuplesetsOf(json: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof json !== 'object' || json === null) return found;
  for (const [key, value] of Object.entries(json)) {
    if (key === 'tupleset') found.add(String((value as { readonly relation?: unknown }).relation));
    else tuplesetsOf(value, found);
  }
  return found;
}
