import { Storage } from '@google-cloud/storage';
import { JWT } from 'google-auth-library';
import type { Agents } from '../base/outbound.ts';
import { CloudRefusal } from './buckets.ts';
import type { Asking } from './s3.client.ts';
import type { GoogleAccount } from './storage-account.ts';

const PAGE = 1000;
const READ_ONLY = 'https://www.googleapis.com/auth/devstorage.read_only';

interface Page {
  readonly items?: unknown;
  readonly kind?: unknown;
}

export async function listGoogle(account: GoogleAccount, { agents, most, signal }: Asking): Promise<string[]> {
  const storage = new GuardedStorage(account, agents, signal);
  const names: string[] = [];
  let pageToken: string | undefined;
  do {
    const query = { project: account.project, maxResults: PAGE, autoPaginate: false, ...(pageToken && { pageToken }) };
    const [buckets, next] = await storage.getBuckets(query);
    for (const { name } of buckets) names.push(name);
    pageToken = (next as { pageToken?: string } | null)?.pageToken;
  } while (pageToken && names.length < most);
  return names.slice(0, most);
}

/** The SDK's own transport does not accept an agent of ours, but the SDK sends everything through this one method. */
class GuardedStorage extends Storage {
  readonly #client: JWT;

  constructor(account: GoogleAccount, agents: Agents, signal: AbortSignal) {
    const client = new JWT({
      email: account.email,
      key: account.privateKey,
      scopes: [READ_ONLY],
      transporterOptions: {
        agent: (url) => (url.protocol === 'https:' ? agents.https : agents.http),
        follow: 0,
        signal,
      },
    });
    super({
      projectId: account.project,
      authClient: client,
      ...(account.endpoint && { apiEndpoint: account.endpoint }),
    });
    this.#client = client;
    const { tokenUri } = account;
    // Key files name their token service; the library only knows the usual one.
    if (tokenUri) {
      client.gaxios?.interceptors.request.add({
        resolved: async (options) =>
          String(options.url).includes('/oauth2/') ? { ...options, url: new URL(tokenUri) } : options,
      });
    }
  }

  override request(...args: Parameters<Storage['request']>): void {
    const [{ uri, qs }, callback] = args as unknown as [
      { uri: string; qs?: Record<string, unknown> },
      (error: unknown, body?: unknown, response?: unknown) => void,
    ];
    const { autoPaginate: _never, ...params } = qs ?? {};
    const request = { url: `${this.baseUrl}${uri}`, params, retry: false };
    this.#client.request<Page>(request).then(
      ({ data, ...response }) =>
        isPage(data)
          ? callback(null, data, response)
          : callback(new CloudRefusal('the response is not a Cloud Storage response')),
      (error) => callback(inWords(error)),
    );
  }
}

function isPage(data: unknown): data is Page {
  if (typeof data !== 'object' || data === null) return false;
  const { items, kind } = data as Page;
  return Array.isArray(items) || (items === undefined && kind === 'storage#buckets');
}

function inWords(error: unknown): unknown {
  const { response, message } = error as {
    response?: { status: number; data?: { error?: unknown; error_description?: unknown } };
    message?: string;
  };
  if (!response) return error;
  const { error: said, error_description: why } = response.data ?? {};
  const inner = typeof said === 'object' && said !== null ? (said as { message?: unknown }).message : said;
  const words = [inner, why].filter((word) => typeof word === 'string').join(': ');
  return new CloudRefusal(
    words || (typeof message === 'string' && message.length < 200 ? message : `status ${response.status}`),
  );
}
