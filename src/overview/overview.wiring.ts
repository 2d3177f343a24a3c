import type { Judge } from '../authz/judge.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Unused } from '../unused/unused.ts';
import type { Users } from '../users/users.ts';
import { deploymentRoutes } from './deployment/deployment.routes.ts';
import { createDeploymentStore } from './deployment/deployment.store.ts';
import { overviewRoutes } from './overview.routes.ts';
import { createOverviewStore } from './overview.store.ts';
import { createOverview } from './overview.ts';
import { pageContextRoutes } from './page-context.routes.ts';
import { createPageContextStore } from './page-context.store.ts';
import { createPageContext } from './page-context.ts';

interface Nouns {
  readonly organizations: Organizations;
  readonly users: Users;
  readonly unused: Unused;
}

export function wireOverview(
  { db, baseUrl, revisions }: Infrastructure,
  { tokenUsage, callers }: Identity,
  judge: Judge,
  { organizations, users, unused }: Nouns,
) {
  const getOverview = createOverview(createOverviewStore(db), judge, unused.counts, tokenUsage.flush);
  const getPageContext = createPageContext(createPageContextStore(db), judge, callers, organizations);
  return {
    mount(scope: Scope): void {
      overviewRoutes(scope, getOverview);
      pageContextRoutes(scope, getPageContext, baseUrl, revisions);
      deploymentRoutes(scope, { organizations, users, deployment: createDeploymentStore(db) });
    },
  };
}
