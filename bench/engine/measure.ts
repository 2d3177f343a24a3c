export interface Speed {
  /** Median over windows of a tenth of a second. */
  readonly perSecond: number;
  /** The best window: what one core can do if nothing else uses it. */
  readonly best: number;
  readonly p50: number;
  readonly p99: number;
}

interface Contestant<T> {
  readonly questions: readonly T[];
  readonly ask: (question: T) => unknown;
}

const WINDOW_MS = 100;

/**
 * Measures answers per second in windows, reading the time only once per 500 answers; then the spread, timing each
 * answer.
 */
export function measure<T>(questions: readonly T[], ask: (question: T) => unknown, seconds: number): Speed {
  return measureInTurns([{ questions, ask }], seconds)[0] as Speed;
}

/** The same for several contestants, one window each in turn, because the speed of the machine varies. */
export function measureInTurns<T>(contestants: readonly Contestant<T>[], seconds: number): Speed[] {
  const all = contestants.map((one) => ({ ...one, next: 0, windows: [] as number[] }));
  for (const { questions, ask } of all) for (const question of questions.slice(0, 20_000)) ask(question);
  for (let turn = 0; turn < (seconds * 1000) / WINDOW_MS; turn++) {
    for (const one of all) {
      const { questions, ask, windows } = one;
      const start = performance.now();
      let asked = 0;
      for (; performance.now() - start < WINDOW_MS; asked += 500) {
        for (let i = 0; i < 500; i++) ask(questions[one.next++ % questions.length] as T);
      }
      windows.push((asked * 1000) / (performance.now() - start));
    }
  }
  return all.map(({ questions, ask, windows }) => {
    windows.sort((a, b) => a - b);
    const perSecond = windows[Math.floor(windows.length / 2)] ?? 0;
    return { perSecond, best: windows.at(-1) ?? 0, ...spread(questions.slice(0, 100_000), ask) };
  });
}

/** In microseconds. */
function spread<T>(questions: readonly T[], ask: (question: T) => unknown): { p50: number; p99: number } {
  const times = new Float64Array(questions.length);
  for (const [i, question] of questions.entries()) {
    const before = performance.now();
    ask(question);
    times[i] = (performance.now() - before) * 1000;
  }
  return percentiles(times);
}

/** For peers, which are slow or asynchronous: times each question. */
export async function measureEach<T>(
  questions: readonly T[],
  ask: (question: T) => Promise<unknown> | unknown,
  seconds: number,
): Promise<Speed> {
  const times: number[] = [];
  const start = performance.now();
  for (const question of questions) {
    const before = performance.now();
    await ask(question);
    times.push((performance.now() - before) * 1000);
    if (performance.now() - start > seconds * 1000) break;
  }
  const perSecond = (times.length * 1000) / (performance.now() - start);
  return { perSecond, best: perSecond, ...percentiles(Float64Array.from(times)) };
}

function percentiles(times: Float64Array): { p50: number; p99: number } {
  times.sort();
  return { p50: times[Math.floor(times.length * 0.5)] ?? 0, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

/** All memory in use, inside and outside the heap, after garbage collection. */
export function memory(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
