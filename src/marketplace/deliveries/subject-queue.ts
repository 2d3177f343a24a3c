import { AppError } from '../../base/errors.ts';

export type SubjectQueue = <T>(subject: string, work: () => Promise<T>) => Promise<T>;

/**
 * Runs one job at a time per subject within this process, in the order of the calls. A database lock does the same
 * between processes. Without this queue, a burst of the same delivery would occupy every connection just to wait.
 */
export function createSubjectQueue(patienceMs: number): SubjectQueue {
  const tails = new Map<string, Promise<void>>();

  return async (subject, work) => {
    const before = tails.get(subject) ?? Promise.resolve();
    const { promise: mine, resolve: done } = Promise.withResolvers<void>();
    const tail = before.then(() => mine);
    tails.set(subject, tail);
    try {
      await waitFor(before, patienceMs);
      return await work();
    } finally {
      done();
      if (tails.get(subject) === tail) tails.delete(subject);
    }
  };
}

async function waitFor(before: Promise<void>, patienceMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new AppError('unavailable', 'too many deliveries about the same subject are waiting')),
    patienceMs,
  );
  try {
    await Promise.race([before, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
