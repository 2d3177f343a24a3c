interface Waiting<T> {
  readonly item: T;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_AT_ONCE = 500;

/**
 * Batches the small writes of many callers: writes that arrive while a batch is running go into the next one, so that a
 * thousand of them cost a few commits. A batch contains no key twice, and the order of each key is kept.
 */
export function createWriteBatcher<T extends { readonly id: bigint }>(
  /** Returns the keys that were written. */
  work: (items: readonly T[]) => Promise<ReadonlySet<bigint>>,
) {
  let waiting: Waiting<T>[] = [];
  let isBusy = false;

  return (item: T): Promise<boolean> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isBusy) void run();
    });

  async function run(): Promise<void> {
    isBusy = true;
    // Waits for the end of this turn of the event loop, so that writes that arrive together go into one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await settle(nextBatch());
    isBusy = false;
  }

  async function settle(batch: readonly Waiting<T>[]): Promise<void> {
    try {
      const done = await work(batch.map(({ item }) => item));
      for (const { item, resolve } of batch) resolve(done.has(item.id));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  function nextBatch(): Waiting<T>[] {
    const batch = new Map<bigint, Waiting<T>>();
    const later: Waiting<T>[] = [];
    for (const one of waiting) {
      if (batch.size < MAX_AT_ONCE && !batch.has(one.item.id)) batch.set(one.item.id, one);
      else later.push(one);
    }
    waiting = later;
    return [...batch.values()];
  }
}
