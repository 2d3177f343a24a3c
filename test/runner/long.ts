import { COUNTS } from '../counts.ts';

/** A part of `npm run test:long`. */
export interface Lane {
  readonly name: string;
  readonly what: string;
  readonly files: readonly string[];
  /** On two quiet cores. */
  readonly minutes: number;
  /** Runs only if it is named, and why. */
  readonly onDemand?: string;
}

const roleKills = COUNTS.roleKillsOnPostgres + COUNTS.roleKillsOnPglite;

export const LANES: readonly Lane[] = [
  {
    name: 'kills',
    what: `${COUNTS.deliveryKills} SIGKILLs during deliveries, ${roleKills} during role writes, ${COUNTS.keyedKills} during repeated requests, ${COUNTS.pgliteKills} of PGlite`,
    files: [
      'test/api/marketplace/crash.test.ts',
      'test/roles/crash.test.ts',
      'test/long/repeated-requests.test.ts',
      'test/db/pglite.test.ts',
    ],
    minutes: 3,
  },
  {
    name: 'power-cuts',
    what: `PGlite started from ${COUNTS.partialPowerCuts} different remains of a power cut`,
    files: ['test/db/power-cut.test.ts'],
    minutes: 1,
  },
  {
    name: 'freshness',
    what: `${COUNTS.revokeAskPairs} revoke and ask pairs, ${COUNTS.accountRounds} rounds in each of 8 accounts`,
    files: [
      'test/api/authz/freshness.test.ts',
      'test/api/http/freshness.test.ts',
      'test/api/organizations/two-servers.test.ts',
      'test/authz/graphs.test.ts',
    ],
    minutes: 3,
  },
  {
    name: 'races',
    what: `${COUNTS.raceRounds} rounds of requests that contradict each other, ${COUNTS.requestsAtOnce} at once for each limit`,
    files: [
      'test/api/http/limits.test.ts',
      'test/api/organizations/members.test.ts',
      'test/api/organizations/organization-removal.test.ts',
      'test/api/robots/robots.test.ts',
      'test/api/organizations/teams.test.ts',
      'test/api/users/user-removal.test.ts',
      'test/api/users/users.test.ts',
      'test/api/roles/roles-conditional.test.ts',
      'test/api/users/follows-at-once.test.ts',
      'test/api/organizations/reserved-names.test.ts',
      'test/api/clusters/shared-uids.test.ts',
    ],
    minutes: 1,
  },
  {
    name: 'deliveries',
    what: `${COUNTS.outageRounds} rounds without a database, ${COUNTS.identicalDeliveries} identical deliveries at once`,
    files: [
      'test/api/marketplace/operating.test.ts',
      'test/api/marketplace/reliability.test.ts',
      'test/api/marketplace/replicas.test.ts',
    ],
    minutes: 1,
  },
  {
    name: 'fuzzing',
    what: `${COUNTS.oddRequestsPerRoute} odd requests per route, ${COUNTS.engineWorlds} random worlds in the engine`,
    files: [
      'test/api/http/fuzz.test.ts',
      'test/rebac/fuzz.test.ts',
      'test/rebac/memory.test.ts',
      'test/api/authz/explain-agreement.test.ts',
      'test/contract/access.test.ts',
      'test/contract/scopes.test.ts',
      'test/orders/yaml-text.test.ts',
    ],
    minutes: 3,
  },
  {
    name: 'decisions',
    what: `${COUNTS.decisions} decisions in random worlds, compared with a plain evaluator`,
    files: ['test/long/decisions.test.ts'],
    minutes: 1,
  },
  {
    name: 'tenants',
    what: `${COUNTS.tenantRequests} requests that name things of another tenant`,
    files: ['test/long/tenants.test.ts'],
    minutes: 1,
  },
  {
    name: 'stale',
    what: `${COUNTS.stalePairs} revoke and ask pairs over three processes during ${COUNTS.staleFaults} faults`,
    files: ['test/long/stale.test.ts'],
    minutes: 1,
  },
  {
    name: 'secrets',
    what: `${COUNTS.sealedDamages} damages to sealed values during key rotations, the time of rejecting a secret`,
    files: ['test/long/damaged-secrets.test.ts', 'test/long/secret-timing.test.ts'],
    minutes: 1,
  },
  {
    name: 'large-lists',
    what: `${COUNTS.followers} followers, ${COUNTS.importedRoles} roles in a file, ${COUNTS.exportedRows} audit rows`,
    files: [
      'test/api/users/long-list.test.ts',
      'test/api/roles/role-file-large.test.ts',
      'test/api/audit/audit-export.test.ts',
      'test/api/orders/order-limits.test.ts',
    ],
    minutes: 1,
  },
  {
    name: 'restores',
    what: `backups during writes, ${COUNTS.flippedBits} flipped bits, ${COUNTS.keyRotations} key rotations`,
    files: [
      'test/process/server-commands.test.ts',
      'test/process/start.test.ts',
      'test/process/faults.test.ts',
      'test/vault/rotation.test.ts',
      'test/backup/portable.test.ts',
      'test/backup/refusals.test.ts',
      'test/process/build.test.ts',
    ],
    minutes: 3,
  },
  {
    name: 'peers',
    what: `storage servers, NATS with ${COUNTS.reportedResources} resources, SMTP, real timeouts and response times`,
    files: [
      'test/api/buckets/buckets.test.ts',
      'test/api/buckets/bucket-limits.test.ts',
      'test/long/rebinding.test.ts',
      'test/api/bus/bus-history.test.ts',
      'test/api/users/confirmation.test.ts',
      'test/bus/claims.test.ts',
      'test/api/http/brake.test.ts',
      'test/api/http/clock.test.ts',
      'test/cli/speed.test.ts',
    ],
    minutes: 2,
  },
  {
    name: 'databases',
    what: 'the API on both databases, where the everyday suite takes one',
    files: [
      'test/api/audit/audit.test.ts',
      'test/api/clusters/clusters.test.ts',
      'test/api/contracts/contracts.test.ts',
      'test/api/marketplace/delivery-log.test.ts',
      'test/api/marketplace/rejection-limits.test.ts',
      'test/api/clusters/heartbeats.test.ts',
      'test/api/organizations/organizations.test.ts',
      'test/api/roles/role-file.test.ts',
      'test/api/marketplace/binding.test.ts',
      'test/api/marketplace/lifecycle.test.ts',
      'test/api/marketplace/repeats.test.ts',
      'test/api/marketplace/sealed-options.test.ts',
      'test/api/clusters/my-clusters.test.ts',
      'test/api/credentials/credentials.test.ts',
      'test/api/users/emails.test.ts',
      'test/api/users/follows.test.ts',
      'test/api/organizations/memberships.test.ts',
      'test/api/orders/orders.test.ts',
      'test/api/tokens/tokens.test.ts',
      'test/api/users/own-account.test.ts',
      'test/api/users/user-sessions.test.ts',
      'test/api/overview/overview.test.ts',
      'test/api/clusters/cluster-list.test.ts',
    ],
    minutes: 1,
  },
  {
    name: 'cli',
    what: 'every command line in a process of its own',
    files: [
      'test/cli/completion.test.ts',
      'test/cli/declarations.test.ts',
      'test/cli/export.test.ts',
      'test/cli/marketplace.test.ts',
      'test/cli/stories.test.ts',
      'test/cli/usage.test.ts',
    ],
    minutes: 1,
  },
  {
    name: 'openfga',
    what: `${COUNTS.openFgaChecks} checks and ${COUNTS.openFgaExpressions} random conditions beside a real OpenFGA, built on first use`,
    files: ['test/long/openfga.test.ts'],
    minutes: 8,
    onDemand: 'building OpenFGA alone takes some minutes',
  },
  {
    name: 'mutation',
    what: `${COUNTS.mutants} small changes of the code of each area, which its tests must notice`,
    files: ['test/long/mutation.test.ts'],
    minutes: 30,
    onDemand: 'it runs some tests two hundred times',
  },
  {
    name: 'clients',
    what: 'py-gitea and the Gitea SDK for Go, as their users install them',
    files: ['test/long/clients.test.ts'],
    minutes: 1,
  },
  {
    name: 'rolling-restarts',
    what: `${COUNTS.rollingRestarts} restarts of two replicas under load`,
    files: ['test/long/rolling-restart.test.ts'],
    minutes: 3,
  },
  {
    name: 'soak',
    what: `${COUNTS.soakSeconds} s of mixed load, with a bound on memory`,
    files: ['test/long/soak.test.ts'],
    minutes: 3,
  },
];
