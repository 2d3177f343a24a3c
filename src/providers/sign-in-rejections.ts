import { AppError, reasonOf } from '../base/errors.ts';
import { type Actor, SERVER } from '../changes/audit-entry.ts';

export interface SignInRejectionStore {
  /** Only an audit entry. */
  record(after: object, actor: Actor): Promise<void>;
}

export type SignInRejections = ReturnType<typeof createSignInRejections>;

/** Failures of the server, and unknown names: neither says anything about the user who tries to sign in. */
const NOT_RECORDED = new Set(['internal_error', 'unavailable', 'provider_not_found', 'rate_limited']);

/** Sign-ins with a provider that were rejected, in the audit log of the deployment. */
export function createSignInRejections(store: SignInRejectionStore) {
  return { isRecorded, record };

  function isRecorded(error: unknown): error is AppError {
    return error instanceof AppError && !NOT_RECORDED.has(reasonOf(error));
  }

  async function record(provider: string, error: AppError, requestId: string): Promise<void> {
    const actor = { ...SERVER, name: `provider ${provider}`, requestId };
    await store.record({ provider, reason: reasonOf(error), message: error.message }, actor);
  }
}
