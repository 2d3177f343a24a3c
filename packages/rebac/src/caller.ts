import type { Graph } from './graph.ts';
import { RebacError } from './rebac-error.ts';
import { REACHES, USES } from './tables/nodes.ts';
import { type Reference, readReference } from './tuple.ts';

/** Up to this size, a closure is scanned instead of marked. */
const SMALL_CLOSURE = 16;

/**
 * The maximum number of edges out of a closure that are remembered, and of edges out of one member that are examined.
 */
const OWN_EDGES = 32;
const OWN_EDGES_OF_ONE = 2;

/**
 * The caller and its closure: every subject that the caller counts as, which is the caller itself, everybody of its
 * type, and all closable usersets that it is in. The closure is found once and serves every object until the graph
 * changes or there is another caller.
 */
export class Caller {
  readonly #graph: Graph;
  #announced = '';
  #reference: Reference | undefined;
  #text = '';
  #revision = -1;
  #wide = false;
  /** The caller's own node, or -1 if no tuple names it. */
  node = -1;
  /** The closure, and the kind of each of its nodes. */
  nodes = new Int32Array(64);
  kinds = new Int32Array(64);
  count = 0;
  /** The edges out of the closure, and their objects, if there are few enough to know all of them. */
  readonly ownEdges = new Int32Array(OWN_EDGES);
  readonly ownObjects = new Int32Array(OWN_EDGES);
  /** The relation set of each of these edges, or -1 if some of its tuples have a condition. */
  readonly ownSets = new Int32Array(OWN_EDGES);
  ownCount = 0;
  ownComplete = false;
  /** The number of hops to the farthest member of the closure. */
  levels = 0;
  /** The kind of the caller: of an object, of everybody, or of a userset. */
  kind = -1;
  /** If the caller is itself a userset: its object and relation, which it has by definition. */
  self = -2;
  selfKind = -1;
  selfText = '';
  #marks = new Uint32Array(0);
  #epoch = 0;
  #everybody = -1;
  #everybodyKind = -1;
  #everybodySince = -1;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /**
   * Reads the caller separately from `become`, so that the graph can be warmed for both sides of a query at the same
   * time.
   */
  announce(text: string): Reference {
    if (text === this.#announced && this.#reference !== undefined) return this.#reference;
    const read = readReference(this.#graph.model, text);
    if (typeof read === 'string') throw new RebacError('validation', `user: ${read}`);
    this.#announced = text;
    this.#reference = read;
    return read;
  }

  /** Switches to this caller. A wide closure leaves out the usersets, so that a walk sees every hop. */
  become(text: string, wide: boolean): void {
    if (text === this.#text && this.#revision === this.#graph.revision && wide === this.#wide) return;
    const { model, nodes, revision } = this.#graph;
    const read = this.announce(text);
    this.#text = text;
    this.#revision = revision;
    this.#wide = wide;
    this.#reset();
    this.kind = read.userset === -1 ? read.kind : read.userset;
    const node = nodes.find(read.kind, text, read.from, read.to, read.number);
    if (read.userset !== -1) {
      this.#becomeUserset(node, read.userset, text.slice(0, read.to));
    } else {
      this.node = node;
      if (node !== -1) this.#push(node);
      const everybody = this.#everybodyOf(model.types.length + read.type.index);
      if (everybody !== -1 && everybody !== node) this.#push(everybody);
    }
    if (wide) this.ownComplete = false;
    else this.#close();
  }

  /** A small closure is scanned, because it is in the processor's cache and the marks of a large graph are not. */
  includes(node: number): boolean {
    if (this.count > SMALL_CLOSURE) return this.#marks[node] === this.#epoch;
    for (let i = 0; i < this.count; i++) if (this.nodes[i] === node) return true;
    return false;
  }

  /** `type:*`. Almost every caller has the same type. */
  #everybodyOf(kind: number): number {
    if (kind !== this.#everybodyKind || this.#everybodySince !== this.#graph.revision) {
      this.#everybody = this.#graph.nodes.find(kind, '*', 0, 1);
      this.#everybodyKind = kind;
      this.#everybodySince = this.#graph.revision;
    }
    return this.#everybody;
  }

  #becomeUserset(object: number, kind: number, text: string): void {
    this.self = object === -1 ? -2 : object;
    this.selfKind = kind;
    this.selfText = text;
    if (object === -1) return;
    const { nodes, model } = this.#graph;
    const relation = model.kinds[kind]?.relation ?? -1;
    for (let node = nodes.nextUserset(object); node !== -1; node = nodes.nextUserset(node)) {
      const alike = nodes.kind(node);
      if (alike === kind || (!this.#wide && model.within[alike]?.[relation] === 1)) this.#push(node);
    }
  }

  #close(): void {
    const { nodes, edges } = this.#graph;
    for (let from = 0; from < this.count; ) {
      const end = this.count;
      for (; from < end; from++) {
        const member = this.nodes[from] as number;
        for (let edge = nodes.first(member, USES); edge !== -1; edge = edges.nextOut(edge)) {
          const object = edges.object(edge);
          this.#own(edge, object);
          this.#enter(object, edges.relations(edge));
        }
        this.#ownReaches(nodes.first(member, REACHES));
      }
      if (this.count > end) this.levels++;
    }
  }

  #ownReaches(first: number): void {
    const { edges } = this.#graph;
    let left = OWN_EDGES_OF_ONE;
    for (let edge = first; edge !== -1 && this.ownComplete; edge = edges.nextOut(edge)) {
      if (left-- === 0) this.ownComplete = false;
      else this.#own(edge, edges.object(edge));
    }
  }

  #own(edge: number, object: number): void {
    if (this.ownCount === OWN_EDGES) {
      this.ownComplete = false;
      return;
    }
    const { edges } = this.#graph;
    this.ownSets[this.ownCount] = edges.conditional(edge) === 0 ? edges.set(edge) : -1;
    this.ownEdges[this.ownCount] = edge;
    this.ownObjects[this.ownCount++] = object;
  }

