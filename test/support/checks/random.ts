const DEFAULT_SEED = 20_261_116;

/** The seed of a random test: always the same, unless TEST_SEED says otherwise. */
export const SEED = Number(process.env.TEST_SEED ?? DEFAULT_SEED);

export interface Random {
  /** A whole number from 0 up to, but not including, this one. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Each element with this probability, in order. */
  some<T>(list: readonly T[], probability: number): T[];
}

/** A small generator (mulberry32): the same seed gives the same numbers on every machine. */
export function createRandom(seed = SEED): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (list) => {
      const found = list[below(list.length)];
      if (found === undefined) throw new Error('there is nothing to pick from');
      return found;
    },
    some: (list, probability) => list.filter(() => next() < probability),
  };
}
