import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import type { Bucket } from '../audit/archive/bucket-place.ts';
import { AppError } from '../base/errors.ts';
import { ForbiddenAddress } from '../base/outbound/guarded-agents.ts';
import { createGuardedFetch } from '../base/outbound/guarded-fetch.ts';
import type { S3Account } from './storage-account.ts';

interface ObjectCall {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer to the second request says nothing about the first. */
  readonly isOnce?: boolean;
}

/** More than one part of an archive that is read. */
const MAX_BYTES = 9 * 1024 * 1024;
const TIMEOUT_MS = 120_000;
const RETRIES_MS = [200, 1000, 4000];
const NONE: Readonly<Record<string, string>> = {};

/** Objects of one bucket. Its name is in the path, which every service that speaks the protocol of S3 understands. */
export function createBucketObjects(account: S3Account, bucket: string, allowedNetworks: readonly string[]): Bucket {
  const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS };
  const fetchGuarded = createGuardedFetch({ allowedNetworks, ...limits, service: 'storage' });
  return {
    async has(key) {
      const response = await call({ method: 'HEAD', key });
      if (response.status === 404) return false;
      await requireSuccess(response);
      return true;
    },

    async put(key, body, mustBeNew) {
      // A service that does not know the header ignores it.
      const headers = mustBeNew ? { 'If-None-Match': '*' } : NONE;
      await requireSuccess(await call({ method: 'PUT', key, body, headers, isOnce: mustBeNew }));
    },

    async upload(key) {
      const begun = await requireSuccess(await call({ method: 'POST', key, query: { uploads: '' }, body: '' }));
      const uploadId = unescaped(/<UploadId>([^<]+)<\/UploadId>/.exec(begun)?.[1] ?? '');
      if (uploadId === '') throw rejection('its response has no UploadId');
      const tags: string[] = [];
      return {
        async part(body) {
          const query = { partNumber: String(tags.length + 1), uploadId };
          const response = await call({ method: 'PUT', key, query, body });
          await requireSuccess(response);
          tags.push(response.headers.get('ETag') ?? '');
        },
        async finish() {
          const parts = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
          const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
          const headers = { 'If-None-Match': '*' };
          const done = { method: 'POST', key, query: { uploadId }, body, headers, isOnce: true } as const;
          // The status of a failure can be 200.
          const text = await requireSuccess(await call(done));
          if (text.includes('<Error>')) throw rejection(reasonIn(text, 200));
        },
        async abandon() {
          await call({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
        },
      };
    },

    async read(key, start, end) {
      const response = await call({ method: 'GET', key, headers: { Range: `bytes=${start}-${end - 1}` } });
      if (response.status === 416) return Buffer.alloc(0);
      if (response.status === 404) throw new AppError('notFound', `there is no object ${key} in the bucket ${bucket}`);
      if (response.status !== 206) throw rejection(reasonIn(await response.text(), response.status));
      return Buffer.from(await response.arrayBuffer());
    },
  };

  async function call(wanted: ObjectCall): Promise<Response> {
    for (const pause of wanted.isOnce ? [] : RETRIES_MS) {
      const response = await send(wanted).catch((error: unknown) => error);
      if (response instanceof Response && response.status < 500 && response.status !== 429) return response;
      if (isForbidden(response)) throw rejection('its address is neither public nor in BUCKET_ALLOWED_NETWORKS');
      await wait(pause);
    }
    try {
      return await send(wanted);
    } catch (error) {
      throw rejection('it cannot be reached', error);
    }
  }

  async function send({ method, key, query = NONE, body, headers = NONE }: ObjectCall): Promise<Response> {
    const url = new URL(`${account.endpoint}/${bucket}/${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { region, accessKeyId, secretAccessKey, sessionToken } = account;
    // A bucket with object lock requires it, besides the hash that is signed.
    const md5 = method === 'PUT' ? { 'Content-MD5': hashOf('md5', body, 'base64') } : NONE;
    const signer = new AwsV4Signer({
      ...{ service: 's3', method, url: url.href, region, accessKeyId, secretAccessKey },
      headers: { 'X-Amz-Content-Sha256': hashOf('sha256', body, 'hex'), ...md5, ...headers },
      ...(sessionToken && { sessionToken }),
    });
    const signed = await signer.sign();
    const length = body === undefined ? NONE : { 'Content-Length': String(Buffer.byteLength(body)) };
    const all = { ...Object.fromEntries(signed.headers), ...length };
    return await fetchGuarded(signed.url.href, { method, headers: all, body });
  }
}

function hashOf(algorithm: 'md5' | 'sha256', body: string | undefined, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm)
    .update(body ?? '')
    .digest(encoding);
}

function isForbidden(error: unknown): boolean {
  return error instanceof ForbiddenAddress || (error instanceof Error && isForbidden(error.cause));
}

/** The text of the response. */
async function requireSuccess(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw rejection(reasonIn(text, response.status));
  return text;
}

/** Only the code: messages may repeat what was sent. */
function reasonIn(text: string, status: number): string {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
  return code === undefined ? `status ${status}` : `${code} (status ${status})`;
}

function rejection(reason: string, cause?: unknown): AppError {
  return new AppError('upstream', `the storage service rejected the request, or cannot be used: ${reason}`, { cause });
}

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
