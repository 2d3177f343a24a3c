import {
  allowed,
  type Graph,
  nodeOf,
  textOfObject,
  textOfSubject,
  textsByObject,
} from '../../../packages/rebac/src/rebac.ts';

/**
 * Objects of one type, with the class that each is in. To a user about whom and such an object nothing is stated, all
 * objects of a class are alike.
 */
export interface AlikeObjects {
  readonly objects: readonly string[];
  readonly nodes: Int32Array;
  readonly classes: Int32Array;
}

/** For each object, what a user holds on it: bit i is set if it is the relation with the index i. */
export type Row = readonly number[];

export interface Cells {
  /** Users who are alike get the same list, not only an equal one. */
  row(user: string): Generator<void, Row, void>;
}

const OBJECTS_IN_PIECE = 200;

/**
 * Sorts objects into classes. An organization may have tens of thousands of clusters, but as far as the model is
 * concerned, they are all alike.
 */
export function* sortAlike(graph: Graph, objects: readonly string[]): Generator<void, AlikeObjects, void> {
  const nodes = new Int32Array(objects.length);
  const classes = new Int32Array(objects.length);
  const known = new Map<string, number>();
  for (const [place, object] of objects.entries()) {
    const node = nodeOf(graph, object);
    const text = textOfObject(graph, node);
    const found = known.get(text) ?? known.size;
    known.set(text, found);
    nodes[place] = node;
    classes[place] = found;
    if (place % OBJECTS_IN_PIECE === OBJECTS_IN_PIECE - 1) yield;
  }
  return { objects, nodes, classes };
}

/** What users hold on these objects. Each question that differs from the others is put to the engine once. */
export function createCells(
  graph: Graph,
  { objects, nodes, classes }: AlikeObjects,
  relations: readonly string[],
): Cells {
  const bits = new Map(relations.map((relation, index) => [relation, 2 ** index]));
  const rows = new Map<string, Row>();
  return { row };

  function* row(user: string): Generator<void, Row, void> {
    const node = nodeOf(graph, user);
    const key = textOfSubject(graph, node);
    let found = rows.get(key);
    if (!found) {
      found = yield* fill(user, textsByObject(graph, node));
      rows.set(key, found);
    }
    return found;
  }

  function* fill(user: string, stated: ReadonlyMap<number, string>): Generator<void, Row, void> {
    const usual: number[] = [];
    const found: number[] = [];
    for (const [place, object] of objects.entries()) {
      const isUsual = !stated.has(nodes[place] as number);
      const known = isUsual ? usual[classes[place] as number] : undefined;
      const held = known ?? ask(user, object);
      if (isUsual) usual[classes[place] as number] = held;
      found.push(held);
      if (known === undefined) yield;
    }
    return found;
  }

  function ask(user: string, object: string): number {
    let sum = 0;
    for (const relation of allowed(graph, user, object, { prefix: 'can_' })) sum += bits.get(relation) ?? 0;
    return sum;
  }
}

/** Whether the relation with this index is in a cell. Organizations have more relations than a bit operation has bits. */
export function isSet(cell: number, index: number): boolean {
  return Math.floor(cell / 2 ** index) % 2 === 1;
}
