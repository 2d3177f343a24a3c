/** Runs one test file and reports its first failure, or that there is none. */
import { flushCompileCache } from 'node:module';
import { run } from 'node:test';
import type { Outcome } from './trial.ts';

let tests = 0;
for await (const { type, data } of run({ files: process.argv.slice(2), isolation: 'none' })) {
  // All modules are loaded now. A process that is ended later would not keep what it has compiled.
  if (type === 'test:dequeue' && tests === 0) flushCompileCache();
  if (type === 'test:pass') tests += 1;
  if (type === 'test:fail') {
    const { cause } = data.details.error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    send({ kind: 'failed', reason: `${data.name}: ${reason.split('\n')[0]}` });
  }
}
const { user, system } = process.cpuUsage();
send({ kind: 'passed', tests, cpuSeconds: (user + system) / 1e6 });
process.disconnect();

function send(outcome: Outcome): void {
  process.send?.(outcome);
}
