import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { importPKCS8, SignJWT } from 'jose';
import { CloudRejection } from './buckets.ts';
import { type Asking, callService, isSuccess, limitPages } from './service-call.client.ts';
import type { GoogleAccount } from './storage-account.ts';

const PAGE = 1000;
const ENDPOINT = 'https://storage.googleapis.com';
const TOKEN_SERVICE = 'https://oauth2.googleapis.com/token';
const READ_ONLY = 'https://www.googleapis.com/auth/devstorage.read_only';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** A bucket has dozens of fields, and we need one. */
const FIELDS = 'kind,nextPageToken,items/name';
const NOT_A_PAGE = 'the response is not a Cloud Storage response';

interface Page {
  readonly names: readonly string[];
  readonly next: string | undefined;
}

export async function listGoogle(account: GoogleAccount, asking: Asking): Promise<string[]> {
  const token = await getToken(account, asking);
  const countPage = limitPages();
  const names: string[] = [];
  let next: string | undefined;
  do {
    countPage();
    const page = await getPage(account, token, next, asking);
    names.push(...page.names.slice(0, asking.max - names.length));
    next = page.next;
  } while (next && names.length < asking.max);
  return names;
}

/** Exchanges an assertion, signed with the key of the service account, for an access token. */
async function getToken(account: GoogleAccount, asking: Asking): Promise<string> {
  const { email, privateKey, tokenUri = TOKEN_SERVICE } = account;
  const assertion = await new SignJWT({ scope: READ_ONLY })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(email)
    .setAudience(tokenUri)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await importPKCS8(privateKey, 'RS256'));
  const response = await callService(asking, {
    method: 'POST',
    url: tokenUri,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
  });
  const { access_token: token } = ((await read(response)) ?? {}) as { access_token?: unknown };
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new CloudRejection('the token service did not send an access token');
  }
  return token;
}

async function getPage(account: GoogleAccount, token: string, next: string | undefined, asking: Asking): Promise<Page> {
  const url = new URL(`${account.endpoint ?? ENDPOINT}/storage/v1/b`);
  const query = {
    project: account.project,
    maxResults: String(PAGE),
    fields: FIELDS,
    ...(next && { pageToken: next }),
  };
  url.search = new URLSearchParams(query).toString();
  const response = await callService(asking, { url: url.href, headers: { Authorization: `Bearer ${token}` } });
  const page = pageOf(await read(response));
  if (!page) throw new CloudRejection(NOT_A_PAGE);
  return page;
}

/** Undefined if it is not JSON. */
async function read(response: IncomingMessage): Promise<unknown> {
  const data = parse(await text(response));
  if (isSuccess(response)) return data;
  const { error: said, error_description: why } = (data ?? {}) as { error?: unknown; error_description?: unknown };
  const inner = typeof said === 'object' && said !== null ? (said as { message?: unknown }).message : said;
  const words = [inner, why].filter((word) => typeof word === 'string').join(': ');
  throw new CloudRejection(words || `status ${response.statusCode}`);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
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
