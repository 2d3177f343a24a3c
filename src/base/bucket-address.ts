/** A place in a bucket: `s3://backups/atrium`. */
export interface BucketAddress {
  readonly bucket: string;
  readonly key: string;
}

const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.-]+(?:\/[\w.-]+)*)?\/?)?$/;

/** Whether it is meant to be an address, right or wrong, and not a file. */
export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Undefined if it is none. */
export function bucketAddress(text: string): BucketAddress | undefined {
  const [, bucket, key = ''] = ADDRESS.exec(text) ?? [];
  const isAbove = key.split('/').some((part) => part === '.' || part === '..');
  return bucket === undefined || isAbove ? undefined : { bucket, key };
}
