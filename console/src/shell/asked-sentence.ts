/** What a user types to ask a question, such as "dan connect prod" or "may dan connect to prod?". */
export interface AskedSentence {
  readonly person: string;
  readonly verb: string;
  readonly object: string;
}

const SMALL = new Set(['may', 'can', 'why', 'does', 'is', 'the', 'to', 'on', 'in', 'of', 'a']);

/** Undefined unless there are a person, a verb and an object. */
export function readSentence(text: string): AskedSentence | undefined {
  const words = text
    .replace(/[?.!]+\s*$/, '')
    .trim()
    .split(/\s+/)
    .filter((word) => !SMALL.has(word.toLowerCase()));
  const [person, ...rest] = words;
  const object = rest.pop();
  if (person === undefined || object === undefined || rest.length === 0) return undefined;
  return { person, verb: rest.join(' ').toLowerCase(), object };
}

interface Relation {
  readonly relation: string;
  readonly title: string;
}

/** The permission of a type that a verb means: its title begins with it, or else contains it. */
export function relationFor(relations: readonly Relation[], verb: string): Relation | undefined {
  const held = relations.filter(({ relation }) => relation.startsWith('can_'));
  const has = (test: (title: string) => boolean) => held.find(({ title }) => test(title.toLowerCase()));
  return has((title) => title.startsWith(verb)) ?? has((title) => title.includes(verb));
}
