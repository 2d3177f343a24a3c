import { createAddressGuard, createGuardedAgents, ForbiddenAddress } from '../base/outbound.ts';
import { type BucketLister, CloudRefusal } from './buckets.ts';

/** Calls every storage service through its own SDK. No SDK is loaded before it is used for the first time. */
export function createBucketLister(allowedNetworks: readonly string[]): BucketLister {
  const isAllowed = createAddressGuard(allowedNetworks);
  return {
    async list(account, most, signal) {
      const agents = createGuardedAgents(isAllowed);
      signal.addEventListener('abort', () => agents.destroy(), { once: true });
      try {
        switch (account.kind) {
          case 's3':
            return await (await import('./s3.client.ts')).listS3(account, { agents, most, signal });
          case 'azure':
            return await (await import('./azure.client.ts')).listAzure(account, { agents, most, signal });
          case 'google':
            return await (await import('./google.client.ts')).listGoogle(account, { agents, most, signal });
        }
      } catch (error) {
        throw error instanceof CloudRefusal ? error : new CloudRefusal(wordsOf(error));
      } finally {
        // Also ends what an SDK still has in progress.
        agents.destroy();
      }
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name of the endpoint does not exist',
  EAI_AGAIN: 'the host name of the endpoint could not be resolved',
  ETIMEDOUT: 'the endpoint did not respond in time',
  EHOSTUNREACH: 'there is no route to the endpoint',
  ENETUNREACH: 'there is no route to the endpoint',
};

/**
 * The description of a failure that callers may see. SDK errors contain requests, headers and bodies with secrets in
 * them, so neither they nor their causes are passed on, only words.
 */
function wordsOf(error: unknown): string {
  const chain = chainOf(error);
  // Some SDKs keep only the message of the underlying error.
  const forbidden = new ForbiddenAddress().message;
  if (chain.some((one) => String((one as Error).message).includes(forbidden))) return forbidden;
  for (const one of chain) {
    const code = String((one as NodeJS.ErrnoException).code);
    if (REASONS[code]) return REASONS[code];
    if (/CERT/.test(code)) return 'the certificate of the endpoint is not valid';
    if (code.startsWith('ERR_OSSL')) return 'the private key of the credential cannot be read';
  }
  const { name, message } = (error ?? {}) as Partial<Error>;
  return [name, message].filter((word) => word && word !== 'Error').join(': ') || 'no reason given';
}

function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const visit = (one: unknown) => {
    if (typeof one !== 'object' || one === null || chain.includes(one) || chain.length > 20) return;
    chain.push(one);
    const { cause, errors, error: inner } = one as { cause?: unknown; errors?: unknown; error?: unknown };
    for (const next of [cause, inner, ...(Array.isArray(errors) ? errors : [])]) visit(next);
  };
  visit(error);
  return chain;
}
