/** A function that remembers its answers. */
export interface Remembered<Arguments extends readonly unknown[], Answer> {
  (...given: Arguments): Promise<Answer>;
  /** The answer if it is remembered and nothing has changed since, without waiting. */
  now(...given: Arguments): Answer | undefined;
}

interface Known<Answer> {
  readonly promise: Promise<Answer>;
  answer: Answer | undefined;
}

/**
 * Remembers what a function answers until anything changes. A list of a thousand access requests asks the same few
 * questions about roles, teams and rules.
 */
export function createRemembered(revision: () => bigint, maxKnown = 10_000) {
  return <Arguments extends readonly unknown[], Answer>(
    ask: (...given: Arguments) => Promise<Answer>,
    keyOf: (...given: Arguments) => string = (...given) => given.map(String).join(' '),
  ): Remembered<Arguments, Answer> => {
    let known = new Map<string, Known<Answer>>();
    let of = revision();
    const remembered = (...given: Arguments): Promise<Answer> => {
      const now = revision();
      if (now !== of || known.size >= maxKnown) known = new Map();
      of = now;
      const key = keyOf(...given);
      const before = known.get(key);
      if (before !== undefined) return before.promise;
      const made: Known<Answer> = { promise: ask(...given), answer: undefined };
      const those = known.set(key, made);
      made.promise.then(
        (answer) => {
          made.answer = answer;
        },
        () => those.delete(key),
      );
      return made.promise;
    };
    const now = (...given: Arguments) => (revision() === of ? known.get(keyOf(...given))?.answer : undefined);
    return Object.assign(remembered, { now });
  };
}
