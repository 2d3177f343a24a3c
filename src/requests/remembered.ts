/**
 * Remembers what a function answers until anything changes. A list of a thousand requests asks the same few questions
 * about roles, teams and rules.
 */
export function createRemembered(revision: () => bigint, maxKnown = 10_000) {
  return <Arguments extends readonly unknown[], Answer>(
    ask: (...given: Arguments) => Promise<Answer>,
  ): ((...given: Arguments) => Promise<Answer>) => {
    let known = new Map<string, Promise<Answer>>();
    let of = revision();
    return (...given) => {
      const now = revision();
      if (now !== of || known.size >= maxKnown) known = new Map();
      of = now;
      const key = given.map(String).join(' ');
      const before = known.get(key);
      if (before !== undefined) return before;
      const found = ask(...given);
      known.set(key, found);
      found.catch(() => known.delete(key));
      return found;
    };
  };
}
