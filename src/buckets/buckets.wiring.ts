import type { Credentials } from '../credentials/credentials.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createBucketLister } from './bucket-list.client.ts';
import { bucketRoutes } from './buckets.routes.ts';
import { createBuckets, noClusters } from './buckets.ts';

export function wireBuckets({ config, log }: Infrastructure, credentials: Credentials) {
  const lister = createBucketLister(config.BUCKET_ALLOWED_NETWORKS, (problem) => log.warn(problem));
  const buckets = createBuckets(credentials, noClusters, lister);
  return {
    mount(scope: Scope) {
      scope.addHook('onClose', lister.close);
      bucketRoutes(scope, buckets);
    },
  };
}
