import { AppError, reasonOf } from '../base/errors.ts';
import { type Actor, SERVER } from '../changes/audit-entry.ts';

export interface RefusalStore {
  /** Only an audit entry. */
  record(after: object, actor: Actor): Promise<void>;
}

export type SignInRefusals = ReturnType<typeof createSignInRefusals>;

/** Failures of ours, and names that nobody has: neither says anything about who tries to sign in. */
const NOT_RECORDED = new Set(['internal_error', 'unavailable', 'provider_not_found', 'rate_limited']);

/** Sign-ins with a provider that were refused, in the audit log of the deployment. */
export function createSignInRefusals(store: RefusalStore) {
  return { isRecorded, record };

  function isRecorded(error: unknown): error is AppError {
    return error instanceof AppError && !NOT_RECORDED.has(reasonOf(error));
  }

  async function record(provider: string, error: AppError, requestId: string): Promise<void> {
    const actor = { ...SERVER, name: `provider ${provider}`, requestId };
    await store.record({ provider, reason: reasonOf(error), message: error.message }, actor);
  }
}
