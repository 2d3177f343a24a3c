/** JSON for people to read. Numbers beyond 2^53 keep all their digits. */
export function jsonText(value: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? rawJSON(String(item)) : item), 2);
}
