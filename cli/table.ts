import { cut, plain, widthOf } from './text.ts';

export interface Cell {
  readonly title: string;
  readonly text: string;
  readonly right: boolean;
}

const GAP = 2;
const NARROWEST = 8;

/** Aligned lines, no wider than `most` if there is a terminal that would wrap them. */
export function layTable(rows: readonly (readonly Cell[])[], most: number | undefined, head: (text: string) => string) {
  const [first = []] = rows;
  const lines = rows.map((row) => row.map((cell) => plain(cell.text)));
  const titles = first.map(({ title }) => title);
  const widths = titles.map((title, place) =>
    lines.reduce((width, line) => Math.max(width, widthOf(line[place] ?? '')), widthOf(title)),
  );
  if (most !== undefined) shrink(widths, most - GAP * (widths.length - 1));
  const lay = (texts: readonly string[]) =>
    texts
      .map((text, place) => pad(cut(text, widths[place] ?? 0), widths[place] ?? 0, first[place]?.right ?? false))
      .join(' '.repeat(GAP))
      .trimEnd();
  return [head(lay(titles)), ...lines.map(lay)];
}

/** `name: value` on each line, with the values aligned. */
export function layFields(cells: readonly Cell[], name: (text: string) => string): string[] {
  const width = Math.max(...cells.map(({ title }) => title.length)) + 1;
  return cells.map(({ title, text }) => {
    const lines = text.split('\n').map(plain);
    return `${name(`${title}:`.padEnd(width))} ${lines.join(`\n${' '.repeat(width + 1)}`)}`.trimEnd();
  });
}

/** Shrinks the widest columns first. */
function shrink(widths: number[], most: number): void {
  for (let over = widths.reduce((sum, width) => sum + width, 0) - most; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= NARROWEST) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? space + text : text + space;
}
