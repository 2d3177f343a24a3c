import type { Authz } from '../authz/authz.wiring.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { clusterListRoutes } from './cluster-list.routes.ts';
import { createClusterListStore } from './cluster-list.store.ts';
import { createClusterList } from './cluster-list.ts';
import { clusterRoutes } from './clusters.routes.ts';
import { createClusterStore } from './clusters.store.ts';
import { createClusters } from './clusters.ts';
import { heartbeatRoutes } from './heartbeats.routes.ts';
import { createHeartbeatStore } from './heartbeats.store.ts';
import { createHeartbeats } from './heartbeats.ts';
import { createMovingGuard } from './moving-guard.ts';
import { ownerClusterRoutes } from './owner-clusters.routes.ts';
import { createOwnerClusters } from './owner-clusters.ts';

export function wireClusters(
  { db, revisions, quotas, baseUrl }: Infrastructure,
  { callers }: Identity,
  { judge, heldPlaces, shownObjects, visibleClusters: visible }: Authz,
) {
  const clusters = createClusters(
    createClusterStore(db, revisions.write, quotas),
    createMovingGuard(judge, heldPlaces),
  );
  const listStore = createClusterListStore(db);
  const list = createClusterList(listStore, visible, shownObjects);
  const heartbeats = createHeartbeats(createHeartbeatStore(db, revisions.write));
  return {
    clusters,
    heartbeats,
    mount(scope: Scope): void {
      clusterListRoutes(scope, list, baseUrl);
      ownerClusterRoutes(scope, createOwnerClusters(listStore, visible, callers), baseUrl);
      clusterRoutes(scope, clusters);
      heartbeatRoutes(scope, heartbeats);
    },
  };
}
