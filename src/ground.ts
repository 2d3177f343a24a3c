import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Db } from './db/db.ts';
import type { Clock } from './directory/clock.ts';
import type { Keys } from './keys.ts';
import type { Metrics } from './metrics.ts';
import type { Vault } from './vault/vault.ts';

/** What every group of routes stands on. Handed to the groups' composition only, never to a rule. */
export interface Ground {
  readonly config: Config;
  readonly keys: Keys;
  readonly vault: Vault;
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** Known for certain only once the server listens. */
  readonly baseUrl: () => string;
}