  /** Adds the usersets of an object that follow from these relations to it. */
  #enter(object: number, relations: readonly number[]): void {
    const { nodes, model } = this.#graph;
    for (let userset = nodes.nextUserset(object); userset !== -1; userset = nodes.nextUserset(userset)) {
      const within = model.within[nodes.kind(userset)];
      if (within === undefined || this.includes(userset)) continue;
      for (let i = 0; i < relations.length; i++) {
        if (within[relations[i] as number] !== 1) continue;
        this.#push(userset);
        break;
      }
    }
  }

  #push(node: number): void {
    if (this.count === this.nodes.length) {
      this.nodes = grown(this.nodes);
      this.kinds = grown(this.kinds);
    }
    this.nodes[this.count] = node;
    this.kinds[this.count++] = this.#graph.nodes.kind(node);
    if (this.count === SMALL_CLOSURE + 1) this.#markAll();
    else if (this.count > SMALL_CLOSURE) this.#marks[node] = this.#epoch;
  }

  /** Marks take memory only once there has been a caller with a large closure. */
  #markAll(): void {
    const { end } = this.#graph.nodes;
    if (this.#marks.length < end) this.#marks = new Uint32Array(Math.ceil(end * 1.05));
    for (let i = 0; i < this.count; i++) this.#marks[this.nodes[i] as number] = this.#epoch;
  }

  #reset(): void {
    if (this.#epoch === 0xffffffff) {
      this.#marks.fill(0);
      this.#epoch = 0;
    }
    this.#epoch++;
    this.node = -1;
    this.count = 0;
    this.ownCount = 0;
    this.ownComplete = true;
    this.levels = 0;
    this.self = -2;
    this.selfKind = -1;
    this.selfText = '';
  }
}

function grown(cells: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const next = new Int32Array(cells.length * 2);
  next.set(cells);
  return next;
}
