import type { Authz } from '../authz/authz.wiring.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { contractRoutes } from './contracts.routes.ts';
import { createContractStore } from './contracts.store.ts';
import { createContracts } from './contracts.ts';

export function wireContracts(
  { db, revisions, quotas, baseUrl }: Infrastructure,
  { shownObjects }: Pick<Authz, 'shownObjects'>,
) {
  const contracts = createContracts(createContractStore(db, revisions.write, quotas));
  return { contracts, mount: (scope: Scope) => contractRoutes(scope, contracts, shownObjects, baseUrl) };
}
