import { likeText } from './like-text.ts';

/** How long lists are counted: more hits than this are not told apart. */
export const MAX_COUNTED = 10_000;

/** A part of a name, as statements look for it. */
export interface SearchText {
  /** A LIKE pattern for what contains the text, whatever its letter case. */
  readonly contains: string;
  /** The same for what begins with it. */
  readonly begins: string;
  /** For an index of `search_pieces`, which finds what may contain it: a query of PostgreSQL's text search. */
  readonly pieces: string;
}

const PIECE = 3;

/** Wildcards in the text are plain characters. It must not be empty. */
export function searchText(text: string): SearchText {
  const contains = likeText(text);
  return { contains, begins: contains.slice(1), pieces: piecesOf([...text.toLowerCase()]) };
}

/** Cuts a text as the indexes of pieces do. A text that is shorter than a piece is the beginning of one. */
function piecesOf(characters: readonly string[]): string {
  if (characters.length < PIECE) return `${quoted(characters.join(''))}:*`;
  const starts = characters.slice(PIECE - 1).keys();
  const pieces = new Set([...starts].map((at) => characters.slice(at, at + PIECE).join('')));
  return [...pieces].map(quoted).join(' & ');
}

function quoted(piece: string): string {
  return `'${piece.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
