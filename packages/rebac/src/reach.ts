import type { Model } from './model.ts';
import type { Kind, RelationDef, Rewrite, TypeDef } from './model-types.ts';

export type Leaf = Extract<Rewrite, { op: 'this' } | { op: 'computed' } | { op: 'parent' }>;

/**
 * The leaves of a rewrite without which nothing can hold: not those behind `but not`, and of an intersection only those
 * of the first operand, as in OpenFGA. Whatever holds at all holds there. A faulty condition in another operand is heard
 * only for what the first operand leads to.
 */
export function* leaves(rewrite: Rewrite): IterableIterator<Leaf> {
  if (rewrite.op === 'not') yield* leaves(rewrite.base);
  else if ('of' in rewrite) {
    for (const operand of rewrite.op === 'and' ? rewrite.of.slice(0, 1) : rewrite.of) yield* leaves(operand);
  } else yield rewrite;
}

/**
 * Which relations a relation can gain from, over all tuples that the model admits. Relations are given as their userset
 * kinds.
 */
export interface Reach {
  /** The relation itself and all relations that it can gain from, directly or indirectly. */
  below(kind: number): Uint8Array;
  /** Whether a direct assignment can contribute to the relation. One that stands behind `but not` only cannot. */
  takesDirect(kind: number): boolean;
  /** Relations of the same type that are computed from it. */
  computedFrom(kind: number): readonly number[];
  /** Whether relations of other objects can gain from it. */
  leadsOn(kind: number): boolean;
  /** Relations of the child's type that gain from a relation of this name through this tupleset. */
  inheriting(child: TypeDef, tupleset: number, relation: string): readonly number[];
}

const reaches = new WeakMap<Model, Reach>();

export function reachOf(model: Model): Reach {
  let reach = reaches.get(model);
  if (reach === undefined) {
    reach = createReach(model);
    reaches.set(model, reach);
  }
  return reach;
}

function createReach(model: Model): Reach {
  const computed: number[][] = model.kinds.map(() => []);
  const inherited = new Map<string, number[]>();
  const gains: number[][] = model.kinds.map(() => []);
  const direct = new Uint8Array(model.kinds.length);
  const leading = new Uint8Array(model.kinds.length);
  for (const type of model.types) for (const relation of type.relations) read(type, relation);

  function read(type: TypeDef, relation: RelationDef): void {
    const kind = type.firstUserset + relation.index;
    for (const leaf of leaves(relation.rewrite)) {
      if (leaf.op === 'computed') {
        computed[type.firstUserset + leaf.relation]?.push(relation.index);
        gains[kind]?.push(type.firstUserset + leaf.relation);
      } else if (leaf.op === 'this') {
        direct[kind] = 1;
        for (const each of relation.admits.keys()) if (model.kinds[each]?.relation !== undefined) gain(kind, each);
      } else {
        const key = `${type.index}:${leaf.tupleset}:${leaf.relation}`;
        inherited.set(key, [...(inherited.get(key) ?? []), relation.index]);
        for (const each of type.relations[leaf.tupleset]?.admits.keys() ?? []) {
          const parent = (model.kinds[each] as Kind).type;
          const theirs = parent.relationIndex.get(leaf.relation);
          if (theirs !== undefined) gain(kind, parent.firstUserset + theirs);
        }
      }
    }
  }

  /** From a relation of another object. */
  function gain(kind: number, from: number): void {
    gains[kind]?.push(from);
    leading[from] = 1;
  }

  function below(kind: number): Uint8Array {
    const found = new Uint8Array(model.kinds.length);
    const queue = [kind];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (found[next] === 1) continue;
      found[next] = 1;
      queue.push(...(gains[next] ?? []));
    }
    return found;
  }

  return {
    below,
    takesDirect: (kind) => direct[kind] === 1,
    leadsOn: (kind) => leading[kind] === 1,
    computedFrom: (kind) => computed[kind] ?? [],
    inheriting: (child, tupleset, relation) => inherited.get(`${child.index}:${tupleset}:${relation}`) ?? [],
  };
}
