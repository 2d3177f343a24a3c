import { setImmediate as breath } from 'node:timers/promises';

/**
 * Long work is done in slices, and other requests are served in between: one request must not keep all others waiting
 * for longer than about a tenth of a second.
 */
export { breath };

const SLICE_MS = 10;

/**
 * To be called often in long work whose pieces differ in size. Lets others work if enough time has passed since the last
 * time; usually it does nothing.
 */
export function createPace(): () => Promise<void> | undefined {
  let last = performance.now();
  return () => {
    if (performance.now() - last < SLICE_MS) return undefined;
    return breath().then(() => {
      last = performance.now();
    });
  };
}

export async function mapInSlices<T, R>(
  items: readonly T[],
  size: number,
  map: (item: T, place: number) => R,
): Promise<R[]> {
  const results: R[] = [];
  for (const [place, item] of items.entries()) {
    if (place > 0 && place % size === 0) await breath();
    results.push(map(item, place));
  }
  return results;
}
