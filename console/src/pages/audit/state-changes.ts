/** One field of an object, before and after a change; undefined if it was not there. */
export interface StateChange {
  readonly field: string;
  readonly old: string | undefined;
  readonly now: string | undefined;
}

/** What differs between two states of an audit entry, field by field. */
export function changesIn(before: unknown, after: unknown): readonly StateChange[] {
  const [one, other] = [fieldsOf(before), fieldsOf(after)];
  const fields = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return fields
    .map((field) => ({ field, old: textOf(one[field]), now: textOf(other[field]) }))
    .filter(({ old, now }) => old !== now);
}

function fieldsOf(state: unknown): Readonly<Record<string, unknown>> {
  return typeof state === 'object' && state !== null ? (state as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
}
