/**
 * Brings what rows say to an OpenFGA server, in the order of revisions.
 *
 * 1. Rows are the truth. The server gets the difference between what they say now and what was published.
 * 2. A write is recorded in the database before it is sent, and sent again as it is until it has arrived. So the
 *    database always knows what the store contains, or contains once that write has arrived.
 * 3. Each write replaces the fence in the store, and has no effect if that is not the fence it expects. So it does not
 *    matter how often it is sent, or by whom, and one that was overtaken changes nothing.
 * 4. The database says up to which revision the store may contain something before the write is sent, and up to which
 *    it contains everything after the write has arrived. Questions depend on nothing else (openfga-judge.ts).
 * 5. One process publishes at a time. That saves work; the invariants above do not need it.
 * 6. A store whose fence is neither of the two that the database knows has been written to by another program, or comes
 *    from a backup. What it contains is unknown, so a new store takes its place.
 */
import { randomUUID } from 'node:crypto';
import {
  fenceTuple,
  MAX_TUPLES,
  type OpenFgaServer,
  openFgaFailed,
  type ServerTuple,
  tupleIn,
} from './openfga-server.ts';
import {
  type Changes,
  type NewStore,
  NOTHING,
  type Part,
  type Publication,
  type PublicationStore,
} from './publication.ts';
import type { TupleChange } from './tuple-difference.ts';

export interface Verified {
  readonly tuples: number;
  /** Tuples that the store lacked, and tuples that no row supports. */
  readonly missing: number;
  readonly surplus: number;
}

export type Publisher = ReturnType<typeof createPublisher>;

type Stay = () => Promise<void>;

