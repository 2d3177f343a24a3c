/** A spreadsheet takes a cell that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const SPECIAL = /[",\r\n]/;

/** A line of CSV (RFC 4180), without its end. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(csvField).join();
}

/** An apostrophe in front makes a spreadsheet show the text as it is. */
export function csvField(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
