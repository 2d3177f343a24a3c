/** Runs test files in this one process, and reports the results to the runner. */
import { run } from 'node:test';
import { inspect } from 'node:util';
import { cpuSeconds } from './cpu.ts';
import type { WorkerMessage } from './messages.ts';

/** How Node announces an error that no test waits for any more. */
const LATE = /generated asynchronous activity after the test ended/;
const running: string[] = [];

// Without the runner, this process has no purpose.
process.on('disconnect', () => process.exit(1));
process.channel?.unref();

for await (const { type, data } of run({ files: process.argv.slice(2), isolation: 'none' })) {
  // The process ends with 1 because of it, and the error names the cause.
  if (type === 'test:diagnostic' && LATE.test(data.message)) process.stderr.write(`${data.message}\n`);
  const message = read(type, data as TestEvent);
  if (message !== undefined) process.send?.(message);
}
process.send?.({ type: 'done', cpu: cpuSeconds() } satisfies WorkerMessage);

interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly line?: number;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details?: { duration_ms: number; type?: string; error?: Error & { failureType?: string } };
}

function read(type: string, event: TestEvent): WorkerMessage | undefined {
  const { name, nesting, file = '', line = 0, details } = event;
  if (type === 'test:dequeue') {
    running.length = nesting;
    running.push(name);
    return { type: 'start', file, path: [...running], cpu: cpuSeconds() };
  }
  if (type !== 'test:pass' && type !== 'test:fail') return undefined;
  const error = details?.error;
  // A suite does not count if only its tests fail. A suite whose own hooks fail counts.
  if (error?.failureType === 'subtestsFailed') return undefined;
  if (error === undefined && details?.type === 'suite') return undefined;
  return {
    type: 'end',
    file,
    line,
    path: [...running.slice(0, nesting), name],
    ms: details?.duration_ms ?? 0,
    isSkipped: event.skip !== undefined || event.todo !== undefined,
    ...(error !== undefined && { error: inspect(error.cause ?? error) }),
  };
}
