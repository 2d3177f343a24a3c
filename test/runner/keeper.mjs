/**
 * Cleans up after a test run. Its standard input is a pipe that only the runner holds: when that ends, the runner has
 * finished, was interrupted, or was killed, and in each case everything it started ends and its folder goes.
 *
 * Input: one JSON object per line, `{"group": PID}` for a process group and `{"pid": PID}` for a single process that
 * the run started, `{"over": PID}` when that one has ended by itself.
 */
import { existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [folder] = process.argv.slice(2);
const started = new Map();
// A Ctrl-C in the terminal is for the runner, whose end is then noticed here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { group, pid, over } = JSON.parse(line);
  if (group !== undefined) started.set(group, -group);
  if (pid !== undefined) started.set(pid, pid);
  // A group is kept until the end: its leader may have left processes behind.
  if (over !== undefined && started.get(over) > 0) started.delete(over);
});
lines.on('close', async () => {
  for (const target of started.values()) end(target);
  // A process that is just ending may still write a file.
  for (let attempt = 0; attempt < 50 && existsSync(folder); attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
});

function end(target) {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
