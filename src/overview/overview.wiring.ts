import type { Judge } from '../authz/judge.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { overviewRoutes } from './overview.routes.ts';
import { createOverviewStore } from './overview.store.ts';
import { createOverview } from './overview.ts';

export function wireOverview({ db }: Infrastructure, { tokenUsage }: Identity, judge: Judge) {
  const getOverview = createOverview(createOverviewStore(db), judge, tokenUsage.flush);
  return { mount: (scope: Scope) => overviewRoutes(scope, getOverview) };
}
