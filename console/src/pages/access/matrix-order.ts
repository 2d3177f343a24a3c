import type { Answer } from '../../../../client/client.ts';

export type Matrix = Answer<'POST /authz/matrix'>;

const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** The rows in another order: people by name, or those who may do most first. */
export function ordered(matrix: Matrix, order: 'name' | 'rights'): Matrix {
  const { users, cells } = matrix;
  const rights = cells.map((row) => row.reduce((sum, cell) => sum + bitsIn(cell), 0));
  const places = users
    .map((_, place) => place)
    .sort((one, other) => {
      const more = order === 'rights' ? (rights[other] ?? 0) - (rights[one] ?? 0) : 0;
      return more || byName.compare(users[one]?.name ?? '', users[other]?.name ?? '');
    });
  return {
    ...matrix,
    users: places.flatMap((place) => users[place] ?? []),
    cells: places.map((place) => cells[place] ?? []),
  };
}

/** What each of two people has that the other has not, by the places of the permissions. */
export function compared({ cells, relations }: Matrix): readonly [readonly number[], readonly number[]] {
  const [one = [], other = []] = cells;
  const more = (mine: readonly number[], theirs: readonly number[]) =>
    relations
      .map((_, bit) => bit)
      .filter((bit) => mine.some((cell, at) => has(cell, bit) && !has(theirs[at] ?? 0, bit)));
  return [more(one, other), more(other, one)];
}

/** There may be more permissions than a bit operation has bits. */
export function has(cell: number, bit: number): boolean {
  return Math.floor(cell / 2 ** bit) % 2 === 1;
}

function bitsIn(cell: number): number {
  let count = 0;
  for (let rest = cell; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}
