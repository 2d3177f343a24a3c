import { BlobServiceClient, newPipeline, StorageSharedKeyCredential } from '@azure/storage-blob';
import { CloudRefusal } from './buckets.ts';
import { type Asking, limitPages } from './page-limit.ts';
import type { AzureAccount } from './storage-account.ts';

const PAGE = 1000;

export async function listAzure(account: AzureAccount, { agents, most, signal }: Asking): Promise<string[]> {
  const credential = new StorageSharedKeyCredential(account.account, account.key);
  const options = { retryOptions: { maxTries: 2, maxRetryDelayInMs: 500 }, redirectOptions: { maxRetries: 0 } };
  const pipeline = newPipeline(credential, options);
  pipeline.factories.unshift({
    create: (next) => ({
      sendRequest(request) {
        request.agent = request.url.startsWith('https:') ? agents.https : agents.http;
        return next.sendRequest(request);
      },
    }),
  });
  const client = new BlobServiceClient(account.endpoint, pipeline);
  const names: string[] = [];
  const countPage = limitPages();
  try {
    for await (const page of client.listContainers({ abortSignal: signal }).byPage({ maxPageSize: PAGE })) {
      countPage();
      if (!Array.isArray(page.containerItems)) throw new CloudRefusal('the response is not a Blob Storage response');
      for (const { name } of page.containerItems) names.push(name);
      if (names.length >= most) break;
    }
  } catch (error) {
    throw inWords(error);
  }
  return names.slice(0, most);
}

/** The first line has the reason; IDs and times follow. */
function inWords(error: unknown): unknown {
  const {
    code,
    statusCode,
    details,
    message = '',
  } = error as {
    code?: string;
    statusCode?: number;
    details?: { errorCode?: string };
    message?: string;
  };
  if (code === 'PARSE_ERROR') return new CloudRefusal('the response is not a Blob Storage response');
  if (statusCode === undefined) return error;
  const name = details?.errorCode ?? code ?? `status ${statusCode}`;
  return new CloudRefusal(`${name}: ${message.split('\n', 1)[0]}`);
}
