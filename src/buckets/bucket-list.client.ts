import {
  createAddressGuard,
  createGuardedAgents,
  ForbiddenAddress,
  JSON_LIMITS,
} from '../base/outbound/guarded-agents.ts';
import { UnacceptableResponse } from '../base/outbound/response-meter.ts';
import { listAzure } from './azure.client.ts';
import { type BucketLister, CloudRejection } from './buckets.ts';
import { listGoogle } from './google.client.ts';
import { listS3 } from './s3.client.ts';
import type { Asking } from './service-call.client.ts';
import type { StorageAccount } from './storage-account.ts';

/** Calls storage services. Connections are not kept beyond a listing. */
export function createBucketLister(allowedNetworks: readonly string[]): BucketLister {
  const isAllowed = createAddressGuard(allowedNetworks);
  return {
    async list(account, max, signal) {
      if (signal.aborted) throw new CloudRejection('the request was canceled');
      const agents = createGuardedAgents(isAllowed, account.kind === 'google' ? JSON_LIMITS : undefined);
      try {
        // A connection that the agents end may look like any lost connection to who reads from it.
        return await Promise.race([listWith(account, { agents, max, signal }), agents.failed]);
      } catch (error) {
        throw error instanceof CloudRejection ? error : new CloudRejection(wordsOf(error));
      } finally {
        agents.destroy();
      }
    },
  };
}

function listWith(account: StorageAccount, asking: Asking): Promise<string[]> {
  switch (account.kind) {
    case 's3':
      return listS3(account, asking);
    case 'azure':
      return listAzure(account, asking);
    case 'google':
      return listGoogle(account, asking);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name of the endpoint does not exist',
  EAI_AGAIN: 'the host name of the endpoint could not be resolved',
  ETIMEDOUT: 'the endpoint did not respond in time',
  EHOSTUNREACH: 'there is no route to the endpoint',
  ENETUNREACH: 'there is no route to the endpoint',
  ABORT_ERR: 'the request was canceled',
};
const MAX_ERRORS = 20;

/**
 * The description of a failure that callers may see. Errors may contain requests and headers with secrets in them, so
 * only words are passed on.
 */
function wordsOf(error: unknown): string {
  for (const one of chainOf(error)) {
    if (one instanceof UnacceptableResponse || one instanceof ForbiddenAddress) return one.message;
    const code = String((one as NodeJS.ErrnoException).code);
    if (REASONS[code]) return REASONS[code];
    if (/CERT/.test(code)) return 'the certificate of the endpoint is not valid';
    if (code.startsWith('HPE_')) return 'the response is not an HTTP response';
  }
  return 'the service sent something that cannot be processed';
}

function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const visit = (one: unknown) => {
    if (typeof one !== 'object' || one === null || chain.includes(one) || chain.length > MAX_ERRORS) return;
    chain.push(one);
    const { cause, errors } = one as { cause?: unknown; errors?: unknown };
    for (const next of [cause, ...(Array.isArray(errors) ? errors : [])]) visit(next);
  };
  visit(error);
  return chain;
}
