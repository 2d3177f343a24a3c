import type { KnownProvider } from '../providers.ts';

export const TEST_STEPS = ['discovery', 'keys', 'client'] as const;
export const TEST_RESULTS = ['ok', 'failed', 'unknown'] as const;

/** One thing about a provider that was tried, and what came of it, with the words of the provider if it has any. */
export interface TestStep {
  readonly step: (typeof TEST_STEPS)[number];
  readonly result: (typeof TEST_RESULTS)[number];
  readonly message: string;
}

export interface ProviderTester {
  /** Never throws because of the provider: a failure is a result. */
  test(known: KnownProvider): Promise<readonly TestStep[]>;
}
