interface Waiting<T> {
  readonly item: T;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_AT_ONCE = 500;

/**
 * Small writes of many callers, done together: what comes while a batch is under way goes with the next one, so that a
 * thousand of them cost a few commits. No key stands twice in a batch; of each key the order is kept.
 */
export function createWriteBatcher<T extends { readonly id: bigint }>(
  /** Answers the keys for which it was done. */
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
    // At the end of this turn, so that a whole wave goes together.
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
