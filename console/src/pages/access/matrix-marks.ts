import { has } from './matrix-order.ts';

/** A permission of the matrix: its letter in a cell, and its words. */
export interface Mark {
  readonly letter: string;
  readonly title: string;
}

/** With more permissions than this, a cell says how many are held instead of which. */
const MAX_LETTERS = 8;
const SMALL_WORDS = new Set(['A', 'AN', 'THE', 'OF', 'TO', 'IN', 'AND', 'ITS']);

/**
 * A letter for each permission that no other has: the first letter of one of its words, if one is left.
 */
export function marksOf(titles: readonly string[]): readonly Mark[] {
  const taken = new Set<string>();
  return titles.map((title, index) => {
    const words = title
      .toUpperCase()
      .split(/\W+/)
      .filter((word) => word !== '' && !SMALL_WORDS.has(word));
    const letters = [...words.map((word) => word.charAt(0)), ...words.join('')];
    const letter = letters.find((one) => !taken.has(one)) ?? String(index);
    taken.add(letter);
    return { letter, title };
  });
}

export interface Said {
  /** What stands in the cell. */
  readonly text: string;
  /** The same in words. */
  readonly words: string;
  readonly isHeld: boolean;
}

/** What a cell says. Equal cells are worked out once: there may be a hundred thousand. */
export function sayingOf(marks: readonly Mark[]): (cell: number) => Said {
  const known = new Map<number, Said>();
  return (cell) => {
    const found = known.get(cell) ?? say(marks, cell);
    known.set(cell, found);
    return found;
  };
}

function say(marks: readonly Mark[], cell: number): Said {
  const held = marks.filter((_, index) => has(cell, index));
  const words = held.length === 0 ? 'nothing' : held.map(({ title }) => title).join(', ');
  if (marks.length === 1) return { text: cell === 1 ? '✓' : '·', words: cell === 1 ? 'yes' : 'no', isHeld: cell === 1 };
  if (held.length === 0) return { text: '·', words, isHeld: false };
  // Each letter has its own place, so that a column can be read from top to bottom.
  const letters = marks.map(({ letter }, index) => (has(cell, index) ? letter : '·')).join('');
  const text = marks.length > MAX_LETTERS ? String(held.length) : letters;
  return { text, words, isHeld: true };
}

/** The first permission of a cell, or the first of all: what the page that says why is asked about. */
export function askedIn(cell: number, relations: readonly string[]): string {
  return relations.find((_, index) => has(cell, index)) ?? relations[0] ?? '';
}
