import { paginateListBuckets, S3Client } from '@aws-sdk/client-s3';
import { CloudRefusal } from './buckets.ts';
import { type Asking, limitPages } from './page-limit.ts';
import type { S3Account } from './storage-account.ts';

const PAGE = 1000;

export async function listS3(account: S3Account, { agents, most, signal }: Asking): Promise<string[]> {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = account;
  const client = new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
    ...(endpoint && { endpoint, forcePathStyle: true }),
    // The settings of the machine are the operator's, not the caller's.
    ignoreConfiguredEndpointUrls: true,
    maxAttempts: 2,
    requestHandler: { httpAgent: agents.http, httpsAgent: agents.https },
  });
  try {
    const names: string[] = [];
    const countPage = limitPages();
    for await (const page of paginateListBuckets({ client, pageSize: PAGE }, {}, { abortSignal: signal })) {
      countPage();
      if (!page.Buckets) throw new CloudRefusal('the response is not an S3 response');
      for (const { Name } of page.Buckets) if (Name !== undefined) names.push(Name);
      if (names.length >= most) break;
    }
    return names.slice(0, most);
  } catch (error) {
    throw isUnreadable(error) ? new CloudRefusal('the response is not an S3 response') : error;
  } finally {
    client.destroy();
  }
}

/** The parser's message about a response that does not follow the protocol helps nobody. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && (error instanceof SyntaxError || /deserialization/i.test(error.message));
}
