import { COUNTS } from '../counts.ts';

/** A part of `npm run test:long`. */
export interface Lane {
  readonly name: string;
  readonly what: string;
  readonly files: readonly string[];
  /** On two quiet cores. */
  readonly minutes: number;
}

export const LANES: readonly Lane[] = [
  {
    name: 'kills',
    what: `${COUNTS.deliveryKills} SIGKILLs during deliveries, ${COUNTS.roleKillsOnPostgres + COUNTS.roleKillsOnPglite} during role writes, ${COUNTS.pgliteKills} of PGlite`,
    files: ['test/api/marketplace/crash.test.ts', 'test/authz/crash.test.ts', 'test/db/pglite.test.ts'],
    minutes: 2,
  },
  {
    name: 'power-cuts',
    what: `PGlite restarted from ${COUNTS.partialPowerCuts} different remains of a power cut`,
    files: ['test/db/power-cut.test.ts'],
    minutes: 1,
  },
  {
    name: 'freshness',
    what: `${COUNTS.revokeAskPairs} revoke and ask pairs, ${COUNTS.accountRounds} rounds in 8 accounts' lives`,
    files: ['test/api/authz/freshness.test.ts', 'test/api/house/freshness.test.ts'],
    minutes: 3,
  },
  {
    name: 'fuzzing',
    what: `${COUNTS.oddRequestsPerRoute} odd requests per route, ${COUNTS.engineWorlds} random worlds in the engine`,
    files: ['test/api/house/fuzz.test.ts', 'test/rebac/fuzz.test.ts'],
    minutes: 3,
  },
];
