import { type Condition, compileConditions } from './conditions/condition.ts';
import { type ClosureTables, markClosable } from './model-closable.ts';
import type { Kind, RelationDef, Rewrite, TypeDef } from './model-types.ts';
import { createPlanTable, type PlanTable } from './plan.ts';
import { RebacError } from './rebac-error.ts';
import {
  type ModelJson,
  type ModuleFile,
  parseModules,
  parseSyntax,
  type RewriteJson,
  type TypeJson,
} from './syntax.ts';
import { locateInFiles, locateInText } from './validation/model-source.ts';
import { validateModel } from './validation/model-validation.ts';

export interface Model extends ClosureTables {
  readonly json: ModelJson;
  readonly types: readonly TypeDef[];
  readonly typeIndex: ReadonlyMap<string, TypeDef>;
  /** Kinds 0..n-1 are the objects of the n types, n..2n-1 their wildcards, then come the usersets. */
  readonly kinds: readonly Kind[];
  readonly conditions: ReadonlyMap<string, Condition>;
  readonly plans: PlanTable;
}

/** Reads `.fga` text: parses, validates and compiles it. Throws a RebacError that names each line and its fault. */
export async function readModel(text: string): Promise<Model> {
  const json = await parseSyntax(text);
  validateModel(json, locateInText(text));
  return compileModel(json);
}

/** Reads the module files that an `fga.mod` names. */
export async function readModules(files: readonly ModuleFile[], schemaVersion = '1.2'): Promise<Model> {
  const json = await parseModules(files, schemaVersion);
  validateModel(json, locateInFiles(files));
  return compileModel(json);
}

/** Reads a model in its JSON form. Throws a RebacError that names each type, relation or condition and its fault. */
export async function readModelJson(json: ModelJson): Promise<Model> {
  validateModel(json);
  return compileModel({ ...json, type_definitions: json.type_definitions ?? [] });
}

async function compileModel(json: ModelJson): Promise<Model> {
  const conditions = await compileConditions(Object.values(json.conditions ?? {}));
  const types = typeTable(json.type_definitions);
  const typeIndex = new Map(types.map((type) => [type.name, type]));
  const kinds: Kind[] = [
    ...types.map((type) => ({ type, relation: undefined, wildcard: false })),
    ...types.map((type) => ({ type, relation: undefined, wildcard: true })),
    ...types.flatMap((type) =>
      [...type.relationIndex.values()].map((relation) => ({ type, relation, wildcard: false })),
    ),
  ];
  for (const type of types) fillRelations(type, json.type_definitions[type.index] as TypeJson, typeIndex);
  const tables = markClosable(types, kinds);
  return { json, types, typeIndex, kinds, conditions, ...tables, plans: createPlanTable(tables.guarded) };
}

interface OpenType extends TypeDef {
  readonly relations: RelationDef[];
  readonly tuplesets: Set<number>;
}

function typeTable(all: readonly TypeJson[]): OpenType[] {
  let firstUserset = all.length * 2;
  return all.map((json, index) => {
    const names = Object.keys(json.relations ?? {});
    const relationIndex = new Map(names.map((name, position) => [name, position]));
    const type = { name: json.type, index, relations: [], relationIndex, firstUserset, tuplesets: new Set<number>() };
    firstUserset += names.length;
    return type;
  });
}

function fillRelations(type: OpenType, json: TypeJson, types: ReadonlyMap<string, TypeDef>): void {
  for (const [name, index] of type.relationIndex) {
    const admits = new Map<number, Set<string | undefined>>();
    for (const restriction of json.metadata?.relations?.[name]?.directly_related_user_types ?? []) {
      const subject = types.get(restriction.type);
      if (subject === undefined) throw new RebacError('invalidModel', `type ${restriction.type} does not exist`);
      let kind = restriction.wildcard ? types.size + subject.index : subject.index;
      if (restriction.relation) kind = subject.firstUserset + relationOf(subject, restriction.relation);
      const conditions = admits.get(kind) ?? new Set();
      admits.set(kind, conditions.add(restriction.condition || undefined));
    }
    const rewrite = readRewrite(type, json.relations?.[name] ?? {});
    type.relations.push({ name, index, rewrite, admits });
  }
}

function readRewrite(type: OpenType, json: RewriteJson): Rewrite {
  if (json.computedUserset) return { op: 'computed', relation: relationOf(type, json.computedUserset.relation) };
  if (json.tupleToUserset) {
    const tupleset = relationOf(type, json.tupleToUserset.tupleset?.relation);
    type.tuplesets.add(tupleset);
    return { op: 'parent', tupleset, relation: json.tupleToUserset.computedUserset?.relation ?? '' };
  }
  if (json.union) return { op: 'or', of: (json.union.child ?? []).map((child) => readRewrite(type, child)) };
  if (json.intersection)
    return { op: 'and', of: (json.intersection.child ?? []).map((child) => readRewrite(type, child)) };
  if (json.difference) {
    const { base = {}, subtract = {} } = json.difference;
    return { op: 'not', base: readRewrite(type, base), subtract: readRewrite(type, subtract) };
  }
  return { op: 'this' };
}

function relationOf(type: TypeDef, name = ''): number {
  const index = type.relationIndex.get(name);
  if (index === undefined) throw new RebacError('invalidModel', `type ${type.name} has no relation ${name}`);
  return index;
}
