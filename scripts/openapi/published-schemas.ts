import { SHOWN } from '../../src/http/wire/schemas.ts';

type Schema = Readonly<Record<string, unknown>>;

type Describe = (name: string, schema: Schema) => object;

interface ShownSchema {
  readonly [SHOWN]: object;
  readonly description?: string;
}

/**
 * Schemas as the documentation shows them: each named one once, and a reference to it wherever it occurs. Objects inside
 * a named one get names, too, because generators call what has none `MemberTeamsInner`.
 */
export function publisher(describe: Describe = (_name, schema) => schema) {
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
    if ('int64' in value) return { type: 'integer', format: 'int64', minimum: 0 };
    if (isOpen(value)) return plain({ ...value, properties: undefined, additionalProperties: true });
    const whole = 'enum' in value && !('type' in value) ? { type: 'string', ...value } : value;
    const entries = Object.entries(withConstants(whole)).filter(([, part]) => part !== undefined);
    return Object.fromEntries(entries.map(([key, part]) => [key, publish(part)]));
  }

  function schemas(): Record<string, unknown> {
    const described = [...found].map(([name, { shown }]) => [name, describe(name, shown as Schema)] as const);
    return Object.fromEntries([...nameInner(described, describe)].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/** The same object below the same property of two schemas, such as a short and a long form, has one name. */
function nameInner(schemas: readonly (readonly [string, Inline])[], describe: Describe): ReadonlyMap<string, unknown> {
  const all = new Map<string, unknown>(schemas);
  const inner = new Map<string, string>();
  for (const [name, schema] of [...schemas].sort(([one], [other]) => (one < other ? -1 : 1))) {
    all.set(name, withNames(name, schema));
  }
  return all;

  function withNames(name: string, schema: Inline): Inline {
    const entries = Object.entries(schema.properties ?? {}).map(([key, value]) => {
      const { items } = value;
      if (items && isUnnamed(items)) return [key, { ...value, items: named(name, singular(key), items) }];
      return [key, isUnnamed(value) ? named(name, key, value) : value];
    });
    return entries.length === 0 ? schema : { ...schema, properties: Object.fromEntries(entries) };
  }

  function named(name: string, key: string, schema: Inline): object {
    const identity = JSON.stringify([key, schema]);
    const title = inner.get(identity) ?? `${name}${pascal(key)}`;
    if (!inner.has(identity)) {
      if (all.has(title)) throw new Error(`two schemas are called ${title}`);
      inner.set(identity, title);
      // An item of a list has no description yet: the list has one.
      all.set(title, withNames(title, 'description' in schema ? schema : describe(title, schema as Schema)));
    }
    return { $ref: `#/components/schemas/${title}` };
  }
}

interface Inline {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Inline>>;
  readonly items?: Inline;
}

function isUnnamed({ type, properties }: Inline): boolean {
  return type === 'object' && Object.keys(properties ?? {}).length > 0;
}

/** An object of any form. With an empty list of properties, generators would create a class without fields. */
function isOpen({ type, properties }: Inline): boolean {
  return [type].flat().includes('object') && properties !== undefined && Object.keys(properties).length === 0;
}

/** Generated Go has a constant for each value, in one namespace with the types that every client has. */
const TAKEN = 'client';

function withConstants(schema: { readonly enum?: unknown }): object {
  if (!Array.isArray(schema.enum) || !schema.enum.includes(TAKEN)) return schema;
  const names = schema.enum.map((value) => pascal(value === TAKEN ? `${TAKEN}_value` : String(value)));
  return { ...schema, 'x-enum-varnames': names };
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
