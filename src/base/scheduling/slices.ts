/**
 * Long work is done in slices, and other requests are served in between.
 *
 * 1. A slice ends by time, not by number: one check takes a microsecond for most users, and milliseconds for a member of
 *    a thousand teams.
 * 2. One slice is run in each turn of the event loop, however many requests have long work to do.
 * 3. Work that belongs to a request has an overseer, who hears after each slice how much processor time the work has
 *    taken so far, and can end it. Work that several requests wait for is done `apart`, so that no request ends it for
 *    the others.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Lets other requests run if the slice has lasted long enough; usually it does nothing. */
export type Yielder = () => Promise<void> | undefined;

/** Throws to end the work. Time during which other requests run, or the work waits for the database, does not count. */
export type Overseer = (usedMs: number) => void;

const SLICE_MS = 10;

/** Most requests do no long work, so the slices of one are created when it begins to. */
interface Overseen {
  readonly overseer: Overseer;
  slices: Slices | undefined;
}

const current = new AsyncLocalStorage<Overseen | undefined>();

/** Runs work whose pauses, however deep, are watched by the overseer. */
export function oversee<T>(overseer: Overseer, work: () => T): T {
  return current.run({ overseer, slices: undefined }, work);
}

/** Runs work that other requests wait for, too. */
export function apart<T>(work: () => T): T {
  return current.run(undefined, work);
}

/** To be called after each piece of long work. A piece must be short by itself: a few milliseconds at most. */
export function createYielder(): Yielder {
  return createSlices().yieldIfDue;
}

/** The same for work that cannot wait where it is, and rests afterwards. */
export function createSlices(): Pick<Slices, 'isOver' | 'rest' | 'yieldIfDue'> {
  const overseen = current.getStore();
  if (overseen === undefined) return new Slices();
  overseen.slices ??= new Slices(overseen.overseer);
  return overseen.slices;
}

export async function mapInSlices<T, R>(items: readonly T[], map: (item: T, place: number) => R): Promise<R[]> {
  const yieldIfDue = createYielder();
  const results: R[] = [];
  for (const [place, item] of items.entries()) {
    results.push(map(item, place));
    await yieldIfDue();
  }
  return results;
}

const waiting: (() => void)[] = [];

/** Waits for a turn of the event loop of its own. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(takeTurn);
  });
}

function takeTurn(): void {
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(takeTurn);
  next?.();
}

/** The slices of one piece of work. It is cheap to ask within a slice, and processor time is measured around it. */
class Slices {
  readonly #overseer: Overseer | undefined;
  #isOpen = false;
  #since = 0;
  /** The processor time of the thread when the slice began. */
  #began = 0;
  #usedMs = 0;

  constructor(overseer?: Overseer) {
    this.#overseer = overseer;
  }

  readonly yieldIfDue: Yielder = () => (this.isOver() ? this.rest() : undefined);

  isOver(ms = SLICE_MS): boolean {
    if (!this.#isOpen) {
      this.#open();
      this.#overseer?.(this.#usedMs);
    }
    return performance.now() - this.#since >= ms;
  }

  async rest(): Promise<void> {
    this.#overseer?.(this.#usedMs + threadMs() - this.#began);
    await yieldToEventLoop();
    this.#open();
    this.#overseer?.(this.#usedMs);
  }

  /** The slice ends when the work waits for anything: then this thread serves other requests. */
  #open(): void {
    this.#isOpen = true;
    this.#since = performance.now();
    if (this.#overseer) this.#began = threadMs();
    process.nextTick(this.#close);
  }

  readonly #close = (): void => {
    this.#isOpen = false;
    if (this.#overseer) this.#usedMs += threadMs() - this.#began;
  };
}

/** The processor time of this thread. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
