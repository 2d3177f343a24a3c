/** A pattern for what holds the text, whatever its letter case; the text itself holds no pattern. */
export function likeText(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
