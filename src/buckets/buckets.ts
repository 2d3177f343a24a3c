import { AppError } from '../base/errors.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { accountOf, kindOfCloud, type StorageAccount, secretsOf } from './storage-account.ts';

export interface BucketListOptions {
  readonly credential?: string | undefined;
  readonly project?: string | undefined;
  readonly clusterUid?: string | undefined;
  readonly secretNamespace?: string | undefined;
  readonly secretName?: string | undefined;
}

/** The reason, in the cloud's own words, why there is no list. */
export class CloudRejection extends Error {}

/** Storage services of all kinds. */
export interface BucketLister {
  /** Reads all pages, up to `max` names; throws a CloudRejection. */
  list(account: StorageAccount, max: number, signal: AbortSignal): Promise<string[]>;
}

/** Access to clusters. Throws if the cluster is not connected or the user may not read the secret. */
export interface ClusterSecrets {
  read(personId: bigint, clusterUid: string, namespace: string, name: string): Promise<Record<string, string>>;
}

/** No cluster is connected to this server, so none can be accessed. */
export const noClusters: ClusterSecrets = {
  async read(_personId, clusterUid) {
    const uid = JSON.stringify(clusterUid.slice(0, 60));
    throw new AppError('upstream', `cluster ${uid} is not connected to this server, so its secrets cannot be read`);
  },
};

export type Buckets = ReturnType<typeof createBuckets>;

const MAX_NAMES = 10_000;
/** The response must be sent within ten seconds. */
const PATIENCE_MS = 8_500;
const MAX_WORDS = 500;
/** A listing can take as long as it is waited for, and needs memory meanwhile. */
const MAX_PER_PERSON = 4;
const MAX_AT_ONCE = 16;
const RETRY_AFTER_S = 2;

/** The names of the buckets that a user's cloud credential, or a secret in one of the user's clusters, can see. */
export function createBuckets(
  credentials: Pick<Credentials, 'get'>,
  secrets: ClusterSecrets,
  lister: BucketLister,
  patienceMs = PATIENCE_MS,
) {
  const running = new Map<bigint, number>();
  return { list };

  async function list(
    personId: bigint,
    cloud: string,
    options: BucketListOptions,
    gone: AbortSignal,
  ): Promise<string[]> {
    const kind = kindOfCloud(cloud);
    if (!kind) throw new AppError('invalid', `unknown cloud: ${JSON.stringify(cloud.slice(0, 40))}`);
    const spec = await specOf(personId, options);
    const account = accountOf(kind, spec, options.project || undefined);
    const leave = enter(personId);
    const late = AbortSignal.timeout(patienceMs);
    try {
      return await unlessAborted(lister.list(account, MAX_NAMES, AbortSignal.any([gone, late])), late);
    } catch (error) {
      if (late.aborted) throw cloudFault(`the endpoint did not respond within ${patienceMs / 1000} s`, account);
      if (error instanceof CloudRejection) throw cloudFault(error.message, account);
      throw error;
    } finally {
      leave();
    }
  }

  /** Counts one listing of this person until the returned function is called. */
  function enter(personId: bigint): () => void {
    const own = running.get(personId) ?? 0;
    const all = running.values().reduce((sum, count) => sum + count, 0);
    if (own >= MAX_PER_PERSON || all >= MAX_AT_ONCE) {
      const whose = own >= MAX_PER_PERSON ? 'you are' : 'the server is';
      const message = `${whose} already listing as many buckets as possible, try again in a moment`;
      throw new AppError('limited', message, { retryAfter: RETRY_AFTER_S });
    }
    running.set(personId, own + 1);
    return () => {
      const left = (running.get(personId) ?? 1) - 1;
      if (left > 0) running.set(personId, left);
      else running.delete(personId);
    };
  }

  async function specOf(personId: bigint, options: BucketListOptions): Promise<Record<string, unknown>> {
    const { clusterUid, credential, secretNamespace, secretName } = options;
    const missing = [
      ...(clusterUid ? [] : [{ field: 'cluster_uid', message: 'cluster_uid is required' }]),
      ...(credential || (secretNamespace && secretName)
        ? []
        : [{ field: 'credential', message: 'credential, or secret_namespace and secret_name, is required' }]),
    ];
    if (missing.length > 0) {
      throw new AppError('malformed', missing.map((one) => one.message).join('; '), { errors: missing });
    }
    if (credential) return JSON.parse((await credentials.get(personId, credential)).spec);
    return fromSecret(await secrets.read(personId, clusterUid ?? '', secretNamespace ?? '', secretName ?? ''));
  }
}

/** The caller that waits is told immediately, even if the work needs a moment to stop. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  work.catch(() => undefined);
  return Promise.race([work, aborted]);
}

/** The keys under which backup tools keep storage secrets in a cluster. */
function fromSecret(data: Record<string, string>): Record<string, unknown> {
  return {
    aws: { accessKeyID: data.AWS_ACCESS_KEY_ID, secretAccessKey: data.AWS_SECRET_ACCESS_KEY },
    azureStorage: { account: data.AZURE_ACCOUNT_NAME, key: data.AZURE_ACCOUNT_KEY },
    googleCloud: { projectID: data.GOOGLE_PROJECT_ID, serviceAccount: data.GOOGLE_SERVICE_ACCOUNT_JSON_KEY },
  };
}

/** Readable, on one line, of limited length, and without any secret of the credential. */
function cloudFault(words: string, account: StorageAccount): AppError {
  const hidden = secretsOf(account)
    .flatMap((secret) => [secret, encodeURIComponent(secret), secret.replaceAll('\n', '\\n')])
    .filter((secret) => secret.length > 3)
    .reduce((text, secret) => text.replaceAll(secret, '***'), words);
  const line = hidden.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return new AppError('upstream', `the cloud rejected the request or cannot be reached: ${line.slice(0, MAX_WORDS)}`);
}
