import type { ModelJson, TypeJson } from '../syntax.ts';
import type { Fault } from './model-faults.ts';

/** These rules and their wording are the language's. */
const TYPE_NAME = '^[^:#@\\*\\s]{1,254}$';
const RELATION_NAME = '^[^:#@\\*\\s]{1,50}$';
const RESERVED: ReadonlySet<string> = new Set(['self', 'this']);
const SCHEMAS: ReadonlySet<string> = new Set(['1.1', '1.2']);

export function* nameFaults(types: readonly TypeJson[]): IterableIterator<Fault> {
  for (const [type, { type: name, relations }] of types.entries()) {
    if (RESERVED.has(name)) yield { type, message: "a type cannot be named 'self' or 'this'." };
    if (!new RegExp(TYPE_NAME).test(name))
      yield { type, message: `type '${name}' does not match naming rule: '${TYPE_NAME}'.` };
    for (const relation of Object.keys(relations ?? {})) {
      if (RESERVED.has(relation)) yield { type, relation, message: "a relation cannot be named 'self' or 'this'." };
      if (!new RegExp(RELATION_NAME).test(relation)) {
        const message = `relation '${relation}' of type '${name}' does not match naming rule: '${RELATION_NAME}'.`;
        yield { type, relation, message };
      }
    }
  }
}

export function* repeatedTypeFaults(types: readonly TypeJson[]): IterableIterator<Fault> {
  const seen = new Set<string>();
  for (const [type, { type: name }] of types.entries()) {
    if (seen.has(name)) yield { type, message: `the type \`${name}\` is a duplicate.` };
    seen.add(name);
  }
}

export function* schemaFaults({ schema_version: version }: ModelJson): IterableIterator<Fault> {
  if (!version) yield { schema: true, message: 'schema version required' };
  else if (!SCHEMAS.has(version)) yield { schema: true, message: `invalid schema ${version}` };
}

/** A file of a modular model belongs to one module. */
export function* moduleFaults({ type_definitions: types, conditions }: ModelJson): IterableIterator<Fault> {
  const modules = new Map<string, Set<string>>();
  const note = (file?: string, module?: string): void => {
    if (file && module) modules.set(file, (modules.get(file) ?? new Set()).add(module));
  };
  for (const { relations, metadata } of types) {
    note(metadata?.source_info?.file, metadata?.module);
    for (const relation of Object.keys(relations ?? {})) {
      const own = metadata?.relations?.[relation];
      note(own?.source_info?.file || metadata?.source_info?.file, own?.module || metadata?.module);
    }
  }
  for (const { metadata } of Object.values(conditions ?? {})) note(metadata?.source_info?.file, metadata?.module);
  for (const [file, names] of modules) {
    const listed = [...names].join(', ');
    if (names.size > 1) {
      const message = `file ${file} would contain multiple module definitions (${listed}) when transforming to DSL. Only one module can be defined per file.`;
      yield { message };
    }
  }
}
