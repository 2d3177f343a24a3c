import { parentPort, workerData } from 'node:worker_threads';
import { createAddressGuard, createGuardedAgents, ForbiddenAddress } from '../base/outbound.ts';
import { UnacceptableResponse } from '../base/response-meter.ts';
import { CloudRefusal } from './buckets.ts';
import type { Asking } from './page-limit.ts';
import type { StorageAccount } from './storage-account.ts';

/** What the thread is asked: to list buckets, or to stop doing so. */
export type WorkerRequest =
  | { readonly id: number; readonly account: StorageAccount; readonly most: number }
  | { readonly id: number; readonly account?: undefined };
export type WorkerAnswer = { readonly id: number; readonly names?: string[]; readonly refusal?: string };

/**
 * The thread that calls storage services, each through its own SDK. No SDK is loaded before it is used for the first
 * time. `bucket-list.client.ts` starts the thread.
 */
if (parentPort) listen(parentPort, workerData as { allowedNetworks: readonly string[] });

function listen(
  port: NonNullable<typeof parentPort>,
  { allowedNetworks }: { allowedNetworks: readonly string[] },
): void {
  const isAllowed = createAddressGuard(allowedNetworks);
  const running = new Map<number, AbortController>();
  port.on('message', ({ id, account, ...rest }: WorkerRequest) => {
    if (!account) {
      running.get(id)?.abort();
      return;
    }
    const controller = new AbortController();
    running.set(id, controller);
    const { most } = rest as { most: number };
    listBuckets(account, most, controller.signal, isAllowed)
      .then(
        (names): WorkerAnswer => ({ id, names }),
        (error): WorkerAnswer => ({ id, refusal: error instanceof CloudRefusal ? error.message : wordsOf(error) }),
      )
      .then((answer) => {
        running.delete(id);
        port.postMessage(answer);
      });
  });
}

async function listBuckets(
  account: StorageAccount,
  most: number,
  signal: AbortSignal,
  isAllowed: (address: string) => boolean,
): Promise<string[]> {
  const agents = createGuardedAgents(isAllowed);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(new CloudRefusal('the request was canceled')), { once: true });
  try {
    // Not every SDK notices that its connection is gone.
    const work = listWith(account, { agents, most, signal });
    const names: readonly unknown[] = await Promise.race([work, agents.failed, stopped]);
    if (names.every((name) => typeof name === 'string')) return names as string[];
    throw new CloudRefusal('the service sent a bucket without a name');
  } finally {
    // Also ends what an SDK still has in progress.
    agents.destroy();
  }
}

async function listWith(account: StorageAccount, asking: Asking): Promise<string[]> {
  switch (account.kind) {
    case 's3':
      return await (await import('./s3.client.ts')).listS3(account, asking);
    case 'azure':
      return await (await import('./azure.client.ts')).listAzure(account, asking);
    case 'google':
      return await (await import('./google.client.ts')).listGoogle(account, asking);
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
};

/**
 * The description of a failure that callers may see. SDK errors contain requests, headers and bodies with secrets in
 * them, so neither they nor their causes are passed on, only words.
 */
function wordsOf(error: unknown): string {
  if (error instanceof UnacceptableResponse) return error.message;
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
