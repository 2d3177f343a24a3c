/**
 * How much a run tests: `npm test` is everyday, `npm run test:long` is long, and `npm run test:long -- LANE` is whole.
 * CI runs the first two. Somebody who names a lane wants to know, and has the time.
 */
const SIZES = ['everyday', 'long', 'whole'] as const;
const SIZE = SIZES.find((size) => size === process.env.TEST_SIZE) ?? 'everyday';

/** True in `npm run test:long`, with or without a lane. */
export const IS_LONG = SIZE !== 'everyday';
/** True in `npm run test:long -- LANE`, which repeats what the everyday suite does. */
export const IS_WHOLE = SIZE === 'whole';

type Counts = readonly [everyday: number, long: number, whole?: number];

/** Without a third number, a named lane takes the second. */
const ALL_COUNTS = {
  /** SIGKILLs of a server while marketplace deliveries arrive. */
  deliveryKills: [0, 4, 30],
  /** Deliveries to each receiver with an official library of Standard Webhooks, before and during a rotation. */
  libraryDeliveries: [3, 10, 60],
  /** Random lists of changes that are previewed, then made. */
  previewedPlans: [15, 80, 1000],
  /** Random files of an organization, each planned, applied and exported. */
  organizationFiles: [12, 60, 500],
  /** The same while there are guardrails. */
  guardedPlans: [10, 60, 1000],
  /** Random questions while there are guardrails, each remedy of which is tried for real. */
  guardedRemedies: [8, 60, 1000],
  /** Random role files that are tried with a dry run and a preview, then imported. */
  dryRuns: [30, 150, 3000],
  /** Random previews about an organization whose names must not appear in the answers to others. */
  previewsOfStrangers: [30, 500, 10_000],
  /** Pages of the console that are tried while the server is slow, fails or is away, and in Firefox. */
  troubledPages: [0, 25, 1000],
  /** Pages of the console that axe sees while they are closed to the visitor. */
  closedPages: [1, 8, 100],
  /** The same delivery to each of two servers, all at once. */
  deliveriesPerReplica: [0, 30],
  /** The same delivery to one server, all at once. */
  identicalDeliveries: [20, 200],
  /** Rounds of deliveries while the database is unavailable. */
  outageRounds: [2, 15, 50],
  /** Followers in the list whose pages are compared with a plain sort. With fewer, PostgreSQL scans whole tables. */
  followers: [8000, 20_000],
  /** Users of a large deployment, with a tenth as many organizations, and audit entries for each of them. */
  grownUsers: [0, 20_000, 1_000_000],
  grownAuditEntries: [0, 2, 10],
  /** Resources in the history of one cluster; a page holds 1,000. */
  reportedResources: [0, 2500],
  /** Containers in Azurite; a page holds 1,000. */
  azureContainers: [3, 1020],
  /** Random searches whose results are compared with what the caller may see. */
  searches: [25, 300, 10_000],
  /** Random writes while a listener disconnects and resumes, and all that it heard is compared with what was written. */
  eventWrites: [30, 150, 3000],
  /** Random values that are written as YAML and read back. */
  yamlTexts: [150, 3000, 10_000],
  /** Private addresses that are tried as endpoints of Azure and Google. */
  guardedHosts: [2, 12],
  /** Rounds in which two users follow and unfollow each other at the same moment. */
  mutualFollowRounds: [3, 30, 100],
  /** Rounds in which others ask for a name at the moment at which its organization gives it up. */
  nameRaces: [4, 20, 60],
  /** Rounds in which two owners import the same cluster UID at the same moment. */
  importRaces: [3, 15, 40],
  /** NATS keys of each kind that are compared with those of the NATS library. */
  natsKeys: [5, 200],
  /** Starts of the demo on a marketplace deployment, one after the other. */
  marketplaceDemoStarts: [0, 2],
  /** SIGKILLs of a process that writes roles, on each database. */
  roleKillsOnPostgres: [0, 4, 30],
  roleKillsOnPglite: [0, 3, 8],
  /** SIGKILLs of a server while requests with an idempotency key are repeated until they are answered. */
  keyedKills: [0, 3, 20],
  /** Rounds in which a replica falls silent at each place of a write. */
  silentRounds: [1, 1, 5],
  /** A role is changed in one process, and another process is queried at once. */
  revokeAskPairs: [30, 1000, 20_000],
  /** Random changes on two servers while there are guardrails. */
  guardedChanges: [25, 120, 6000],
  /** Rounds in the life of an account (token, session, membership, deactivation), queried in another process. */
  accountRounds: [2, 20, 40],
  /** Requests over 64 connections, which share their queries to the database. */
  sharedRequests: [400, 6000, 20_000],
  /** Random changes, each of which is looked back on. */
  historyChanges: [4, 15, 120],
  /** Random changes, after each of which the organization is exported, and later exported as of then. */
  fileHistory: [24, 120, 1500],
  /** Random questions about the past of two organizations, looking for what the caller may not see. */
  historyCanaries: [25, 500, 10_000],
  /** Odd requests to every route. */
  oddRequestsPerRoute: [2, 10, 60],
  /** SIGKILLs of a process that writes to PGlite. */
  pgliteKills: [0, 4, 12],
  /** Rounds in which 5,000 wide rows are written and deleted; each writes some 13 MB of log. */
  walRounds: [0, 20],
  /** Power cuts after each of which a different part of the unsynced files is on the disk. */
  partialPowerCuts: [0, 8],
  /** Seconds of mixed load on one server, and restarts of two replicas in turn; only in the long suite. */
  soakSeconds: [0, 60],
  /** Clients that send or read next to nothing, while others are served. */
  slowClients: [0, 300, 2000],
  rollingRestarts: [0, 5, 12],
  /** Rolling restarts of four workers under load, SIGKILLs of one of them, and of a server of the bus. */
  workerRolls: [0, 2, 12],
  workerKills: [0, 2, 16],
  busKills: [0, 3, 12],
  /** Revoke and ask pairs on two replicas of two releases. */
  upgradePairs: [0, 1000, 10_000],
  /** Clients that write while a backup is taken, and rotations of all keys next to a running server. */
  backupWriters: [0, 3],
  keyRotations: [0, 3],
  /** SIGKILLs of a first start, each at another moment. */
  firstStartKills: [0, 5, 15],
  /** Servers that start together on an empty database. */
  startingReplicas: [0, 5],
  /** Bits that are flipped in a backup file, one at a time. */
  flippedBits: [16, 200, 600],
  /** Restores of one backup, one after the other. */
  repeatedRestores: [2, 4],
  /** Random worlds in which the engine must agree with the second evaluator. */
  engineWorlds: [20, 400, 1500],
  /** Random SubjectAccessReviews that a real API server answers, each compared with explain. */
  kubernetesReviews: [0, 1000, 10_000],
  /** Checks in random worlds, and random conditions, that are compared with a real OpenFGA; only in the long suite. */
  openFgaChecks: [0, 100_000],
  openFgaExpressions: [0, 2000],
  /** Revoke and ask pairs if an OpenFGA server decides, without faults and with some; only in the long suite. */
  openFgaPairs: [0, 200],
  openFgaFaultPairs: [0, 80],
  openFgaFaults: [0, 8],
  /** Memberships that expire at the same moment. */
  expiringAtOnce: [300, 1500, 20_000],
  /** Memberships and assignments that expire one by one, each queried at two servers at once. */
  expiryPairs: [10, 80, 5000],
  /** Random steps in which memberships and roles of teams end, each compared with what must be left. */
  expirySteps: [20, 100, 5000],
  /** SIGKILLs of a process while it archives the audit log, on each database. */
  archiveKills: [0, 3, 20],
  /** SIGKILLs of a process while it removes what has expired, on each database. */
  expiryKills: [0, 2, 6],
  /** Something is removed in one process, and another process is queried about it at once. */
  removalRounds: [2, 8, 15],
  /** Concurrent requests that contradict each other, such as two owners who both leave. */
  raceRounds: [2, 8],
  /** Decisions about one access request, all at once. */
  requestDecisions: [24, 200, 1000],
  /** Access requests in a random world: each is asked, approved by each approver, and ended. */
  randomRequests: [4, 20, 200],
  /** Worlds in which lists of approvers are compared with what each user may decide. */
  approverWorlds: [2, 10, 60],
  /** Requests that make one list longer, all at once, although it has room for three only. */
  requestsAtOnce: [8, 100, 200],
  /** Requests to change, create or delete one role, all at once. */
  roleRequestsAtOnce: [8, 24],
  /** Edits of the permissions of a role, after which the graph must be as small as a new one. */
  roleEdits: [500, 40_000, 100_000],
  /** Random changes. After each, a patched graph must answer like a newly loaded one. */
  graphRounds: [5, 30, 60],
  /** Rounds in which two graphs are read although only one fits in memory. */
  evictionRounds: [3, 10],
  /** Writes to two accounts at once, while their graphs are being read. */
  pairedWrites: [15, 60],
  /** One in this many questions about who may do what is asked in both ways. */
  agreementStep: [23, 1],
  /** Roles in a YAML file that is read in parts; a part has at most 8,000 tokens. */
  yamlRoles: [300, 600],
  /** One in this many forged tokens is sent, and one in this many calls of a caller with a single permission is made. */
  hostileTokenStep: [4, 1],
  singleCallerStep: [3, 1],
  /** Roles in one file. */
  importedRoles: [100, 1000],
  /** Clusters of the organization in which no request may keep others waiting. */
  crowdedClusters: [0, 5000, 19_900],
  /** Members of each of twenty teams of it. */
  largeTeamMembers: [0, 10_000, 49_000],
  /** Rows of an audit log that is exported to a client that does not read. */
  exportedRows: [10_000, 30_000, 60_000],
  /** Questions with the answer no, of which every remedy is made and undone, and questions of callers who see little. */
  remedyQuestions: [5, 10, 150],
  blindQuestions: [25, 150, 10_000],
  /** Decisions in random worlds, compared with a plain evaluator; only in the long suite. */
  decisions: [0, 60_000, 1_000_000],
  /** Matrices, and accesses of a person, in random worlds, compared cell by cell with the same plain evaluator. */
  matrixQuestions: [8, 200, 10_000],
  /** Maps of access in random worlds, compared with that evaluator, box by box and line by line. */
  mapQuestions: [16, 400, 10_000],
  /** Random organizations in which engine and reference evaluator are asked everything; and a real OpenFGA. */
  randomOrganizations: [6, 60, 1000],
  openFgaOrganizations: [0, 3, 20],
  /** Questions to the endpoint for agents, each next to the same question to the API. */
  agentQuestions: [20, 1000, 10_000],
  /** Requests that name things of another tenant, each next to one that names nothing; only in the long suite. */
  tenantRequests: [0, 2500, 50_000],
  /** Revoke and ask pairs over three processes, and faults meanwhile; only in the long suite. */
  stalePairs: [0, 2000, 100_000],
  staleFaults: [0, 24, 120],
  /** Revoke and ask pairs while PostgreSQL fails over to standbys that lack commits; only in the long suite. */
  failoverPairs: [0, 2000, 100_000],
  failovers: [0, 2, 40],
  /** Changes that are acknowledged with synchronous replication, before the primary dies. */
  replicatedWrites: [0, 300, 2000],
  /** Revoke and ask pairs of two servers that reach PostgreSQL through PgBouncer. */
  pooledPairs: [0, 1000, 10_000],
  /** Flipped bits and swapped rows in sealed columns, and samples of how long a rejection takes; only there, too. */
  sealedDamages: [0, 80, 600],
  timingSamples: [0, 300, 600],
  /** People as whom Schemathesis calls, random requests per operation besides its fixed ones, and cases at least. */
  schemathesisPeople: [0, 1, 3],
  schemathesisExamples: [0, 2, 6],
  schemathesisCases: [0, 3000, 20_000],
  /** Changes of the code that its tests must notice: of vault and tokens, where the whole size is all there are, and … */
  mutants: [0, 20, 1000],
  /** … of authorization and the engine, only if the lane is named. */
  sampledMutants: [0, 0, 170],
} as const satisfies Record<string, Counts>;

/** How often each guarantee is tested. All these numbers are in this one place. */
export const COUNTS = Object.fromEntries(
  Object.entries<Counts>(ALL_COUNTS).map(([name, counts]) => [name, counts[SIZES.indexOf(SIZE)] ?? counts[1]]),
) as Readonly<Record<keyof typeof ALL_COUNTS, number>>;
