import { JWT } from 'google-auth-library';
import { CloudRefusal } from './buckets.ts';
import { type Asking, limitPages } from './page-limit.ts';
import type { GoogleAccount } from './storage-account.ts';

const PAGE = 1000;
const ENDPOINT = 'https://storage.googleapis.com';
const READ_ONLY = 'https://www.googleapis.com/auth/devstorage.read_only';
/** A bucket has dozens of fields, and we need one. */
const FIELDS = 'kind,nextPageToken,items/name';

interface Page {
  readonly names: readonly string[];
  readonly next: string | undefined;
}

export async function listGoogle(account: GoogleAccount, asking: Asking): Promise<string[]> {
  const { most } = asking;
  const client = createClient(account, asking);
  const countPage = limitPages();
  const names: string[] = [];
  let pageToken: string | undefined;
  do {
    countPage();
    const params = { project: account.project, maxResults: PAGE, fields: FIELDS, ...(pageToken && { pageToken }) };
    const page = await getPage(client, `${account.endpoint ?? ENDPOINT}/storage/v1/b`, params);
    names.push(...page.names.slice(0, most - names.length));
    pageToken = page.next;
  } while (pageToken && names.length < most);
  return names;
}

function createClient({ email, privateKey, tokenUri }: GoogleAccount, { agents, signal }: Asking): JWT {
  const client = new JWT({
    email,
    key: privateKey,
    scopes: [READ_ONLY],
    transporterOptions: {
      agent: (url) => (url.protocol === 'https:' ? agents.https : agents.http),
      follow: 0,
      signal,
    },
  });
  // Key files name their token service; the library only knows the usual one.
  if (tokenUri) {
    client.gaxios?.interceptors.request.add({
      resolved: async (options) =>
        String(options.url).includes('/oauth2/') ? { ...options, url: new URL(tokenUri) } : options,
    });
  }
  return client;
}

async function getPage(client: JWT, url: string, params: Record<string, unknown>): Promise<Page> {
  let data: unknown;
  try {
    ({ data } = await client.request<unknown>({ url, params, retry: false }));
  } catch (error) {
    throw inWords(error);
  }
  const page = pageOf(data);
  if (!page) throw new CloudRefusal('the response is not a Cloud Storage response');
  return page;
}

/** Undefined if it is not a page of buckets. */
function pageOf(data: unknown): Page | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { items, kind, nextPageToken } = data as { items?: unknown; kind?: unknown; nextPageToken?: unknown };
  if (!Array.isArray(items) && (items !== undefined || kind !== 'storage#buckets')) return undefined;
  const names: unknown[] = (items ?? []).map((item: { name?: unknown } | null) => item?.name);
  if (!names.every((name) => typeof name === 'string')) return undefined;
  return { names, next: typeof nextPageToken === 'string' ? nextPageToken : undefined };
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
