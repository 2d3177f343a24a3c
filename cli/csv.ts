/** A spreadsheet takes a cell that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const SPECIAL = /[",\r\n]/;

/** A table as CSV (RFC 4180), with a line of titles. */
export function writeCsv<Row>(rows: readonly Row[], columns: Readonly<Record<string, (row: Row) => unknown>>): string {
  const lines = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((show) => show(row)))];
  return `${lines.map((line) => line.map(field).join()).join('\r\n')}\r\n`;
}

/** An apostrophe in front makes a spreadsheet show the text as it is. */
function field(value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
