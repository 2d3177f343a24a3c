import { isDateTime } from '../roles/assignment-entry.ts';

type Fields = Readonly<Record<string, unknown>>;
type Fault = (field: string, message: string) => void;

export type FieldReader = ReturnType<typeof createFieldReader>;

/** Reads parsed JSON or YAML, and tells of everything that is wrong with it and where. */
export function createFieldReader(fault: Fault) {
  return { fault, fields: fieldsOf, only, entry, text, texts, flag, id, end };

  function only(fields: Fields, path: string, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (known.includes(key)) continue;
      fault(`${path}${key.slice(0, 100)}`, `is not a known field; known fields are ${known.join(', ')}`);
    }
  }

  function entry(given: unknown, path: string, known: readonly string[], what = 'a mapping'): Fields {
    const fields = fieldsOf(given);
    if (!fields) fault(path, `must be ${what}`);
    only(fields ?? {}, `${path}.`, known);
    return fields ?? {};
  }

  function text(fields: Fields, path: string, key: string): string | undefined {
    const found = fields[key] ?? undefined;
    if (found === undefined || typeof found === 'string') return found;
    fault(`${path}${key}`, 'must be a string');
    return '';
  }

  function texts(fields: Fields, path: string, key: string): readonly string[] | undefined {
    const found = fields[key] ?? undefined;
    if (found === undefined) return undefined;
    if (Array.isArray(found) && found.every((one) => typeof one === 'string')) return found;
    fault(`${path}.${key}`, 'must be a list of strings');
    return undefined;
  }

  function flag(fields: Fields, path: string, key: string): boolean | undefined {
    const found = fields[key] ?? undefined;
    if (found === undefined || typeof found === 'boolean') return found;
    fault(`${path}.${key}`, 'must be true or false');
    return false;
  }

  function id(fields: Fields, path: string): bigint | undefined {
    const found = fields.id ?? undefined;
    if (found === undefined) return undefined;
    if (typeof found === 'bigint' || (Number.isSafeInteger(found) && Number(found) > 0)) return BigInt(found as number);
    fault(`${path}.id`, 'must be an ID');
    return undefined;
  }

  function end(fields: Fields, path: string): string | null | undefined {
    const found = fields.expires_at;
    if (found === undefined || found === null || isDateTime(found)) return found;
    fault(`${path}.expires_at`, 'must be a date-time or null');
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
