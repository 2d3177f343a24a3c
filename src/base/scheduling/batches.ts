interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchOptions {
  /** Maximum batch size. */
  readonly maxSize?: number;
  /** Maximum number of batches that run at the same time. Calls that arrive meanwhile wait, and share the next batch. */
  readonly concurrency?: number;
  /** A batch that takes longer than this waits for something, and does not hold up other batches; but few of them may wait. */
  readonly slow?: { readonly afterMs: number; readonly concurrency: number };
}

/**
 * Calls in one turn of the event loop, or while other batches run, become one call with all their inputs: a
 * database handles many inputs for little more than the cost of one. The outputs are in the order of the inputs. A call that is
 * alone does not wait.
 */
export function inBatches<In, Out>(
  run: (inputs: readonly In[]) => Promise<readonly Out[]>,
  { maxSize = Number.POSITIVE_INFINITY, concurrency = Number.POSITIVE_INFINITY, slow }: BatchOptions = {},
): (input: In) => Promise<Out> {
  const waiting: Waiting<In, Out>[] = [];
  let running = 0;
  let waitingLong = 0;
  let isScheduled = false;

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      schedule();
    });

  function schedule(): void {
    const isFull = running - Math.min(waitingLong, slow?.concurrency ?? 0) >= concurrency;
    if (isScheduled || isFull || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(begin);
  }

  function begin(): void {
    isScheduled = false;
    const batch = waiting.splice(0, maxSize);
    running += 1;
    void finish(batch);
    schedule();
  }

  async function finish(batch: readonly Waiting<In, Out>[]): Promise<void> {
    let isSlow = 0;
    const timer = slow && setTimeout(becomeSlow, slow.afterMs);
    function becomeSlow(): void {
      isSlow = 1;
      waitingLong += 1;
      schedule();
    }
    try {
      const outputs = await run(batch.map(({ input }) => input));
      if (outputs.length !== batch.length) throw new Error(`${batch.length} inputs gave ${outputs.length} outputs`);
      for (const [place, { resolve }] of batch.entries()) resolve(outputs[place] as Out);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    clearTimeout(timer);
    running -= 1;
    waitingLong -= isSlow;
    schedule();
  }
}