interface Waiting {
  readonly ask: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

const PATIENCE_MS = 3000;
/** Of the tuples in a write, two are fences. */
const MAX_CHANGES = MAX_TUPLES - 2;
const MAX_REPAIRS = MAX_CHANGES / 2;

export function createPublisher(server: OpenFgaServer, store: PublicationStore, warn: (message: string) => void) {
  let waiting: Waiting[] = [];
  let isRunning = false;
  /** The fence that was last seen in the store, by this process. */
  let seen: string | undefined;
  let hasStartedOver = false;
  return { quietly, publish, compareAll, verify, distrust };

  /**
   * Publishes everything, then asks, while nothing is written to the store: no process publishes meanwhile. All that
   * wait at the same time share one turn.
   */
  function quietly<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      waiting.push({ ask: () => ask().then(resolve, reject), fail: reject });
      if (!isRunning) void run();
    });
  }

  async function publish(): Promise<void> {
    await quietly(async () => undefined);
  }

  /** The store did not contain the fence that it should. The next turn finds out why. */
  function distrust(): void {
    seen = undefined;
  }

  async function lead<T>(work: (stay: Stay) => Promise<T>): Promise<T> {
    return await store.lead(PATIENCE_MS, (stay) => {
      hasStartedOver = false;
      return work(stay);
    });
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      try {
        await lead(async (stay) => {
          await publishNews(await current(), stay);
          // Also those that came meanwhile: each of them finds out for itself whether its revision is published.
          const turn = waiting;
          waiting = [];
          await Promise.all(turn.map(({ ask }) => ask()));
        });
      } catch (error) {
        seen = undefined;
        const turn = waiting;
        waiting = [];
        for (const { fail } of turn) fail(error);
      }
    }
    isRunning = false;
  }

  /** Compares all rows with what was published, whatever the changes say. */
  async function compareAll(): Promise<{ changes: number }> {
    return await lead(async (stay) => publishAll(await current(), stay));
  }

  /** Compares what was published with what the store really contains, and repairs the store. */
  async function verify(): Promise<Verified> {
    seen = undefined;
    return await lead(async (stay) => {
      const publication = await current();
      const expected = new Map((await store.tuples(publication)).map((tuple) => [textOf(tuple), tuple]));
      const tuples = expected.size;
      const fence = textOf(fenceTuple(publication.fence));
      const surplus: ServerTuple[] = [];
      for await (const page of server.read(publication)) {
        for (const tuple of page) {
          const key = textOf(tuple);
          if (!expected.delete(key) && key !== fence) surplus.push(tuple);
        }
        await stay();
      }
      const missing = [...expected.values()];
      await repair(publication, missing, surplus, stay);
      return { tuples, missing: missing.length, surplus: surplus.length };
    });
  }

  async function repair(
    publication: Publication,
    missing: readonly ServerTuple[],
    surplus: readonly ServerTuple[],
    stay: Stay,
  ): Promise<void> {
    let latest = publication;
    for (let first = 0; first < Math.max(missing.length, surplus.length); first += MAX_REPAIRS) {
      const part = (tuples: readonly ServerTuple[]) => tuples.slice(first, first + MAX_REPAIRS);
      const write = { writes: part(missing), deletes: part(surplus) };
      const { published } = publication;
      const next = await sendPart(latest, { revision: published, changes: [], write, fence: randomUUID() }, stay);
      if (next === undefined) throw openFgaFailed('its store changed while it was compared');
      latest = next;
    }
  }

  /** The store as it is when nothing is under way. */
  async function current(): Promise<Publication> {
    const known = (await store.find()) ?? (await store.create(await newStore()));
    if (known.pending === undefined && known.fence === seen) return known;
    const fence = await server.fence(known);
    const { pending } = known;
    if (pending !== undefined && fence === pending.fence) {
      seen = fence;
      return await store.finish(known);
    }
    if (fence !== known.fence) return await startOver(known);
    seen = fence;
    return pending === undefined ? known : await deliver(known);
  }

  async function newStore(): Promise<NewStore> {
    const fence = randomUUID();
    const created = await server.create();
    if ((await server.write(created, { writes: [fenceTuple(fence)], deletes: [] })) === 'done') {
      return { ...created, fence };
    }
    throw openFgaFailed('it refuses to write to a new store');
  }

  async function startOver(known: Publication): Promise<Publication> {
    // A new store that is not as it was left either would be replaced for ever.
    if (hasStartedOver) throw openFgaFailed('another program writes to its stores');
    hasStartedOver = true;
    warn(`the OpenFGA store ${known.storeId} is not as it was left; a new one is filled`);
    const next = await store.replace(known, await newStore());
    seen = next.fence;
    return next;
  }

  /** Sends the write that is under way, for the first time or again. */
  async function deliver(publication: Publication): Promise<Publication> {
    const { pending } = publication;
    if (pending === undefined) return publication;
    const outcome = await server.write(publication, {
      writes: [fenceTuple(pending.fence), ...pending.write.writes],
      deletes: [fenceTuple(publication.fence), ...pending.write.deletes],
    });
    // Rejected because it has arrived already, or because the store contains something else than we think.
    if (outcome === 'rejected' && (await server.fence(publication)) !== pending.fence) {
      return await startOver(publication);
    }
    seen = pending.fence;
    return await store.finish(publication);
  }

  async function publishNews(publication: Publication, stay: Stay): Promise<void> {
    const news = publication.published === NOTHING ? undefined : await store.news(publication);
    if (news === undefined) {
      await publishAll(publication, stay);
      return;
    }
    if (news.revision === publication.published) return;
    const latest = await send(publication, news, stay);
    if (latest === undefined) await publishAll(await current(), stay);
    else await store.settle(latest, news.revision);
  }

  async function publishAll(publication: Publication, stay: Stay): Promise<{ changes: number }> {
    const { revision, accountIds } = await store.accounts(publication);
    let latest = publication;
    let count = 0;
    for (const accountId of accountIds) {
      await stay();
      const account = await store.whole(latest, accountId);
      count += account.changes.length;
      const next = await send(latest, account, stay);
      // The store was replaced, so everything that was sent before is missing in the new one.
      if (next === undefined) return await publishAll(await current(), stay);
      latest = next;
    }
    await store.settle(latest, revision);
    return { changes: count };
  }

  /** Sends changes in parts. Returns undefined if the store had to be replaced. */
  async function send(
    publication: Publication,
    { revision, changes }: Changes,
    stay: Stay,
  ): Promise<Publication | undefined> {
    let latest = publication;
    for (let first = 0; first < changes.length; first += MAX_CHANGES) {
      const part = changes.slice(first, first + MAX_CHANGES);
      const tuples = (effect: TupleChange['effect']) =>
        part.filter((change) => change.effect === effect).map(({ tuple }) => tupleIn(tuple.accountId, tuple));
      const write = { writes: tuples('write'), deletes: tuples('delete') };
      const next = await sendPart(latest, { revision, changes: part, write, fence: randomUUID() }, stay);
      if (next === undefined) return undefined;
      latest = next;
    }
    return latest;
  }

  async function sendPart(publication: Publication, part: Part, stay: Stay): Promise<Publication | undefined> {
    await stay();
    const begun = await store.begin(publication, part);
    const next = await deliver(begun);
    return next.storeId === begun.storeId ? next : undefined;
  }
}

function textOf({ object, relation, user }: ServerTuple): string {
  return `${object} ${relation} ${user}`;
}
