import type { Kind, RelationDef, Rewrite, TypeDef } from './model-types.ts';
import { everyLeaf, reachable, readersOf, sourcesOf } from './paths.ts';

export interface ClosureTables {
  /** By userset kind: the caller's closure determines its members exactly, so no walk has to open it. */
  readonly closable: Uint8Array;
  /** By closable userset kind: the relations of its object that are part of it. */
  readonly within: readonly (Uint8Array | undefined)[];
  /** By type: some closable userset of it can be a subject, so the closure must look at its objects. */
  readonly inClosure: Uint8Array;
  /** By type × kind count + kind: a walk over objects of the type must itself visit edges from subjects of the kind. */
  readonly linked: Uint8Array;
  /** By type × kind count + kind: at least one relation of the type admits the kind. */
  readonly admitted: Uint8Array;
  /** By userset kind: whether its answer can depend on a closable userset behind `but not`. */
  readonly guarded: Uint8Array;
}

/**
 * A userset is closable if it is only a union of assignments without conditions and of closable usersets. Then its
 * membership follows from the caller alone, once for all objects. Everything else in a model is found from the object.
 */
export function markClosable(types: readonly TypeDef[], kinds: readonly Kind[]): ClosureTables {
  const closable = new Uint8Array(kinds.length);
  for (const type of types) closable.fill(1, type.firstUserset, type.firstUserset + type.relations.length);
  const isOpen = (kind: number): boolean => kinds[kind]?.relation !== undefined && closable[kind] === 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (const type of types) {
      for (const relation of type.relations) {
        const kind = type.firstUserset + relation.index;
        if (closable[kind] === 0 || isUnion(relation.rewrite, type, relation, isOpen)) continue;
        closable[kind] = 0;
        changed = true;
      }
    }
  }

  const inClosure = new Uint8Array(types.length);
  const linked = new Uint8Array(types.length * kinds.length);
  const admitted = new Uint8Array(types.length * kinds.length);
  for (const type of types) {
    for (const relation of type.relations) {
      for (const [kind, conditions] of relation.admits) {
        const subject = kinds[kind] as Kind;
        const userset = subject.relation !== undefined;
        const cell = type.index * kinds.length + kind;
        admitted[cell] = 1;
        if (userset && closable[kind] === 1) inClosure[subject.type.index] = 1;
        // A condition on a userset is evaluated before its members, so that its errors do not depend on the caller.
        const conditional = userset && (conditions.size > 1 || !conditions.has(undefined));
        if (conditional || isOpen(kind) || type.tuplesets.has(relation.index)) linked[cell] = 1;
      }
    }
  }
  const within = new Array<Uint8Array | undefined>(kinds.length).fill(undefined);
  for (const type of types) {
    for (const relation of type.relations) {
      const kind = type.firstUserset + relation.index;
      if (closable[kind] === 1) within[kind] = parts(type, relation, new Uint8Array(type.relations.length));
    }
  }
  const guarded = markGuarded(types, kinds, closable);
  return { closable, within, inClosure, linked, admitted, guarded };
}

/** Relations behind a `but not` to which a closable userset can be assigned, and every relation that reads one of them. */
function markGuarded(types: readonly TypeDef[], kinds: readonly Kind[], closable: Uint8Array): Uint8Array {
  const sources: number[][] = kinds.map(() => []);
  const denied: number[] = [];
  const holders: number[] = [];
  for (const type of types) {
    for (const relation of type.relations) {
      const kind = type.firstUserset + relation.index;
      const leaves = [...everyLeaf(relation.rewrite)];
      for (const leaf of leaves) sources[kind]?.push(...sourcesOf(types, type, relation, leaf));
      const holds = [...relation.admits.keys()].some((subject) => closable[subject] === 1);
      if (holds && leaves.some(({ op }) => op === 'this')) holders.push(kind);
      for (const leaf of [...subtracted(relation.rewrite)].flatMap((rewrite) => [...everyLeaf(rewrite)])) {
        denied.push(...(leaf.op === 'this' ? [kind] : sourcesOf(types, type, relation, leaf)));
      }
    }
  }
  const behind = reachable(denied, sources);
  const risky = holders.filter((kind) => behind[kind] === 1);
  return reachable(risky, readersOf(types, kinds.length));
}

function* subtracted(rewrite: Rewrite): IterableIterator<Rewrite> {
  if (rewrite.op === 'not') {
    yield rewrite.subtract;
    yield* subtracted(rewrite.base);
  } else if ('of' in rewrite) for (const operand of rewrite.of) yield* subtracted(operand);
}

function isUnion(rewrite: Rewrite, type: TypeDef, relation: RelationDef, isOpen: (kind: number) => boolean): boolean {
  if (rewrite.op === 'computed') return !isOpen(type.firstUserset + rewrite.relation);
  if (rewrite.op === 'or') return rewrite.of.every((child) => isUnion(child, type, relation, isOpen));
  if (rewrite.op !== 'this') return false;
  for (const [kind, conditions] of relation.admits) {
    if (conditions.size !== 1 || !conditions.has(undefined) || isOpen(kind)) return false;
  }
  return true;
}

/** The relations of the same object that a closable relation consists of, including itself. */
function parts(type: TypeDef, relation: RelationDef, found: Uint8Array): Uint8Array {
  if (found[relation.index] === 1) return found;
  found[relation.index] = 1;
  const visit = (rewrite: Rewrite): void => {
    if (rewrite.op === 'computed') parts(type, type.relations[rewrite.relation] as RelationDef, found);
    if (rewrite.op === 'or') rewrite.of.forEach(visit);
  };
  visit(relation.rewrite);
  return found;
}
