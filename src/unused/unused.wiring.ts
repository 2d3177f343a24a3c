import type { Authz } from '../authz/authz.wiring.ts';
import { createSeesPlace } from '../authz/places/sees-place.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { unusedRoutes } from './unused.routes.ts';
import { createUnusedStore } from './unused.store.ts';
import { createUnused } from './unused.ts';

/** Access that is not used. Looking for it uses nothing, so the judge takes no note. */
export function wireUnused({ db, baseUrl }: Infrastructure, { graphs, quietJudge, uses }: Authz) {
  const unused = createUnused(createUnusedStore(db), graphs, quietJudge, uses.flush);
  return {
    unused,
    mount(scope: Scope): void {
      unusedRoutes(scope, { unused, seesPlace: createSeesPlace(quietJudge), baseUrl });
    },
  };
}
