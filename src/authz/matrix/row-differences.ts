import type { Row } from './cells.ts';

/** What a list of differences leaves out. */
export interface LeftOut {
  readonly users: number;
  readonly objects: number;
  /** The cells of the users who are left out, for the objects that are shown; undefined if no user is left out. */
  readonly common: Row | undefined;
}

interface Rows {
  readonly users: readonly string[];
  readonly objects: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * 1. An object is left out if all users hold the same on it.
 * 2. The users with the most common row are left out, if there are at least two of them, and more of them than of any
 *    other row. The remaining users differ from them on an object that is shown.
 */
export function differencesOf({ users, objects, rows }: Rows): Rows & { readonly leftOut: LeftOut } {
  const counts = new Map<string, number>();
  const keys = textsOf(rows);
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  const common = mostCommon(counts);
  const [first] = rows;
  const distinct = [...new Set(rows)];
  const places = objects.flatMap((_, place) => (distinct.some((row) => row[place] !== first?.[place]) ? [place] : []));
  const narrow = (row: Row) => places.map((place) => row[place] ?? 0);
  // Users who are alike share one row, and still do afterwards.
  const narrowed = new Map(distinct.map((row) => [row, narrow(row)]));
  const shown = users.flatMap((_, place) => (keys[place] === common ? [] : [place]));
  const commonRow = common === undefined ? undefined : rows[keys.indexOf(common)];
  return {
    users: shown.map((place) => users[place] ?? ''),
    objects: places.map((place) => objects[place] ?? ''),
    rows: shown.map((place) => narrowed.get(rows[place] ?? []) ?? []),
    leftOut: {
      users: users.length - shown.length,
      objects: objects.length - places.length,
      common: commonRow && narrowed.get(commonRow),
    },
  };
}

/** Rows of users who are not alike may be equal all the same. */
function textsOf(rows: readonly Row[]): string[] {
  const texts = new Map<Row, string>();
  return rows.map((row) => {
    const text = texts.get(row) ?? row.join();
    texts.set(row, text);
    return text;
  });
}

function mostCommon(counts: ReadonlyMap<string, number>): string | undefined {
  const [first, second] = [...counts].sort(([, one], [, other]) => other - one);
  return first && first[1] > Math.max(1, second?.[1] ?? 0) ? first[0] : undefined;
}
