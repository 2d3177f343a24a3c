/**
 * Cleans up after a test run. Its standard input is a pipe that only the runner holds. When the pipe closes, the runner
 * has finished, was interrupted, or was killed. In each case this program ends everything that the run started and
 * removes its folder.
 *
 * Input: one JSON object per line. `{"group": PID}` is a process group and `{"pid": PID}` a single process that the run
 * started; `{"over": PID}` means that this process has ended by itself.
 */
import { existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [folder] = process.argv.slice(2);
const started = new Map();
// A Ctrl-C in the terminal is meant for the runner. This process notices when the runner ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { group, pid, over } = JSON.parse(line);
  if (group !== undefined) started.set(group, -group);
  if (pid !== undefined) started.set(pid, pid);
  // A group is kept until the end, because its leader may have left processes behind.
  if (over !== undefined && started.get(over) > 0) started.delete(over);
});
lines.on('close', async () => {
  for (const target of started.values()) end(target);
  // A process that is about to end may still write a file.
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
    // It has already ended.
  }
}
