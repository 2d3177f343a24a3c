import { parentPort } from 'node:worker_threads';
import type { WorkerRequest } from '../../../src/buckets/bucket-worker.client.ts';

/**
 * Stands in for the thread that calls storage services, and fails as the access key of the listing says. `wait` is
 * never answered.
 */
const FAILURES: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(0),
  throw: () => {
    throw new TypeError('with a secret in it');
  },
  reject: () => void Promise.reject(new RangeError('with a secret in it')),
  memory: () => {
    const kept: number[][] = [];
    for (;;) kept.push(Array(100_000).fill(kept.length));
  },
  spin: () => {
    for (;;);
  },
  wait: () => undefined,
};

parentPort?.on('message', (request: WorkerRequest) => {
  if (request.account?.kind !== 's3') return;
  const fail = FAILURES[request.account.accessKeyId];
  if (fail) fail();
  else parentPort?.postMessage({ id: request.id, names: [request.account.accessKeyId] });
});
