import { setImmediate as breath } from 'node:timers/promises';

/**
 * Long work is done in slices, and other requests are served in between: one request must not keep all others waiting
 * for longer than about a tenth of a second.
 */
export { breath };

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
