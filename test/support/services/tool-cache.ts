import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder of a program that tests fetch or build: once for each user of a machine, and for all checkouts, because some
 * take half an hour. To measure a first build again, set XDG_CACHE_HOME to an empty folder.
 */
export function toolCache(name: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'atrium', 'tools', name);
}
