import { writeJson } from '../client/json.ts';
import { type Cell, layFields, layTable } from './table.ts';
import { escaped, plain } from './text.ts';

/** What a command has to show: for people as a table or lines, for scripts the data itself. */
export interface Shown {
  /** For --json and --yaml; without it those say nothing. */
  readonly data?: unknown;
  lay(style: Style): readonly string[];
  readonly exit?: number;
}

export interface Style {
  /** Columns of the terminal; undefined when it is none. */
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

/** `{ name: (row) => row.name, … }`; numbers stand to the right. */
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

/** Lines that are shown as they are, such as a token that is wanted alone. */
export function verbatim(text: string, data?: unknown): Shown {
  return { data, lay: () => [text] };
}

function cell(title: string, value: Text | readonly string[]): Cell {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (typeof value === 'boolean') return { title, text: value ? 'yes' : 'no', right: false };
  return { title, text: Array.isArray(value) ? value.join(', ') : String(value ?? ''), right: isNumber };
}

export function asJson(data: unknown): string {
  // These letters are legal in JSON, but some terminals obey them.
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
