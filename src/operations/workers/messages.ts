import type { Registry } from 'prom-client';

/** The metrics of one process. */
export type Readings = Readonly<Awaited<ReturnType<Registry['getMetricsAsJSON']>>>;

/** What has been taken of an allowance since the last message: keys and amounts. */
export interface Used {
  readonly kind: 'used';
  readonly name: string;
  readonly amounts: readonly (readonly [key: string, amount: number])[];
}

/** An attempt to use a credential, for which a worker needs permission. */
export interface Attempt {
  readonly kind: 'attempt';
  readonly id: number;
  readonly address: string;
  /** Of a password; attempts with a token have no name. */
  readonly login?: string;
}

/** From the supervisor to a worker. Everything in it survives JSON. */
export type SupervisorMessage =
  /** If it is replaced, new connections go to the other workers immediately. */
  | { readonly kind: 'leave'; readonly isReplaced: boolean }
  | { readonly kind: 'close'; readonly patienceMs?: number | undefined }
  | { readonly kind: 'ask'; readonly id: number; readonly what: WorkerQuery }
  | { readonly kind: 'permitted'; readonly id: number }
  | { readonly kind: 'rejected'; readonly id: number; readonly retryAfter: number }
  | Used;

export type WorkerQuery = 'alive' | 'ready' | 'metrics';

/** From a worker to the supervisor. */
export type WorkerMessage =
  | { readonly kind: 'serving'; readonly address: string; readonly listenerPort?: number | undefined }
  | { readonly kind: 'answer'; readonly id: number; readonly failed?: string; readonly readings?: Readings }
  /** The last one: what was counted since the previous answer must not be lost. */
  | { readonly kind: 'leaving'; readonly readings: Readings }
  | { readonly kind: 'attempted'; readonly id: number; readonly isWrong: boolean }
  | Attempt
  | Used;
