import { SHOWN } from '../../src/http/schemas.ts';

type Schema = Readonly<Record<string, unknown>>;

interface ShownSchema {
  readonly [SHOWN]: object;
  readonly description?: string;
}

/** Schemas as the documentation shows them: each named one once, and a reference to it wherever it occurs. */
export function publisher(describe: (name: string, schema: Schema) => object = (_name, schema) => schema) {
  const found = new Map<string, { readonly source: string; shown: unknown }>();
  return { publish, schemas };

  function publish(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(publish);
    if (SHOWN in value) return publish(shown(value as ShownSchema));
    const { title, ...schema } = value as Readonly<Record<string, unknown>>;
    if (typeof title !== 'string') return plain(value);
    note(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }

  function note(name: string, schema: object): void {
    const source = JSON.stringify(schema);
    const known = found.get(name);
    if (known && known.source !== source) throw new Error(`two schemas are called ${name}`);
    if (known) return;
    const entry = { source, shown: {} as unknown };
    found.set(name, entry);
    entry.shown = plain(schema);
  }

  /** Our own keyword for 64-bit numbers in a body is published as an ordinary type. */
  function plain(value: object): unknown {
    if ('int64' in value) return { type: 'integer', format: 'int64' };
    const whole = 'enum' in value && !('type' in value) ? { type: 'string', ...value } : value;
    const entries = Object.entries(whole).filter(([, part]) => part !== undefined);
    return Object.fromEntries(entries.map(([key, part]) => [key, publish(part)]));
  }

  function schemas(): Record<string, unknown> {
    const names = [...found.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, describe(name, found.get(name)?.shown as Schema)]));
  }
}

function shown({ [SHOWN]: shape, description }: ShownSchema): object {
  return description === undefined ? shape : { ...shape, description };
}
