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
  /** Odd requests to every route. */
  oddRequestsPerRoute: [3, 60],
  /** Random worlds in which the engine must agree with the second evaluator. */
  engineWorlds: [120, 4000],
} as const satisfies Record<string, readonly [everyday: number, long: number]>;

/** How often each promise is tried: the one place for these numbers. */
export const COUNTS = Object.fromEntries(
  Object.entries(EVERYDAY_AND_LONG).map(([name, counts]) => [name, counts[IS_LONG ? 1 : 0]]),
) as Readonly<Record<keyof typeof EVERYDAY_AND_LONG, number>>;
