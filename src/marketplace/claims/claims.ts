import { AppError } from '../../base/errors.ts';
import type { AskCentral, ClaimRules } from './central.client.ts';

export interface Claim extends ClaimRules {
  readonly backoffSeconds: number;
  readonly nextAt: Date | null;
}

export interface ClaimStore {
  get(id: string): Promise<Claim | undefined>;
  save(id: string, claim: Claim): Promise<void>;
}

export interface Claimable {
  readonly isClaimable: boolean;
  readonly claimID: string;
}

export type Claims = ReturnType<typeof createClaims>;

/** An ID of dots alone would act as `.` or `..` in the central server's path. */
const ID = /^(?!\.+$)[\w.:-]{1,200}$/;
const FIRST_BACKOFF_S = 30;
export const MAX_BACKOFF_S = 600;

/**
 * Checks whether a standalone organization can be claimed. The central server decides; its answers are stored so that
 * it is not asked too often.
 */
export function createClaims(store: ClaimStore, ask: AskCentral) {
  const asking = new Map<string, Promise<Claim | undefined>>();
  return { check };

  async function check(id: string, now: Date): Promise<Claimable> {
    if (!ID.test(id)) throw notFound();
    const known = await store.get(id);
    if (known?.nextAt && isInBackoff(known.nextAt, known.backoffSeconds, now)) {
      if (known.claimable && !known.claimed) return { isClaimable: true, claimID: id };
      throw wait(known.nextAt, now);
    }
    const claim = await askOnce(id, known, now);
    if (!claim) throw notFound();
    if (claim.claimed) throw new AppError('conflict', 'the standalone organization is already claimed');
    return { isClaimable: claim.claimable, claimID: id };
  }

  /** Concurrent checks of the same ID share one request. */
  function askOnce(id: string, known: Claim | undefined, now: Date): Promise<Claim | undefined> {
    const running = asking.get(id);
    if (running) return running;
    const question = evaluate(id, known, now).finally(() => asking.delete(id));
    asking.set(id, question);
    return question;
  }

  async function evaluate(id: string, known: Claim | undefined, now: Date): Promise<Claim | undefined> {
    const rules = await ask(id);
    if (!rules) return undefined;
    const mustWait = !rules.claimable && !rules.claimed;
    const backoffSeconds = mustWait ? Math.min(MAX_BACKOFF_S, (known?.backoffSeconds ?? 0) * 2 || FIRST_BACKOFF_S) : 0;
    const nextAt = mustWait ? new Date(now.getTime() + backoffSeconds * 1000) : null;
    const claim = { ...rules, backoffSeconds, nextAt };
    await store.save(id, claim);
    return claim;
  }
}

/** A backoff that is longer than it was made began before the clock was set back, and is over. */
function isInBackoff(nextAt: Date, backoffSeconds: number, now: Date): boolean {
  const leftMs = nextAt.getTime() - now.getTime();
  return leftMs > 0 && leftMs <= backoffSeconds * 1000;
}

function notFound(): AppError {
  return new AppError('notFound', 'standalone organization not found');
}

function wait(until: Date, now: Date): AppError {
  const left = (until.getTime() - now.getTime()) / 1000;
  const retryAfter = Math.max(1, Math.min(MAX_BACKOFF_S, left));
  return new AppError('limited', 'the claim was checked a moment ago, try again later', { retryAfter });
}
