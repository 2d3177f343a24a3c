/**
 * Runs conditions in a thread of their own and counts how often any block of code was executed, which is a count and no
 * measurement. Counting slows down all code of a thread, and takes longer the more of it is loaded.
 */
import { Session } from 'node:inspector/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { conditionalModel, evaluate, tryModel } from './condition-differential.ts';

export interface Condition {
  readonly parameters: string;
  readonly expression: string;
  /** Each is evaluated once. */
  readonly contexts: readonly Record<string, unknown>[];
}

export interface Counted {
  readonly answers: readonly (boolean | 'error')[];
  readonly steps: readonly number[];
}

/** In the order of the conditions. */
export async function countSteps(conditions: readonly Condition[]): Promise<Counted[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: conditions });
  const { promise, resolve, reject } = Promise.withResolvers<Counted[]>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', (code) => reject(new Error(`the thread that counts steps ended early with ${code}`)));
  try {
    return await promise;
  } finally {
    await worker.terminate();
  }
}

if (!isMainThread) {
  const counted: Counted[] = [];
  // One after the other: what runs at the same time would be counted too.
  for (const condition of workerData as Condition[]) counted.push(await count(condition));
  parentPort?.postMessage(counted);
}

async function count({ parameters, expression, contexts }: Condition): Promise<Counted> {
  const model = await tryModel(conditionalModel(parameters, expression));
  if ('refused' in model) throw new Error(`${expression}: ${model.refused}`);
  // What only the first evaluation does is not counted.
  evaluate(model, {});
  const counted = [];
  for (const context of contexts) counted.push(await countOne(() => evaluate(model, context)));
  return { answers: counted.map(({ answer }) => answer), steps: counted.map(({ steps }) => steps) };
}

async function countOne(work: () => boolean | 'error') {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await session.post('Profiler.takePreciseCoverage');
  const answer = work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  const counts = result.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
  return { answer, steps: counts.reduce((sum, count) => sum + count, 0) };
}
