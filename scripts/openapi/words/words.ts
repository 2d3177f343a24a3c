import { parameterWords } from './parameter-words.ts';
import { PROPERTY_WORDS } from './property-words.ts';
import { SAME_PROPERTIES, SCHEMA_WORDS } from './schema-words.ts';

type Schema = Readonly<Record<string, unknown>>;

const PARTS = ['anyOf', 'oneOf', 'allOf'];
/** Objects of counters: the name of each is the state that it counts. */
const COUNTERS = /\.(by_phase|deliveries|installers|subscriptions|events)\.\w+$/;

/**
 * Describes the schemas, properties and parameters that do not describe themselves where they are declared. Whatever
 * nothing says a word about stops the generation, and so does a text that nothing needs.
 */
export function createWords() {
  const used = new Set<string>();
  const missing: string[] = [];
  return { schema, parameter, requireComplete };

  function schema(name: string, value: Schema): Schema {
    const described = inside(name, name, value);
    if ('description' in described) return described;
    const text = take(SCHEMA_WORDS, name);
    if (text === undefined) missing.push(`schema ${name}`);
    return { description: text, ...described };
  }

  /** `place` leads from the named schema to this part of it. */
  function inside(name: string, place: string, value: Schema): Schema {
    const entries = Object.entries(value).map(([key, part]) => {
      if (key === 'properties') return [key, properties(name, place, part as Record<string, Schema>)];
      if (key === 'items') return [key, inside(name, `${place}[]`, part as Schema)];
      if (PARTS.includes(key)) return [key, (part as readonly Schema[]).map((one) => inside(name, place, one))];
      return [key, part];
    });
    return Object.fromEntries(entries) as Schema;
  }

  function properties(name: string, place: string, all: Readonly<Record<string, Schema>>): Record<string, Schema> {
    const entries = Object.entries(all).map(([key, value]) => {
      const here = `${place}.${key}`;
      const described = inside(name, here, value);
      // What is referred to describes itself.
      if ('$ref' in value || 'description' in value) return [key, described];
      const text = propertyText(name, here.slice(name.length), key);
      if (text === undefined) missing.push(`property ${here}`);
      return [key, { ...described, description: text }];
    });
    return Object.fromEntries(entries) as Record<string, Schema>;
  }

  function propertyText(name: string, rest: string, key: string): string | undefined {
    for (let owner: string | undefined = name; owner !== undefined; owner = SAME_PROPERTIES[owner]) {
      const own = take(PROPERTY_WORDS, `${owner}${rest}`);
      if (own !== undefined) return own;
    }
    if (COUNTERS.test(`${name}${rest}`)) return `How many are ${key}.`;
    return take(PROPERTY_WORDS, `*.${key}`);
  }

  function parameter(operation: string, path: string, place: string, name: string): string | undefined {
    const text = parameterWords(operation, path, place, name);
    if (text === undefined) missing.push(`parameter ${name} of ${operation}`);
    return text;
  }

  function take(words: Readonly<Record<string, string>>, key: string): string | undefined {
    used.add(key);
    return words[key];
  }

  function requireComplete(): void {
    if (missing.length > 0) throw new Error(`scripts/openapi/words/ says nothing about: ${missing.join(', ')}`);
    const unused = [...Object.keys(SCHEMA_WORDS), ...Object.keys(PROPERTY_WORDS)].filter((key) => !used.has(key));
    if (unused.length > 0) throw new Error(`scripts/openapi/words/ describes what is not there: ${unused.join(', ')}`);
  }
}
