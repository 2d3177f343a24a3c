import { availableParallelism } from 'node:os';
import type { Config } from '../../base/config/config.ts';
import { workerCount } from '../workers/worker-count.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'workers';

/** Whether the setting suits the machine. */
export function examineWorkers(config: Config, cores = availableParallelism()): Finding[] {
  const { count, reason } = workerCount(config, cores);
  if (reason !== undefined) return [warning(CHECK, reason, 'Set DATABASE_URL, or remove WORKERS.')];
  if (config.WORKERS === 1) return [];
  const text = `${count} workers serve requests, and this machine has ${cores} cores`;
  if (count > cores) return [warning(CHECK, text, 'Set WORKERS=auto: more workers than cores only take memory.')];
  return [ok(CHECK, text)];
}

/** Whether all workers of this server can have their connections; while they are replaced, there is one more. */
export function examineConnections(config: Config, most: number): Finding[] {
  const { count, isSupervised } = workerCount(config);
  if (config.DATABASE_URL === undefined) return [];
  const processes = isSupervised ? count + 1 : 1;
  const needed = processes * (config.DATABASE_POOL + 1);
  const text = `this server opens up to ${needed} connections, and PostgreSQL allows ${most} to all its clients`;
  if (needed <= most) return [ok('connections', text)];
  return [warning('connections', text, 'Lower WORKERS or DATABASE_POOL, or raise max_connections of PostgreSQL.')];
}
