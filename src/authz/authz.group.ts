import { readFileSync } from 'node:fs';
import type { Ground } from '../ground.ts';
import { readId } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import { readModel } from '../rebac/model.ts';
import { createGraphStore } from './graphs.store.ts';
import { createGraphs } from './graphs.ts';
import { insightRoutes } from './insight.routes.ts';
import { createInsightStore } from './insight.store.ts';
import { createInsight } from './insight.ts';
import { createJudge } from './judge.ts';
import { objectRoutes } from './objects.routes.ts';
import { createObjects } from './objects.ts';
import { createOwnerStore } from './relations.store.ts';
import { createRelations } from './relations.ts';
import { roleFileRoutes } from './role-file.routes.ts';
import { createRoleFileStore } from './role-file.store.ts';
import { createRoleFile } from './role-file.ts';
import { roleRoutes } from './roles.routes.ts';
import { createRoleStore } from './roles.store.ts';
import { createRoles } from './roles.ts';
import { createVisibleStore } from './visible.store.ts';
import { createVisible } from './visible.ts';

/** Memory for the graphs of organizations in use. */
const GRAPH_BYTES = 256 * 1024 * 1024;

/** Group 1, put together: who may do what. */
export async function createAuthzGroup({ db, clock, baseUrl }: Ground) {
  const model = await readModel(readFileSync(new URL('./platform.fga', import.meta.url), 'utf8'));
  const graphs = createGraphs(createGraphStore(db), clock, model, GRAPH_BYTES);
  const judge = createJudge(graphs);
  const roleStore = createRoleStore(db, clock.write);
  const roles = createRoles(roleStore, judge);
  const insight = createInsight(graphs, createInsightStore(db), roleStore, judge);

  return {
    roles,
    /** Who may do what, for the other groups. */
    judge,
    relations: createRelations(judge, createOwnerStore(db), readId),
    clusters: createVisible(graphs, createVisibleStore(db)),
    mount(scope: Scope): void {
      objectRoutes(scope, createObjects(judge));
      roleRoutes(scope, roles);
      roleFileRoutes(scope, createRoleFile(createRoleFileStore(db, clock.write), judge));
      insightRoutes(scope, insight, baseUrl);
    },
  };
}
