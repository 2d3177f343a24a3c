/** A pattern for what holds the text, whatever its letter case; the text itself holds no pattern. */
export function likeText(text: string): string {
  // No stored text holds a NUL, and a database does not take one.
  const plain = text.toLowerCase().replaceAll('\0', '\u{fffd}');
  return `%${plain.replace(/[\\%_]/g, '\\$&')}%`;
}
