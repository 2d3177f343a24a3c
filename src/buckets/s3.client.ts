import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { CloudRejection } from './buckets.ts';
import { type Asking, callServiceTwice, isSuccess, limitPages, type ServiceCall } from './service-call.client.ts';
import type { S3Account } from './storage-account.ts';
import { readXmlPage } from './xml-page.ts';

const PAGE = 1000;
const EMPTY_SHA256 = createHash('sha256').digest('hex');
const PATHS = { name: 'ListAllMyBucketsResult/Buckets/Bucket/Name', next: 'ListAllMyBucketsResult/ContinuationToken' };

export async function listS3(account: S3Account, asking: Asking): Promise<string[]> {
  const names: string[] = [];
  const countPage = limitPages();
  let next = '';
  do {
    countPage();
    const response = await callServiceTwice(asking, () => signed(account, next));
    const page = await readXmlPage(response, PATHS);
    if (!isSuccess(response)) {
      const { code, message } = page ?? { code: '', message: '' };
      throw new CloudRejection([code || `status ${response.statusCode}`, message].filter(Boolean).join(': '));
    }
    if (page?.root !== 'ListAllMyBucketsResult') throw new CloudRejection('the response is not an S3 response');
    names.push(...page.names);
    next = page.next;
  } while (next && names.length < asking.max);
  return names.slice(0, asking.max);
}

async function signed(account: S3Account, next: string): Promise<ServiceCall> {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = account;
  const url = new URL(`${endpoint}/`);
  url.searchParams.set('max-buckets', String(PAGE));
  if (next) url.searchParams.set('continuation-token', next);
  const signer = new AwsV4Signer({
    service: 's3',
    method: 'GET',
    url: url.href,
    headers: { 'X-Amz-Content-Sha256': EMPTY_SHA256 },
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
  });
  const { url: target, headers } = await signer.sign();
  return { url: target.href, headers: Object.fromEntries(headers) };
}
