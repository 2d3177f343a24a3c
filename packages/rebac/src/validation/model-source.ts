import type { ModuleFile } from '../syntax.ts';

/** What a fault is about. A type is named by its position in the model, because its name may be a duplicate. */
export interface ModelPart {
  readonly type?: number;
  readonly relation?: string;
  readonly condition?: string;
  readonly schema?: true;
}

/** Says where in the text of a model something is, as the beginning of a message. `undefined` if it is not there. */
export type Locate = (place: ModelPart & { readonly typeName?: string }) => string | undefined;

const TYPE = /^\s*(?:extend\s+)?type\s+([^\s#]+)/;
const RELATION = /^\s*define\s+([^\s:]+)\s*:/;
const CONDITION = /^\s*condition\s+([^\s(]+)/;
const SCHEMA = /^\s*schema\b/;

interface Index {
  schema: number | undefined;
  /** By type name: the lines of its blocks, each with the lines of its relations. */
  readonly types: Map<string, { readonly line: number; readonly relations: Map<string, number> }[]>;
  readonly conditions: Map<string, number>;
}

/** The lines of one text. */
export function locateInText(text: string): Locate {
  const index = indexOf(text);
  return (place) => {
    const line = lineOf(index, place);
    return line === undefined ? undefined : `line ${line}: `;
  };
}

/** The file and line in the files of a modular model. */
export function locateInFiles(files: readonly ModuleFile[]): Locate {
  const indexes = files.map(({ name, contents }) => ({ name, index: indexOf(contents) }));
  return (place) => {
    for (const { name, index } of indexes) {
      const line = lineOf(index, place);
      if (line !== undefined) return `${name} line ${line}: `;
    }
    return;
  };
}

function indexOf(text: string): Index {
  const index: Index = { schema: undefined, types: new Map(), conditions: new Map() };
  let relations: Map<string, number> | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const [, condition] = CONDITION.exec(line) ?? [];
    if (condition !== undefined && !index.conditions.has(condition)) index.conditions.set(condition, at + 1);
    // Conditions come last, and their expressions may look like anything.
    if (index.conditions.size > 0) continue;
    if (index.schema === undefined && SCHEMA.test(line)) index.schema = at + 1;
    const [, type] = TYPE.exec(line) ?? [];
    if (type !== undefined) {
      relations = new Map();
      index.types.set(type, [...(index.types.get(type) ?? []), { line: at + 1, relations }]);
    }
    const [, relation] = RELATION.exec(line) ?? [];
    if (relation !== undefined && relations?.has(relation) === false) relations.set(relation, at + 1);
  }
  return index;
}

function lineOf(index: Index, { schema, condition, typeName, relation }: Parameters<Locate>[0]): number | undefined {
  if (schema) return index.schema ?? 1;
  if (condition !== undefined) return index.conditions.get(condition);
  const blocks = index.types.get(typeName ?? '') ?? [];
  if (relation === undefined) return blocks[0]?.line;
  return blocks.find(({ relations }) => relations.has(relation))?.relations.get(relation);
}
