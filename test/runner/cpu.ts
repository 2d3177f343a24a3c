import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever its kernel does. */
const TICKS_PER_SECOND = 100;
const MICROSECONDS = 1e6;

/** Seconds of processor time that this process has used, and those of its children that have ended. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / MICROSECONDS + ticksOf('self').children / TICKS_PER_SECOND;
}

/** The same for another process. Of its children that have not ended, nothing is known. */
export function cpuSecondsOf(pid: number): number {
  const { own, children } = ticksOf(pid);
  return (own + children) / TICKS_PER_SECOND;
}

function ticksOf(pid: number | 'self'): { own: number; children: number } {
  try {
    // Field 2 is the name of the program, in parentheses, and may contain anything. Fields 14 to 17 are the times.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
    return { own: user + system, children: childUser + childSystem };
  } catch {
    // Not Linux, or the process has ended.
    return { own: 0, children: 0 };
  }
}
