import { createReferences } from '../assignments/assignment-references.store.ts';
import type { Authz } from '../authz/authz.wiring.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { accessMapRoutes } from './access-map.routes.ts';
import { createAccessMap } from './access-map.ts';
import { createMapFilters } from './map-filters.ts';

export function wireAccessMap({ db }: Pick<Infrastructure, 'db'>, { graphs, names, past, timeMachine }: Authz) {
  const getMap = createAccessMap(graphs, names);
  const filters = createMapFilters(createReferences(db));
  return {
    mount(scope: Scope): void {
      accessMapRoutes(scope, getMap, filters, past, timeMachine);
    },
  };
}
