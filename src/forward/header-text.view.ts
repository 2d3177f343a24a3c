const MAX_LENGTH = 1000;
/** Printable ASCII, without the character that begins an encoded one. */
const PLAIN = /^[\x20-\x24\x26-\x7e]$/;

/** A text as the value of a header: names hold any letters, and no letter may end the line. */
export function headerText(text: string): string {
  let value = '';
  for (const letter of text.toWellFormed()) {
    const next = PLAIN.test(letter) ? letter : encodeURIComponent(letter);
    if (value.length + next.length > MAX_LENGTH) break;
    value += next;
  }
  // Spaces at the end are no part of a value.
  return value.trim();
}
