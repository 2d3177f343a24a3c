import { azureSignatureHeaders } from './azure-signature.ts';
import { CloudRejection } from './buckets.ts';
import { type Asking, callServiceTwice, isSuccess, limitPages, type ServiceCall } from './service-call.client.ts';
import type { AzureAccount } from './storage-account.ts';
import { readXmlPage } from './xml-page.ts';

const PAGE = 1000;
const PATHS = { name: 'EnumerationResults/Containers/Container/Name', next: 'EnumerationResults/NextMarker' };

export async function listAzure(account: AzureAccount, asking: Asking): Promise<string[]> {
  const names: string[] = [];
  const countPage = limitPages();
  let next = '';
  do {
    countPage();
    const response = await callServiceTwice(asking, async () => signed(account, next));
    const page = await readXmlPage(response, PATHS);
    if (!isSuccess(response)) {
      const code = page?.code || String(response.headers['x-ms-error-code'] ?? `status ${response.statusCode}`);
      // The first line has the reason; IDs and times follow.
      throw new CloudRejection([code, page?.message.split('\n', 1)[0]].filter(Boolean).join(': '));
    }
    if (page?.root !== 'EnumerationResults') throw new CloudRejection('the response is not a Blob Storage response');
    names.push(...page.names);
    next = page.next;
  } while (next && names.length < asking.max);
  return names.slice(0, asking.max);
}

function signed({ endpoint, account, key }: AzureAccount, next: string): ServiceCall {
  const url = new URL(`${endpoint}/`);
  url.searchParams.set('comp', 'list');
  url.searchParams.set('maxresults', String(PAGE));
  if (next) url.searchParams.set('marker', next);
  return { url: url.href, headers: azureSignatureHeaders({ account, key }, 'GET', url, new Date()) };
}
