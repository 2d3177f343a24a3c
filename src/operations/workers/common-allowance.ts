import type { Share } from '../../http/limits/rate-limit.ts';
import type { Used } from './messages.ts';

const TELL_EVERY_MS = 100;

/**
 * Makes allowances common to all workers. Every request counts immediately in the worker that serves it, and in the
 * others after a tenth of a second: asking for each request would cost more than the request. So with N workers, a
 * caller can get ahead of the limit by what the other N - 1 serve in that time.
 */
export function createCommonAllowances(send: (used: Used) => void, clock = () => performance.now()) {
  const charges = new Map<string, (key: string, amount: number) => void>();
  const untold = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | undefined;

  const share: Share = (name, allowance) => {
    const amounts = new Map<string, number>();
    untold.set(name, amounts);
    charges.set(name, (key, amount) => allowance.charge(key, amount, clock()));
    const note = (key: string, amount: number) => {
      amounts.set(key, (amounts.get(key) ?? 0) + amount);
      timer ??= setTimeout(tell, TELL_EVERY_MS).unref();
    };
    return {
      ...allowance,
      take(key, now) {
        const isGranted = allowance.take(key, now);
        if (isGranted) note(key, 1);
        return isGranted;
      },
      give(key) {
        allowance.give(key);
        note(key, -1);
      },
    };
  };
  return { share, hear, tell };

  function tell(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [name, amounts] of untold) {
      if (amounts.size === 0) continue;
      send({ kind: 'used', name, amounts: [...amounts].filter(([, amount]) => amount !== 0) });
      amounts.clear();
    }
  }

  /** What another worker has granted. */
  function hear({ name, amounts }: Used): void {
    const charge = charges.get(name);
    if (charge) for (const [key, amount] of amounts) charge(key, amount);
  }
}
