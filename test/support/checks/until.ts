import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;

/** Waits without its own deadline: the runner names a test in which nothing happens any more. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(LOOK_EVERY_MS);
}
