/** A LIKE pattern for what contains the text, whatever its letter case. Wildcards in the text are escaped. */
export function likeText(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
