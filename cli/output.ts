import { writeJson } from '../client/json.ts';
import { misuse } from './failure.ts';
import { didYouMean } from './suggest.ts';
import { type Cell, layFields, layTable } from './table.ts';
import { escaped, plain } from './text.ts';

/** How a result is printed. */
export type Format = 'text' | 'wide' | 'name' | 'json' | 'yaml' | 'csv';

/** What a command prints: a table or lines for users, the data itself for scripts. */
export interface Shown {
  /** For --json and --yaml, which print nothing if it is absent. */
  readonly data?: unknown;
  lay(style: Style): readonly string[];
  /** For -o name, if the data does not say it. */
  readonly names?: readonly string[];
  /** For -o csv. */
  readonly csv?: string;
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
  // A value that is shown only once must not get lost.
  return { data, lay: () => [text], names: [text] };
}

type Row = Readonly<Record<string, unknown>>;

/** The name of each thing in the result, or its ID. */
export function namesIn({ data, names }: Shown): string[] {
  if (names !== undefined) return [...names];
  return rowsIn(data).map((row) => {
    const name = row.name ?? row.login ?? row.username ?? row.email ?? row.id ?? '';
    return plain(typeof name === 'object' ? asJson(name) : String(name));
  });
}

/** Only these fields of each thing; a dot leads into an object. */
export function pickFields(data: unknown, fields: readonly string[]): unknown {
  const rows = rowsIn(data);
  for (const field of rows.length === 0 ? [] : fields) {
    if (rows.some((row) => (field.split('.')[0] as string) in row)) continue;
    const known = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    throw misuse(
      `there is no field ${JSON.stringify(field)}${didYouMean(field, known)}; use some of ${known.join(', ')}`,
    );
  }
  const picked = rows.map((row) => Object.fromEntries(fields.map((field) => [field, at(row, field)])));
  return Array.isArray(data) ? picked : picked[0];
}

function at(row: Row, field: string): unknown {
  return field.split('.').reduce<unknown>((value, key) => (isRow(value) ? value[key] : undefined), row) ?? null;
}

function rowsIn(data: unknown): Row[] {
  return (Array.isArray(data) ? data : [data]).filter(isRow);
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value);
}

function cell(title: string, value: Text | readonly string[]): Cell {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (typeof value === 'boolean') return { title, text: value ? 'yes' : 'no', right: false };
  return { title, text: Array.isArray(value) ? value.join(', ') : String(value ?? ''), right: isNumber };
}

export function asJson(data: unknown, indent = 2): string {
  // These characters are legal in JSON, but some terminals interpret them.
  return writeJson(data, indent).replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, escaped);
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
