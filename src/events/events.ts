/**
 * Sends listeners what changed.
 *
 * 1. A listener hears of every change that it may see, once, in the order of revisions; all of one revision in one event.
 *    If that cannot be promised, it is asked to load everything again (`reset`). There is never a silent gap.
 * 2. Changes are read from the database once a second for all listeners together, and never while there is no listener.
 * 3. A listener joins before its position is read, so that no change falls between its own first read and the common
 *    ones. Until it has begun, its changes wait in its queue.
 * 4. What a listener may see is decided after the changes were read, by graphs that are at least as new. A right that is
 *    lost in the meantime is respected, and one that was gained or lost makes a reset.
 * 5. A caller whom a change is about is admitted again before they hear of it. If they are rejected, their stream ends.
 * 6. A stream that cannot be kept up to date ends: its client connects again, and asks a server that can.
 */
import { AppError } from '../base/errors.ts';
import { within } from '../base/scheduling/within.ts';
import type { Moment, Revisions } from '../changes/revision.ts';
import type { EventListener, EventListenerOptions, EventStore } from './event-listener.ts';
import type { RecordedChange } from './visible-changes.ts';

interface EventsOptions {
  readonly revisions: Pick<Revisions, 'current' | 'isLatest'>;
  readonly store: EventStore;
  readonly createListener: (parts: EventListenerOptions) => EventListener;
  readonly maxListeners: number;
  readonly onError: (error: unknown) => void;
}

export type Events = ReturnType<typeof createEvents>;
/** What the caller of a stream brings along. */
export type Listening = Omit<EventListenerOptions, 'now' | 'onAccounts' | 'onEnd'>;

const ASK_EVERY_MS = 1000;
const ASK_WITHIN_MS = 5000;
const MAX_FAILURES = 3;
const COMMENT_EVERY = 15;
const MAX_PER_CALLER = 20;
/** Reading more than this in one piece costs more than loading everything again. */
const MAX_CHANGES = 20_000;
const RETRY_SECONDS = 5;

export function createEvents({ revisions, store, createListener, maxListeners, onError }: EventsOptions) {
  const listeners = new Set<EventListener>();
  const byAccount = new Map<bigint, Set<EventListener>>();
  /** Each turn, the listeners of one slot get their comment. */
  const slots = Array.from({ length: COMMENT_EVERY }, () => new Set<EventListener>());
  let last: Moment | undefined;
  let beginning: Promise<Moment> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  let joined = 0;
  let isAsking = false;
  let failures = 0;
  let isClosed = false;

  return { listen, close, count: () => listeners.size };

  /** Resolves once the first events are sent. Rejects before anything is sent. */
  async function listen(listening: Listening): Promise<void> {
    const callerId = listening.caller.person.id;
    if (isClosed) throw new AppError('unavailable', 'the server is about to stop', { retryAfter: 1 });
    if (listeners.size >= maxListeners) throw tooMany(`this server has its maximum of ${maxListeners} event streams`);
    const own = [...listeners].filter((one) => one.callerId === callerId).length;
    if (own >= MAX_PER_CALLER) throw tooMany(`you have the maximum of ${MAX_PER_CALLER} event streams open`);
    // Invariant 3.
    const listener = createListener({
      ...listening,
      now,
      onAccounts: () => {
        if (!listeners.has(listener)) return;
        unlist(listener);
        list(listener);
      },
      onEnd: () => leave(listener),
    });
    join(listener);
    try {
      await begin();
      await listener.begin();
    } catch (error) {
      listener.end();
      throw error;
    }
  }

  function join(listener: EventListener): void {
    listeners.add(listener);
    slots[joined++ % COMMENT_EVERY]?.add(listener);
    list(listener);
    timer ??= setInterval(beat, ASK_EVERY_MS).unref();
  }

  function leave(listener: EventListener): void {
    if (!listeners.delete(listener)) return;
    for (const slot of slots) slot.delete(listener);
    unlist(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    last = undefined;
    beginning = undefined;
  }

  function list(listener: EventListener): void {
    for (const account of listener.accounts())
      byAccount.set(account, (byAccount.get(account) ?? new Set()).add(listener));
  }

  function unlist(listener: EventListener): void {
    for (const [account, some] of byAccount) if (some.delete(listener) && some.size === 0) byAccount.delete(account);
  }

  /** The first listener of a while finds out from where on to read. */
  async function begin(): Promise<void> {
    if (last !== undefined) return;
    beginning ??= store.now();
    const moment = await beginning;
    last ??= moment;
  }

  /** The present moment, without asking if this process knows that nothing has changed. */
  async function now(): Promise<Moment> {
    return last !== undefined && revisions.isLatest(last) ? last : await store.now();
  }

  function beat(): void {
    turn = (turn + 1) % COMMENT_EVERY;
    for (const listener of slots[turn] ?? []) listener.comment();
    const time = Date.now();
    for (const listener of listeners) if (listener.until <= time) listener.checkAgain();
    if (isAsking || last === undefined) return;
    isAsking = true;
    within(ASK_WITHIN_MS, ask(last), 'the database does not answer')
      .then(
        () => {
          failures = 0;
        },
        (error) => {
          // Invariant 6.
          if (++failures < MAX_FAILURES) return;
          if (failures === MAX_FAILURES) onError(error);
          for (const listener of [...listeners]) listener.end();
        },
      )
      .finally(() => {
        isAsking = false;
      });
  }

  async function ask(from: Moment): Promise<void> {
    await revisions.current();
    if (revisions.isLatest(from)) return;
    const { moment, stampThen, changes } = await store.since(from.revision, { max: MAX_CHANGES });
    // Invariant 4.
    await revisions.current();
    if (last !== from) return;
    last = moment;
    if (stampThen !== from.stamp || changes === undefined) for (const listener of listeners) listener.reset(moment);
    else sendToListeners(changes, moment);
  }

  function sendToListeners(changes: readonly RecordedChange[], moment: Moment): void {
    const news = new Map<EventListener, RecordedChange[]>();
    const administrators = [...listeners].filter((listener) => listener.followsAccounts());
    for (const change of changes) {
      const { kind, id, organizationId } = change;
      const concerned = new Set(organizationId === null ? [] : byAccount.get(organizationId));
      if (kind === 'account') for (const listener of byAccount.get(id) ?? []) concerned.add(listener);
      if (kind === 'account') for (const listener of administrators) concerned.add(listener);
      for (const listener of concerned) {
        const known = news.get(listener);
        if (known) known.push(change);
        else news.set(listener, [change]);
      }
    }
    for (const [listener, some] of news) listener.send(some, moment);
  }

  /** Streams end, so that clients connect to another server. */
  function close(): void {
    isClosed = true;
    for (const listener of [...listeners]) listener.end();
  }
}

function tooMany(message: string): AppError {
  return new AppError('limited', message, { retryAfter: RETRY_SECONDS });
}
