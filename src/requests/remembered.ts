/**
 * Remembers what a function answers until anything changes. A list of a thousand requests asks the same few questions
 * about roles, teams and rules.
 */
export function createRemembered(revision: () => bigint) {
  return <Arguments extends readonly unknown[], Answer>(
    ask: (...given: Arguments) => Promise<Answer>,
  ): ((...given: Arguments) => Promise<Answer>) => {
    let known = new Map<string, Promise<Answer>>();
    let of = revision();
    return (...given) => {
      const now = revision();
      if (now !== of || known.size >= MAX_KNOWN) known = new Map();
      of = now;
      const key = given.map(String).join(' ');
      const found = known.get(key) ?? ask(...given);
      known.set(key, found);
      found.catch(() => known.delete(key));
      return found;
    };
  };
}

const MAX_KNOWN = 10_000;
