import { writeJson } from '../client/json.ts';
import { type Cell, layFields, layTable } from './table.ts';
import { escaped, plain } from './text.ts';

/** What a command prints: a table or lines for users, the data itself for scripts. */
export interface Shown {
  /** For --json and --yaml, which print nothing if it is absent. */
  readonly data?: unknown;
  lay(style: Style): readonly string[];
  readonly exit?: number;
}

export interface Style {
  /** Columns of the terminal; undefined if the output is not a terminal. */
  readonly width: number | undefined;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

type Text = string | number | bigint | boolean | null | undefined;
export interface Column<Row> {
  readonly title: string;
  readonly right?: boolean;
  show(row: Row): Text | readonly string[];
}

/** `{ name: (row) => row.name, … }`. Numbers are right-aligned. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Text | readonly string[]>>;

export function list<Row>(rows: readonly Row[], columns: Columns<Row>, none: string): Shown {
  return {
    data: rows,
    lay: (style) => (rows.length === 0 ? [style.dim(none)] : layTable(rows.map(cells), style.width, style.bold)),
  };

  function cells(row: Row): Cell[] {
    return Object.entries(columns).map(([title, show]) => cell(title.toUpperCase(), show(row)));
  }
}

export function one<Row>(row: Row, columns: Columns<Row>): Shown {
  const filled = Object.entries(columns).map(([title, show]) => cell(title, show(row)));
  return { data: row, lay: (style) => layFields(filled, style.bold) };
}

/** A sentence about what was done. */
export function said(text: string, data?: unknown): Shown {
  return { data, lay: () => [plain(text)] };
}

/** A text that is printed as it is, such as a token on its own. */
export function verbatim(text: string, data?: unknown): Shown {
  return { data, lay: () => [text] };
}

function cell(title: string, value: Text | readonly string[]): Cell {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (typeof value === 'boolean') return { title, text: value ? 'yes' : 'no', right: false };
  return { title, text: Array.isArray(value) ? value.join(', ') : String(value ?? ''), right: isNumber };
}

export function asJson(data: unknown): string {
  // These characters are legal in JSON, but some terminals interpret them.
  return writeJson(data, 2).replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, escaped);
}

export async function asYaml(data: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  const exactNumber = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    test: /^(?!)/,
    identify: (value: unknown) => JSON.isRawJSON(value),
    stringify: ({ value }: { value: unknown }) => (value as { rawJSON: string }).rawJSON,
    resolve: (text: string) => Number(text),
  };
  return stringify(data, { customTags: [exactNumber], lineWidth: 0 }).trimEnd();
}
