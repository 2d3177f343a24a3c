import type { Directory } from '../directory/directory.group.ts';
import type { Ground } from '../ground.ts';
import type { Scope } from '../http/server.ts';
import { administeredClusterRoutes } from './clusters.routes.ts';
import { createAdministeredClusterStore } from './clusters.store.ts';
import { createAdministeredClusters } from './clusters.ts';
import { contractRoutes } from './contracts.routes.ts';
import { createContractStore } from './contracts.store.ts';
import { createContracts } from './contracts.ts';
import { heartbeatRoutes } from './heartbeats.routes.ts';
import { createHeartbeatStore } from './heartbeats.store.ts';
import { createHeartbeats } from './heartbeats.ts';
import { robotTokenRoutes } from './robot-tokens.routes.ts';
import { createRobotTokenStore } from './robot-tokens.store.ts';
import { createRobotTokens, type TokenJudge } from './robot-tokens.ts';
import { robotRoutes } from './robots.routes.ts';
import { createRobotStore } from './robots.store.ts';
import { createRobots } from './robots.ts';

/** What organizations own, put together: clusters, contracts, robot accounts and their tokens. */
export function mountThings(
  scope: Scope,
  { db, clock, baseUrl }: Ground,
  { tokens, usage }: Directory,
  judge: TokenJudge,
): void {
  const robotTokens = createRobotTokens(createRobotTokenStore(db), tokens, judge, usage.flush);
  const clusters = createAdministeredClusters(createAdministeredClusterStore(db, clock.write));
  administeredClusterRoutes(scope, clusters, baseUrl);
  heartbeatRoutes(scope, createHeartbeats(createHeartbeatStore(db, clock.write)));
  contractRoutes(scope, createContracts(createContractStore(db, clock.write)), baseUrl);
  robotRoutes(scope, createRobots(createRobotStore(db, clock.write)), baseUrl);
  robotTokenRoutes(scope, robotTokens, baseUrl);
}
