/**
 * Counts what each key has used of an allowance that refills steadily. Memory is bounded: if the table is full, keys
 * whose allowance is whole again are forgotten, and then the oldest ones until the table is half empty.
 *
 * Times are milliseconds of a clock that cannot be set, such as `performance.now()`. Wall time would not do: set back
 * by an hour, no caller could use anything until it has caught up.
 */
export interface Allowance {
  /** Takes one. Returns false if nothing is left. */
  take(key: string, now: number): boolean;
  /** Gives back one that was taken. */
  give(key: string): void;
  /** Counts what was taken elsewhere: it may have been more than is left here. A negative amount was given back. */
  charge(key: string, amount: number, now: number): void;
  left(key: string, now: number): number;
  /** Seconds until one is available again. */
  wait(key: string, now: number): number;
}

const MAX_KEYS = 100_000;

export function createAllowance(size: number, windowMs: number): Allowance {
  const used = new Map<string, { amount: number; at: number }>();
  const rate = size / windowMs;

  return { take, give, charge, left: (key, now) => Math.max(0, Math.floor(size - usedBy(key, now))), wait };

  function usedBy(key: string, now: number): number {
    const entry = used.get(key);
    return entry ? Math.max(0, entry.amount - Math.max(0, now - entry.at) * rate) : 0;
  }

  function take(key: string, now: number): boolean {
    const amount = usedBy(key, now);
    if (amount + 1 > size) return false;
    write(key, amount + 1, now);
    return true;
  }

  function charge(key: string, amount: number, now: number): void {
    write(key, Math.min(size, Math.max(0, usedBy(key, now) + amount)), now);
  }

  function write(key: string, amount: number, at: number): void {
    const entry = used.get(key);
    if (entry) {
      entry.amount = amount;
      entry.at = at;
    } else {
      if (used.size >= MAX_KEYS) makeRoom(at);
      used.set(key, { amount, at });
    }
  }

  function give(key: string): void {
    const entry = used.get(key);
    if (entry) entry.amount = Math.max(0, entry.amount - 1);
  }

  function wait(key: string, now: number): number {
    return Math.max(1, Math.ceil((usedBy(key, now) + 1 - size) / rate / 1000));
  }

  function makeRoom(now: number): void {
    for (const key of used.keys()) if (usedBy(key, now) === 0) used.delete(key);
    let surplus = used.size - MAX_KEYS / 2;
    for (const key of used.keys()) if (surplus-- > 0) used.delete(key);
  }
}
