import type { VisibleClusters } from '../authz/visible-clusters.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { clusterRoutes } from './clusters.routes.ts';
import { createClusterStore } from './clusters.store.ts';
import { createClusters } from './clusters.ts';
import { heartbeatRoutes } from './heartbeats.routes.ts';
import { createHeartbeatStore } from './heartbeats.store.ts';
import { createHeartbeats } from './heartbeats.ts';

export function wireClusters({ db, revisions, room, baseUrl }: Infrastructure, visible: VisibleClusters) {
  const clusters = createClusters(createClusterStore(db, revisions.write, room), visible);
  const heartbeats = createHeartbeats(createHeartbeatStore(db, revisions.write));
  return {
    clusters,
    heartbeats,
    mount(scope: Scope): void {
      clusterRoutes(scope, clusters, baseUrl);
      heartbeatRoutes(scope, heartbeats);
    },
  };
}
