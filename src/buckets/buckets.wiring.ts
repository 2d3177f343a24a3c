import type { Credentials } from '../credentials/credentials.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createBucketLister } from './bucket-list.client.ts';
import { bucketRoutes } from './buckets.routes.ts';
import { createBuckets, noClusters } from './buckets.ts';

export function wireBuckets({ config }: Infrastructure, credentials: Credentials) {
  const buckets = createBuckets(credentials, noClusters, createBucketLister(config.BUCKET_ALLOWED_NETWORKS));
  return {
    mount(scope: Scope) {
      bucketRoutes(scope, buckets);
    },
  };
}
