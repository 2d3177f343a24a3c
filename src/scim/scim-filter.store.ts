import type { AttributePath } from './scim-attributes.ts';
import { type Comparison, type Filter, type FilterValue, wrong } from './scim-filter.ts';

/** How an attribute is found in a row. `exact` compares with regard to case. */
export interface Column {
  readonly sql: string;
  readonly type: 'text' | 'exact' | 'boolean' | 'time' | 'id';
}

/** A list of which one value must fulfil a condition. */
export interface ColumnList {
  /** `exists (select … where … and`; the condition and a bracket follow. */
  readonly exists: string;
  readonly columns: Columns;
}

/** By path in lower case, such as `name.givenname`. */
export type Columns = Readonly<Record<string, Column | ColumnList>>;

/** Puts a value among the parameters, and returns its place, such as `$3`. */
export type AddParameter = (value: unknown) => string;

const SYMBOLS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const;
const ID = /^\d{1,18}$/;
const TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * A filter as a condition of SQL. Names of attributes are looked up in a table, and values are parameters: no text of a
 * caller becomes text of the statement. No condition is ever null, so `not` is exact.
 */
export function filterCondition(filter: Filter, columns: Columns, place: AddParameter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.of.map((one) => filterCondition(one, columns, place)).join(` ${filter.kind} `)})`;
    case 'not':
      return `(not ${filterCondition(filter.of, columns, place)})`;
    case 'present':
      return inColumn(filter.path, columns, ({ sql }) => `(${sql} is not null)`);
    case 'compare':
      return inColumn(filter.path, columns, (column) => compare(column, filter.op, filter.value, place));
    case 'some': {
      const list = columnAt(columns, filter.path.name);
      if (!list || 'sql' in list || filter.path.sub !== undefined) throw unknown(filter.path);
      return `${list.exists} ${filterCondition(filter.of, list.columns, place)})`;
    }
  }
}

/** What rows are ordered by; undefined if they cannot be ordered by it. */
export function orderOf(path: AttributePath, columns: Columns): string | undefined {
  const column = columnAt(columns, nameOf(path));
  if (!column || !('sql' in column)) return undefined;
  return column.type === 'text' ? `lower(${column.sql}) collate "C"` : column.sql;
}

function inColumn(path: AttributePath, columns: Columns, condition: (column: Column) => string): string {
  const column = columnAt(columns, nameOf(path));
  if (column && 'sql' in column) return condition(column);
  // `emails eq "x"` and `emails.value eq "x"` mean that one of the values is.
  const list = columnAt(columns, path.name);
  if (!list || 'sql' in list) throw unknown(path);
  return `${list.exists} ${inColumn({ name: path.sub ?? 'value', sub: undefined }, list.columns, condition)})`;
}

function compare({ sql, type }: Column, op: Comparison, value: FilterValue, place: AddParameter): string {
  if (value === null) {
    if (op === 'eq') return `(${sql} is null)`;
    if (op === 'ne') return `(${sql} is not null)`;
    throw wrong(`null cannot be compared by ${op}`);
  }
  switch (type) {
    case 'boolean':
      return plainly(sql, op, `${place(readBoolean(value))}::boolean`);
    case 'time':
      return inOrder(sql, op, `${place(readTime(value))}::timestamptz`);
    case 'id':
      return compareIds(sql, op, String(value), place);
    case 'exact':
      return compareTexts(sql, op, `${place(String(value))}::text`);
    case 'text':
      return compareTexts(`lower(${sql})`, op, `lower(${place(String(value))}::text)`);
  }
}

/** An index finds an ID only if it is compared as a number. */
function compareIds(sql: string, op: Comparison, value: string, place: AddParameter): string {
  if (op !== 'eq') return compareTexts(`${sql}::text`, op, `${place(value)}::text`);
  return ID.test(value) ? `(${sql} = ${place(BigInt(value))}::bigint)` : 'false';
}

function compareTexts(sql: string, op: Comparison, value: string): string {
  switch (op) {
    case 'co':
      return `coalesce(position(${value} in ${sql}) > 0, false)`;
    case 'sw':
      return `coalesce(starts_with(${sql}, ${value}), false)`;
    case 'ew':
      return `coalesce(right(${sql}, length(${value})) = ${value}, false)`;
    default:
      return inOrder(`${sql} collate "C"`, op, value);
  }
}

function inOrder(sql: string, op: Comparison, value: string): string {
  const symbol = op in SYMBOLS ? SYMBOLS[op as keyof typeof SYMBOLS] : undefined;
  return symbol === undefined ? plainly(sql, op, value) : `coalesce(${sql} ${symbol} ${value}, false)`;
}

function plainly(sql: string, op: Comparison, value: string): string {
  if (op === 'eq') return `coalesce(${sql} = ${value}, false)`;
  if (op === 'ne') return `(${sql} is distinct from ${value})`;
  throw wrong(`the attribute cannot be compared by ${op}`);
}

function readBoolean(value: string | number | boolean): boolean {
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (text === 'true' || text === 'false') return text === 'true';
  throw wrong('the attribute is compared with true or false');
}

function readTime(value: string | number | boolean): Date {
  const time = typeof value === 'string' && TIME.test(value) ? new Date(value) : undefined;
  if (!time || Number.isNaN(time.getTime())) {
    throw wrong('the attribute is compared with a time such as "2026-01-31T12:00:00Z"');
  }
  return time;
}

/** Not what every object has, such as `constructor`. */
function columnAt(columns: Columns, name: string): Column | ColumnList | undefined {
  return Object.hasOwn(columns, name) ? columns[name] : undefined;
}

function nameOf({ name, sub }: AttributePath): string {
  return sub === undefined ? name : `${name}.${sub}`;
}

function unknown(path: AttributePath) {
  return wrong(`there is no attribute ${JSON.stringify(nameOf(path).slice(0, 60))} to filter by`);
}
