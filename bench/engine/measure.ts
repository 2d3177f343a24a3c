export interface Speed {
  /** Median over windows of a tenth of a second. */
  readonly perSecond: number;
  /** The best window: what one core does when nobody else wants it. */
  readonly best: number;
  readonly p50: number;
  readonly p99: number;
}

/** Answers a second without looking at the clock within a window, then the spread with a look at each. */
export function measure<T>(questions: readonly T[], ask: (question: T) => unknown, seconds: number): Speed {
  for (const question of questions.slice(0, 20_000)) ask(question);
  const windows: number[] = [];
  const end = performance.now() + seconds * 1000;
  for (let next = 0; performance.now() < end; ) {
    const start = performance.now();
    let asked = 0;
    for (; performance.now() - start < 100; asked += 500) {
      for (let i = 0; i < 500; i++) ask(questions[next++ % questions.length] as T);
    }
    windows.push((asked * 1000) / (performance.now() - start));
  }
  windows.sort((a, b) => a - b);
  const perSecond = windows[Math.floor(windows.length / 2)] ?? 0;
  return { perSecond, best: windows.at(-1) ?? 0, ...spread(questions.slice(0, 100_000), ask) };
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

/** For peers, which are slow or answer later: each question is timed. */
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

/** Everything that a value keeps alive, inside and outside the heap. */
export function memory(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
