import { AppError } from '../../base/errors.ts';
import type { ArchivePlace } from './audit-archive.ts';

/** A bucket of a storage service that speaks the protocol of S3. Each call tries again if the service is overloaded. */
export interface Bucket {
  has(key: string): Promise<boolean>;
  /** Replaces an existing object, unless it must be new. */
  put(key: string, body: string, mustBeNew: boolean): Promise<void>;
  /** For an object that is too large for one request. It is there, complete, once the upload is finished. */
  upload(key: string): Promise<Upload>;
  /** Fewer bytes than asked for at the end, and none beyond it. */
  read(key: string, start: number, end: number): Promise<Buffer>;
}

export interface Upload {
  /** At least 5 MiB, except the last part. */
  part(body: string): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Of 10,000 that an upload can have. */
const PART_BYTES = 16 * 1024 * 1024;
const READ_BYTES = 8 * 1024 * 1024;

/** An object of a bucket. An existing one is never overwritten. */
export function bucketPlace(open: () => Promise<Bucket>, key: string): ArchivePlace {
  return {
    name: key.split('/').at(-1) ?? key,

    async write(lines) {
      const bucket = await open();
      if (await bucket.has(key)) throw new AppError('conflict', `${key} exists: an archive is never overwritten`);
      let upload: Upload | undefined;
      let waiting: string[] = [];
      let bytes = 0;
      try {
        for await (const line of lines) {
          waiting.push(line);
          bytes += Buffer.byteLength(line);
          if (bytes < PART_BYTES) continue;
          upload ??= await bucket.upload(key);
          await upload.part(waiting.join(''));
          [waiting, bytes] = [[], 0];
        }
        if (upload === undefined) return await bucket.put(key, waiting.join(''), true);
        if (bytes > 0) await upload.part(waiting.join(''));
        await upload.finish();
      } catch (error) {
        await upload?.abandon();
        throw error;
      }
    },

    async *read(span) {
      const bucket = await open();
      const last = span?.end ?? Number.MAX_SAFE_INTEGER;
      for (let start = span?.start ?? 0; start < last; start += READ_BYTES) {
        const end = Math.min(start + READ_BYTES, last);
        const part = await bucket.read(key, start, end);
        if (part.length > 0) yield part;
        if (part.length < end - start) return;
      }
    },
  };
}
