import { AppError } from '../base/errors.ts';

export type RunExclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** Turns that can be counted. */
export interface Mutex extends RunExclusive {
  /** How many callers have a turn, or wait for one. */
  count(): number;
}

/**
 * PGlite has one connection, so a query between the BEGIN and COMMIT of another caller would become part of that
 * transaction. Every caller waits for its turn, but not forever: a query of `db` inside a transaction waits for itself.
 */
export function createMutex(timeoutMs: number): Mutex {
  const waiting: (() => void)[] = [];
  let busy = false;

  const wait = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(new AppError('unavailable', `the database was busy with another transaction for ${timeoutMs} ms`));
      }, timeoutMs);
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(go);
    });

  const run: RunExclusive = async (work) => {
    if (busy) await wait();
    busy = true;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy = false;
      else next();
    }
  };
  return Object.assign(run, { count: () => waiting.length + (busy ? 1 : 0) });
}

/** Runs the given work one after the other, in the order of the calls, however long it takes. */
export function createSerialQueue(): RunExclusive {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
}
