import type { Kind, RelationDef, Rewrite, TypeDef } from './model-types.ts';

type Leaf = Extract<Rewrite, { op: 'this' } | { op: 'computed' } | { op: 'parent' }>;

/** All leaves of a rewrite, including those behind `but not`. */
export function* everyLeaf(rewrite: Rewrite): IterableIterator<Leaf> {
  if (rewrite.op === 'not') {
    yield* everyLeaf(rewrite.base);
    yield* everyLeaf(rewrite.subtract);
  } else if ('of' in rewrite) for (const operand of rewrite.of) yield* everyLeaf(operand);
  else yield rewrite;
}

/** The kinds that a leaf of a relation reads: subjects that may be assigned, and relations that it is derived from. */
export function* sourcesOf(
  types: readonly TypeDef[],
  type: TypeDef,
  { admits }: RelationDef,
  leaf: Leaf,
): IterableIterator<number> {
  if (leaf.op === 'this') yield* admits.keys();
  else if (leaf.op === 'computed') yield type.firstUserset + leaf.relation;
  else {
    for (const kind of type.relations[leaf.tupleset]?.admits.keys() ?? []) {
      // A parent is a plain object, and the kind of a plain object is the index of its type.
      const parent = types[kind];
      const theirs = parent?.relationIndex.get(leaf.relation);
      if (parent !== undefined && theirs !== undefined) yield parent.firstUserset + theirs;
    }
  }
}

/** By kind: the relations, as userset kinds, that read it. */
export function readersOf(types: readonly TypeDef[], kinds: number): number[][] {
  const readers: number[][] = Array.from({ length: kinds }, () => []);
  for (const type of types) {
    for (const relation of type.relations) {
      for (const leaf of everyLeaf(relation.rewrite)) {
        for (const source of sourcesOf(types, type, relation, leaf))
          readers[source]?.push(type.firstUserset + relation.index);
      }
    }
  }
  return readers;
}

/** All kinds that can be reached from some of them, including these. */
export function reachable(from: Iterable<number>, next: readonly (readonly number[])[]): Uint8Array {
  const found = new Uint8Array(next.length);
  const queue = [...from];
  for (let kind = queue.pop(); kind !== undefined; kind = queue.pop()) {
    if (found[kind] === 1) continue;
    found[kind] = 1;
    queue.push(...(next[kind] ?? []));
  }
  return found;
}

interface Kinds {
  readonly types: readonly TypeDef[];
  readonly kinds: readonly Kind[];
}

const known = new WeakMap<Kinds, { readonly readers: number[][]; readonly paths: (Uint8Array | undefined)[] }>();

/**
 * By userset kind: whether the model has a path from a caller of this kind to the relation, over whatever operators.
 * Where it has none, OpenFGA answers no without reading a tuple, so it meets neither a faulty condition nor a circle.
 */
export function pathsFrom(model: Kinds, caller: number): Uint8Array {
  let table = known.get(model);
  if (table === undefined) {
    table = { readers: readersOf(model.types, model.kinds.length), paths: [] };
    known.set(model, table);
  }
  const { type, relation } = model.kinds[caller] as Kind;
  // An object also counts as everybody of its type, and everybody as any object of its type.
  const from = relation === undefined ? [type.index, model.types.length + type.index] : [caller];
  const found = table.paths[caller] ?? reachable(from, table.readers);
  table.paths[caller] = found;
  return found;
}
