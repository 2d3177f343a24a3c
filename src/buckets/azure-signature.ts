import { createHmac } from 'node:crypto';

const API_VERSION = '2024-11-04';
/** Content-Encoding, -Language, -Length, -MD5, -Type, Date, four conditions and Range: none is sent. */
const NO_STANDARD_HEADERS = '\n'.repeat(11);

/** The headers that authorize a request without a body by the key of a storage account ("Shared Key"). */
export function azureSignatureHeaders(
  { account, key }: { account: string; key: string },
  method: 'GET' | 'PUT',
  url: URL,
  at: Date,
): Record<string, string> {
  const own = { 'x-ms-date': at.toUTCString(), 'x-ms-version': API_VERSION };
  const headers = Object.entries(own).map(([name, value]) => `${name}:${value}\n`);
  const text = `${method}\n${NO_STANDARD_HEADERS}${headers.join('')}${resourceOf(account, url)}`;
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return { ...own, Authorization: `SharedKey ${account}:${signature}` };
}

function resourceOf(account: string, { pathname, searchParams }: URL): string {
  const query = [...new Set(searchParams.keys())]
    .sort()
    .map((name) => `\n${name.toLowerCase()}:${searchParams.getAll(name).sort().join()}`);
  return `/${account}${pathname}${query.join('')}`;
}
