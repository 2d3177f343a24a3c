import { SHOWN } from '../schemas.ts';

interface ShownSchema {
  readonly [SHOWN]: object;
  readonly description?: string;
}

/**
 * Schemas as the documentation shows them: each named one once, and a reference to it wherever it occurs. Objects inside
 * a named one get names, too, because generators call what has none `MemberTeamsInner`.
 */
export function publisher() {
  const found = new Map<string, { readonly source: string; shown: unknown }>();
  const inner = new Map<string, string>();
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
    entry.shown = plain(withNames(name, schema));
  }

  /** The same object below the same property of two schemas, such as a short and a long form, has one name. */
  function withNames(name: string, schema: { readonly properties?: Readonly<Record<string, Inline>> }): object {
    const entries = Object.entries(schema.properties ?? {}).map(([key, value]) => {
      const { items } = value;
      if (items && isUnnamed(items)) return [key, { ...value, items: titled(name, singular(key), items) }];
      return [key, isUnnamed(value) ? titled(name, key, value) : value];
    });
    return entries.length === 0 ? schema : { ...schema, properties: Object.fromEntries(entries) };
  }

  function titled(name: string, key: string, schema: Inline): Inline {
    const identity = JSON.stringify([key, schema]);
    const title = inner.get(identity) ?? `${name}${pascal(key)}`;
    inner.set(identity, title);
    return { ...schema, title };
  }

  /** Our own keyword for 64-bit numbers in a body is published as an ordinary type. */
  function plain(value: object): unknown {
    if ('int64' in value) return { type: 'integer', format: 'int64', minimum: 0 };
    if (isOpen(value)) return plain({ ...value, properties: undefined, additionalProperties: true });
    const entries = Object.entries(value).filter(([, part]) => part !== undefined);
    return Object.fromEntries(entries.map(([key, part]) => [key, publish(part)]));
  }

  function schemas(): Record<string, unknown> {
    const names = [...found.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, found.get(name)?.shown]));
  }
}

interface Inline {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly properties?: object;
  readonly items?: Inline;
}

function isUnnamed(schema: Inline): boolean {
  return (
    schema.type === 'object' &&
    schema.title === undefined &&
    !(SHOWN in schema) &&
    Object.keys(schema.properties ?? {}).length > 0
  );
}

/** An object of any form. With an empty list of properties, generators would create a class without fields. */
function isOpen({ type, properties }: Inline): boolean {
  return [type].flat().includes('object') && properties !== undefined && Object.keys(properties).length === 0;
}

/** `last_change` is LastChange, `basicInfo` is BasicInfo. */
function pascal(key: string): string {
  return key.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function singular(word: string): string {
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/([^s])s$/, '$1');
}

function shown({ [SHOWN]: shape, description }: ShownSchema): object {
  return description === undefined ? shape : { ...shape, description };
}
