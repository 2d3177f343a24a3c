/** True in `npm run test:long`, which tries the same promises with the second number of each line. */
export const IS_LONG = process.env.TEST_SIZE === 'long';

const EVERYDAY_AND_LONG = {
  /** SIGKILLs of a server while marketplace deliveries arrive. */
  deliveryKills: [2, 30],
  /** SIGKILLs of a process that writes roles, on each database. */
  roleKillsOnPostgres: [2, 30],
  roleKillsOnPglite: [1, 8],
  /** A role is changed in one process, and another process is asked at once. */
  revokeAskPairs: [400, 20_000],
  /** Rounds in the life of an account (token, session, membership, deactivation), asked about in another process. */
  accountRounds: [2, 40],
  /** Requests over 64 connections, which share their questions to the database. */
  sharedRequests: [1500, 20_000],
  /** Odd requests to every route. */
  oddRequestsPerRoute: [3, 60],
  /** SIGKILLs of a process that writes to PGlite. */
  pgliteKills: [1, 12],
  /** Power cuts after which a different part of the unsynced files is on the disk. */
  partialPowerCuts: [1, 8],
  /** Seconds of mixed load on one server, and restarts of two replicas in turn: in the long suite only. */
  soakSeconds: [0, 120],
  rollingRestarts: [0, 12],
  /** Random worlds in which the engine must agree with the second evaluator. */
  engineWorlds: [120, 4000],
  /** Something is removed in one process, and another process is asked about it at once. */
  removalRounds: [2, 15],
  /** Concurrent requests that contradict each other, such as two owners who leave. */
  raceRounds: [2, 8],
  /** Random changes, after each of which a patched graph must answer like a newly loaded one. */
  graphRounds: [15, 60],
  /** Rounds in which two graphs are read where only one fits. */
  evictionRounds: [3, 10],
  /** Writes to two accounts at once, whose graphs are read meanwhile. */
  pairedWrites: [15, 60],
  /** Every so many-th question about who may do what is asked in both ways. */
  agreementStep: [6, 1],
  /** Roles in one file. */
  importedRoles: [100, 1000],
  /** Rows of an audit log that is exported to a client that does not read. */
  exportedRows: [10_000, 60_000],
} as const satisfies Record<string, readonly [everyday: number, long: number]>;

/** How often each promise is tried: the one place for these numbers. */
export const COUNTS = Object.fromEntries(
  Object.entries(EVERYDAY_AND_LONG).map(([name, counts]) => [name, counts[IS_LONG ? 1 : 0]]),
) as Readonly<Record<keyof typeof EVERYDAY_AND_LONG, number>>;
