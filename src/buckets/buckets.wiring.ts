import type { Credentials } from '../credentials/credentials.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createBucketLister } from './bucket-list.client.ts';
import { createBucketObjects } from './bucket-objects.client.ts';
import { bucketRoutes } from './buckets.routes.ts';
import { createBuckets, noClusters } from './buckets.ts';
import { accountOf } from './storage-account.ts';

export function wireBuckets({ config }: Infrastructure, credentials: Credentials) {
  const buckets = createBuckets(credentials, noClusters, createBucketLister(config.BUCKET_ALLOWED_NETWORKS));
  return {
    mount(scope: Scope) {
      bucketRoutes(scope, buckets);
    },
    /** A bucket that the server itself writes to, with the credential of a user. */
    async open(bucket: string, ownerId: bigint, credential: string) {
      const spec: Record<string, unknown> = JSON.parse((await credentials.get(ownerId, credential)).spec);
      const account = accountOf('s3', spec, undefined);
      if (account.kind !== 's3') throw new Error('an account of S3 is of that kind');
      return createBucketObjects(account, bucket, config.BUCKET_ALLOWED_NETWORKS);
    },
  };
}
