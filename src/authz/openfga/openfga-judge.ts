/**
 * The judge that has its answers from an OpenFGA server.
 *
 * 1. A question waits until everything about its accounts is in the store that was in the database when it was asked.
 * 2. An answer counts only if nothing about its accounts was written to the store while it was asked: a server reads
 *    several times for one answer, and together those reads would describe a state that never was.
 * 3. With each call goes a question about the fence. If the store does not contain the write that our database knows as
 *    its last, the server has another state than we think, or a replica of it is behind, and nothing that it says counts.
 * 4. If the first attempt does not count, the next one is made while nobody publishes.
 * 5. What cannot be answered in time is not answered at all.
 */
import { within } from '../../base/within.ts';
import { PLATFORM } from '../../changes/write.ts';
import { possibleObjects } from '../../rebac/list-objects.ts';
import type { Model } from '../../rebac/model.ts';
import type { Graphs } from '../graphs.ts';
import { type Judge, mayBeOwn } from '../judge.ts';
import { nameOf, type ObjectRef } from '../object-ref.ts';
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
  readonly store: Pick<PublicationStore, 'moment'>;
  readonly publisher: Pick<Publisher, 'quietly' | 'distrust'>;
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
const CALLS_AT_ONCE = 4;
const SHOWN = 'can_';

export function createOpenFgaJudge(parts: JudgeParts): Judge {
  const { server, store, publisher, model, graphs, timeoutMs = TIMEOUT_MS } = parts;
  return { allowed, holds, objects };

  async function allowed(personId: bigint, organizationId: bigint, objects: readonly ObjectRef[]) {
    const asked = objects.flatMap((object) => {
      const accounts = mayBeOwn(object) && personId !== organizationId ? [organizationId, personId] : [organizationId];
      return accounts.flatMap((accountId) =>
        shownRelations(object.type).map((relation) => ({ accountId, object, relation })),
      );
    });
    const answers = (await ask(personId, asked)).values();
    return objects.map((object) => {
      const relations = shownRelations(object.type);
      const here = relations.filter(() => answers.next().value);
      if (!mayBeOwn(object) || personId === organizationId) return here;
      const own = relations.filter(() => answers.next().value);
      return here.length === 0 ? own : here;
    });
  }

  async function holds(personId: bigint, accountId: bigint, relation: string, object: ObjectRef): Promise<boolean> {
    const [answer] = await ask(personId, [{ accountId, object, relation }]);
    return answer === true;
  }

  /**
   * The engine in this process names the candidates, because a server cuts its lists off without a word. Whether a
   * candidate is in the list is the server's decision.
   */
  async function objects(personId: bigint, accountId: bigint, relation: string, type: ObjectRef['type']) {
    const possible = possibleObjects(await graphs.of(accountId), { user: `user:${personId}`, relation, type });
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
    const checks = asked.map((one) => checkOf(personId, one));
    const accountIds = [...new Set([...asked.map(({ accountId }) => accountId), PLATFORM])];
    /** The revision of the database when the question was asked. */
    let until: bigint | undefined;
    const deadline = performance.now() + timeoutMs;
    const late = () => openFgaFailed(`no answer that is up to date within ${timeoutMs / 1000} s`);
    const first = await attempt();
    if (first) return first;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) throw late();
      // Whoever waits for a turn gives up in time. The turn itself then asks for nobody.
      const quiet = publisher.quietly(async () => (performance.now() < deadline ? await attempt() : undefined));
      const answers = await within(left, quiet, LATE).catch((error: unknown) => {
        quiet.catch(() => undefined);
        throw error instanceof Error && error.message === LATE ? late() : error;
      });
      if (answers) return answers;
    }

    /** Undefined if the answers do not count. */
    async function attempt(): Promise<readonly boolean[] | undefined> {
      const before = await store.moment({ accountIds, ...(until !== undefined && { until }) });
      until ??= before?.latest;
      if (before === undefined || before.isBehind) return undefined;
      const answers = await callAll(before, checks);
      if (answers === undefined) {
        publisher.distrust();
        return undefined;
      }
      const after = await store.moment({ accountIds, until: before.published, since: before.published });
      return after && !after.isBehind && after.storeId === before.storeId ? answers : undefined;
    }
  }

  async function callAll(moment: Moment, checks: readonly ServerCheck[]): Promise<readonly boolean[] | undefined> {
    const answers: boolean[] = [];
    const calls = Array.from({ length: Math.ceil(checks.length / CHECKS_IN_CALL) }, (_, at) =>
      checks.slice(at * CHECKS_IN_CALL, (at + 1) * CHECKS_IN_CALL),
    );
    for (let first = 0; first < calls.length; first += CALLS_AT_ONCE) {
      const some = await Promise.all(calls.slice(first, first + CALLS_AT_ONCE).map((call) => callOne(moment, call)));
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

function checkOf(personId: bigint, { accountId, object, relation }: Asked): ServerCheck {
  const user = `user:${personId}`;
  const check = { user, relation, object: nameIn(accountId, nameOf(object)) };
  if (object.type !== 'user') return check;
  // That a user is themselves is in no graph.
  const contextual: ServerTuple = { user, relation: 'identity', object: user };
  return { ...check, contextual };
}
