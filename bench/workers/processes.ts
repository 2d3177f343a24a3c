import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;
/** Linux counts processor time in ticks, a hundred per second. */
const TICKS_A_SECOND = 100;

/** A process and the processes that it started, by their IDs, itself first. */
export function tasksOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(text === '' ? [] : text.split(' ').map(Number))];
}

/** The resident memory of each, in bytes. */
export function memoryOf(pids: readonly number[]): number[] {
  return pids.map((pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES);
}

/** User and system time of all of them. */
export function processorSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_A_SECOND;
}
