import type { Logger } from 'pino';
import type { Config } from './base/config/config.ts';
import type { Keys } from './base/keys.ts';
import type { Metrics } from './base/metrics.ts';
import type { Quotas } from './changes/quotas.store.ts';
import type { Revisions } from './changes/revision.ts';
import type { WriteGuard } from './changes/write.ts';
import type { Db } from './db/db.ts';
import type { Share } from './http/limits/rate-limit.ts';
import type { Vault } from './vault/vault.ts';

/** What every feature is wired with. Handed to wiring files only, never to a rule. */
export interface Infrastructure {
  readonly config: Config;
  readonly keys: Keys;
  readonly vault: Vault;
  readonly db: Db;
  readonly revisions: Revisions;
  /** What looks at every write before it commits. Features add theirs before the first request. */
  readonly writeGuards: WriteGuard[];
  /** The limits of every list that callers can make longer. */
  readonly quotas: Quotas;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** Makes an allowance common to all processes that serve the same ports. Every allowance goes through it. */
  readonly share: Share;
  /** Final only once the server listens. */
  readonly baseUrl: () => string;
}
