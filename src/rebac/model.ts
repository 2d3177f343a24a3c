import { type Condition, compileConditions } from './condition.ts';
import { RebacError } from './errors.ts';
import { markClosable } from './model-closable.ts';
import { createPlanTable, type PlanTable } from './plan.ts';
import { type ModelJson, type ModuleFile, parseModules, parseText, type RewriteJson, type TypeJson } from './syntax.ts';

/** The right side of a `define`, with relations as their index within the type. */
export type Rewrite =
  | { readonly op: 'this' }
  | { readonly op: 'computed'; readonly relation: number }
  | { readonly op: 'parent'; readonly tupleset: number; readonly relation: string }
  | { readonly op: 'or' | 'and'; readonly of: readonly Rewrite[] }
  | { readonly op: 'not'; readonly base: Rewrite; readonly subtract: Rewrite };

export interface RelationDef {
  readonly name: string;
  readonly index: number;
  readonly rewrite: Rewrite;
  /** Which kinds of subject may be assigned directly, and under which conditions (`undefined` is none). */
  readonly admits: ReadonlyMap<number, ReadonlySet<string | undefined>>;
}

export interface TypeDef {
  readonly name: string;
  readonly index: number;
  /** In the order in which the model defines them. */
  readonly relations: readonly RelationDef[];
  readonly relationIndex: ReadonlyMap<string, number>;
  /** The kind number of the userset of this type's first relation. */
  readonly firstUserset: number;
  /** Relations that some `x from y` of this type reads as y. */
  readonly tuplesets: ReadonlySet<number>;
}

/** What a subject kind number stands for: an object of a type, everybody of a type, or a userset. */
export interface Kind {
  readonly type: TypeDef;
  readonly relation: number | undefined;
  readonly wildcard: boolean;
}

export interface Model {
  readonly json: ModelJson;
  readonly types: readonly TypeDef[];
  readonly typeIndex: ReadonlyMap<string, TypeDef>;
  /** Kinds 0..n-1 are the objects of the n types, n..2n-1 their wildcards, then come the usersets. */
  readonly kinds: readonly Kind[];
  readonly conditions: ReadonlyMap<string, Condition>;
  /** By userset kind: the caller's closure finds its members exactly, so that no walk need open it. */
  readonly closable: Uint8Array;
  /** By userset kind that is closable: the relations of its object that are part of it. */
  readonly within: readonly (Uint8Array | undefined)[];
  /** By type: some closable userset of it can be a subject, so that the closure must look at its objects. */
  readonly inClosure: Uint8Array;
  /** By type × kind count + kind: a walk over an object must visit such edges itself. */
  readonly linked: Uint8Array;
  /** By type × kind count + kind: some relation of the type admits the kind at all. */
  readonly admitted: Uint8Array;
  readonly plans: PlanTable;
}

/** Reads `.fga` text: parsed, validated, compiled. Throws a RebacError naming each line and its fault. */
export async function readModel(text: string): Promise<Model> {
  return compileModel(await parseText(text));
}

/** Reads the module files that an `fga.mod` names. */
export async function readModules(files: readonly ModuleFile[], schemaVersion = '1.2'): Promise<Model> {
  return compileModel(await parseModules(files, schemaVersion));
}

/** The JSON must be one that the language's validator let pass. */
export async function compileModel(json: ModelJson): Promise<Model> {
  const conditions = await compileConditions(Object.values(json.conditions ?? {}));
  const types = typeTable(json.type_definitions ?? []);
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
  return { json, types, typeIndex, kinds, conditions, ...tables, plans: createPlanTable() };
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
