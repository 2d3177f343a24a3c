import { didYouMean } from './suggest.ts';

/** Words for the same thing. Of each line, a group of commands has one; the others also lead to it. */
const SAME: readonly (readonly string[])[] = [
  ['list', 'ls'],
  ['show', 'get', 'describe', 'view'],
  ['create', 'new'],
  ['edit', 'update'],
  ['delete', 'remove', 'rm', 'revoke'],
];

/** The command of the group that a word names: its own name or, if exactly one is meant, another word for it. */
export function verbIn(commands: Readonly<Record<string, unknown>>, word: string): string {
  if (Object.hasOwn(commands, word)) return word;
  const [verb, another] = meantBy(word, Object.keys(commands));
  return verb !== undefined && another === undefined ? verb : word;
}

/** ` (did you mean delete or remove?)` for a word that could mean several, or a similar word. */
export function verbHint(word: string, verbs: readonly string[]): string {
  const meant = meantBy(word, verbs);
  if (meant.length === 0) return didYouMean(word, verbs);
  return ` (did you mean ${meant.join(', ').replace(/, ([^,]*)$/, ' or $1')}?)`;
}

function meantBy(word: string, verbs: readonly string[]): string[] {
  const same = SAME.find((words) => words.includes(word)) ?? [];
  return verbs.filter((verb) => same.includes(verb));
}
