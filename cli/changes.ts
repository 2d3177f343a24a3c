import { misuse } from './failure.ts';

/** Only the values that were given, so that everything else stays as it is. It is an error to give none. */
export function changesIn<T extends object>(changes: T, command: string): T {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) throw misuse(`nothing to change; run atrium ${command} --help`);
  return given as T;
}

export function wholeNumber(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text))
    throw misuse(`${option} must be a whole number, got ${JSON.stringify(text.slice(0, 40))}`);
  return Number(text);
}

/** A list is replaced as a whole. If it is not given, it stays as it is. */
export function listGiven(values: readonly string[]): readonly string[] | undefined {
  return values.length === 0 ? undefined : values.filter((value) => value !== '');
}
