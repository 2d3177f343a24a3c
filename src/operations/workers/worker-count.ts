import { availableParallelism } from 'node:os';
import type { Config } from '../../base/config/config.ts';

/**
 * How many workers to run, and why it is not as many as the setting says. An operator who asks for workers gets a
 * supervisor, also on a machine with one core, so that SIGHUP means the same everywhere.
 */
export function workerCount(
  { WORKERS, DATABASE_URL }: Pick<Config, 'WORKERS' | 'DATABASE_URL'>,
  cores = availableParallelism(),
): { readonly count: number; readonly isSupervised: boolean; readonly reason?: string } {
  const wanted = WORKERS === 'auto' ? cores : WORKERS;
  if (WORKERS === 1 || DATABASE_URL !== undefined) return { count: wanted, isSupervised: WORKERS !== 1 };
  const why = 'only one process can open the built-in database';
  const reason = `WORKERS=${WORKERS} needs PostgreSQL (DATABASE_URL): ${why}, so one worker serves`;
  return { count: 1, isSupervised: false, reason };
}
