import type { Judge } from '../authz/judge.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { searchRoutes } from './search.routes.ts';
import { createSearchStore } from './search.store.ts';
import { createSearch } from './search.ts';

export function wireSearch({ db }: Infrastructure, { callers }: Identity, judge: Judge) {
  const search = createSearch(createSearchStore(db), judge);
  return { mount: (scope: Scope) => searchRoutes(scope, search, callers.organizationNamed) };
}
