/** ` (did you mean team?)`, if a known word is close to the typed one. */
export function didYouMean(typed: string, known: Iterable<string>): string {
  const near = nearest(typed, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}

export function nearest(typed: string, known: Iterable<string>): string | undefined {
  const word = typed.toLowerCase().slice(0, 60);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const one of known) {
    const other = one.toLowerCase();
    const far = word.length > 1 && other.startsWith(word) ? 1 : distance(word, other);
    if (far < least) [best, least] = [one, far];
  }
  return best;
}

/** How many characters have to be added, removed, changed or swapped with the next one. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : change;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change, swap));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
