import { AppError, reasonOf } from '../../base/errors.ts';

/** What a provider did last. */
export interface ProviderState {
  readonly logoutNoticeAt: Date | null;
  readonly faultAt: Date | null;
  readonly fault: string | null;
}

export interface ProviderStateStore {
  list(): Promise<ReadonlyMap<string, ProviderState>>;
  fault(provider: string, message: string, at: Date): Promise<void>;
}

export type ProviderStates = ReturnType<typeof createProviderStates>;

/** Faults of the provider, or of how it is set up, not of the person who signs in. */
const FAULTS = new Set(['provider_failed', 'client_rejected', 'sign_in_rejected']);
const NOTHING: ProviderState = { logoutNoticeAt: null, faultAt: null, fault: null };
const MAX_FAULT = 500;

/** For administrators: whether logout notices arrive, and what went wrong last. */
export function createProviderStates(store: ProviderStateStore) {
  return { of, note, noteFault };

  async function of(): Promise<(provider: string) => ProviderState> {
    const states = await store.list();
    return (provider) => states.get(provider) ?? NOTHING;
  }

  /** What a sign-in or a logout notice failed with. */
  async function note(provider: string, error: unknown, at: Date): Promise<void> {
    if (!(error instanceof AppError) || !FAULTS.has(reasonOf(error))) return;
    await noteFault(provider, error.message, at);
  }

  async function noteFault(provider: string, message: string, at: Date): Promise<void> {
    await store.fault(provider, message.slice(0, MAX_FAULT), at);
  }
}
