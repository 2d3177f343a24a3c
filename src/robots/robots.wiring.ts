import type { Authz } from '../authz/authz.wiring.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { TokensWired } from '../tokens/tokens.wiring.ts';
import { robotTokenRoutes } from './robot-tokens.routes.ts';
import { createRobotTokenStore } from './robot-tokens.store.ts';
import { createRobotTokens } from './robot-tokens.ts';
import { robotRoutes } from './robots.routes.ts';
import { createRobotStore } from './robots.store.ts';
import { createRobots } from './robots.ts';

/** Robots and their tokens. */
export function wireRobots(
  { db, revisions, quotas, baseUrl }: Infrastructure,
  { tokens, tokenUsage }: Identity,
  { judge, shownObjects, heldPlaces }: Pick<Authz, 'judge' | 'shownObjects' | 'heldPlaces'>,
  { policies, limits, soon }: Pick<TokensWired, 'policies' | 'limits' | 'soon'>,
) {
  const robots = createRobots(createRobotStore(db, revisions.write, quotas));
  const robotTokens = createRobotTokens({
    store: createRobotTokenStore(db),
    issuer: tokens,
    judge,
    rejectGiving: heldPlaces.rejectGivingOfRobot,
    policies,
    limits,
    flushUsage: tokenUsage.flush,
  });
  return {
    robots,
    robotTokens,
    mount(scope: Scope): void {
      robotRoutes(scope, robots, shownObjects, baseUrl);
      robotTokenRoutes(scope, robotTokens, soon, baseUrl);
    },
  };
}
