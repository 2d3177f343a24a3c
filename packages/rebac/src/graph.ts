import type { Condition, Context } from './conditions/condition.ts';
import { LineReader, type Shape } from './line-reader.ts';
import type { Model } from './model.ts';
import type { Kind, TypeDef } from './model-types.ts';
import { Classes } from './tables/classes.ts';
import { Edges } from './tables/edges.ts';
import { GRANTS, LINKS, Nodes, REACHES, USES } from './tables/nodes.ts';
import { ROW, Rows } from './tables/rows.ts';
import { GONE, TupleRows } from './tables/tuple-rows.ts';
import { type Entry, type Reference, type Tuple, TupleReader } from './tuple.ts';

/** Below this many empty edges, a rebuild is not worth its cost. */
const FEW = 1024;

/** After this many changed edges, a long load settles them. */
const MAX_TOUCHED = 4096;

/** Nodes and edges of more bytes than this do not stay in the cache of a processor. */
const LARGE = 2 * 1024 * 1024;

/** What the tuples of an edge state. */
export interface Statement {
  readonly relations: readonly number[];
  readonly conditional: readonly ConditionalTuple[];
}

export interface ConditionalTuple {
  readonly relation: number;
  readonly condition: Condition;
  readonly context: Context | undefined;
}

/**
 * A set of tuples as integers. Tuples that the model does not admit are never entered, so a stale tuple grants nothing.
 * An edge whose last tuple is gone stays as an empty row, which costs readers nothing. If empty edges outnumber the
 * others, the graph is rebuilt.
 */
export class Graph {
  readonly model: Model;
  /** Increases with every change. Anything remembered from an older revision is void. */
  revision = 0;
  /** The walk of this graph, which knows the graph, not the other way round (query.ts). */
  walk: unknown;
  /** Keeps the result of reading ahead, because a read whose result is unused might be optimized away. */
  warmed = 0;
  nodes: Nodes;
  edges: Edges;
  /** Which nodes look alike. Only a large graph gains from knowing it (look-alikes.ts). */
  classes: Classes | undefined;
  /** By edge: what it states to its subject while a contextual source hides other tuples. */
  restated: ReadonlyMap<number, Statement> | undefined;
  /**
   * Nodes and edges share one array, in the order in which they were added. A node is usually followed by its first
   * edge, so one read of main memory brings both.
   */
  #rows = new Rows(ROW);
  #tuples = new TupleRows<ConditionalTuple>();
  #emptyEdges = 0;
  /** Edges whose tuples have changed since they were last settled. Empty between changes. */
  readonly #touched: number[] = [];
  readonly #stated: number[] = [];

  constructor(model: Model) {
    this.model = model;
    this.nodes = new Nodes(this.#rows);
    this.edges = new Edges(this.#rows);
  }

  /** The number of tuples. A tuple counts once per source. */
  get size(): number {
    return this.#tuples.size;
  }

  get sources(): IterableIterator<string> {
    return this.#tuples.sources;
  }

  /** The memory that this graph uses, accurate to a few per cent; for a cache that is bounded in bytes. */
  get bytes(): number {
    return (
      this.#rows.bytes + this.nodes.bytes + this.edges.bytes + this.#tuples.bytes + (this.classes?.bytes ?? 0) + 4000
    );
  }

  /**
   * Enters many tuples in one call, each under its own source. If their number is known, memory is reserved up front.
   */
  load(tuples: Iterable<Tuple>, count = 0): void {
    for (const _ of this.loadInParts(tuples, count, Number.POSITIVE_INFINITY)) {
      // There is only one part.
    }
  }

  /**
   * The same in parts of this many tuples. Between two parts the caller may let other work run, but no query may read
   * the graph: it is not complete before the last part.
   */
  *loadInParts(tuples: Iterable<Tuple>, count: number, size: number): Generator<void, void, void> {
    this.#reserve(count);
    const reader = new TupleReader(this.model);
    try {
      let read = 0;
      for (const tuple of tuples) {
        if (read > 0 && read % size === 0) yield;
        this.#add(tuple.source ?? '', tuple, reader.read(tuple));
        read++;
      }
    } finally {
      this.#settle();
    }
    this.#trim();
  }

  /** The same from a text with a line for each tuple, which is read in a fraction of the time (line-reader.ts). */
  *loadLines(lines: string, count: number, size: number): Generator<void, void, void> {
    this.#reserve(count);
    const reader = new LineReader(this.model, lines);
    try {
      for (let read = 0; reader.next(); read++) {
        if (read > 0 && read % size === 0) yield;
        if (reader.shape !== undefined) this.#addLine(reader, reader.shape);
        else if (reader.entry && reader.tuple) this.#add(reader.source, reader.tuple, reader.entry);
      }
    } finally {
      this.#settle();
    }
    this.#trim();
  }

  #reserve(tuples: number): void {
    this.#rows.reserve(tuples * 2);
    this.#tuples.reserve(tuples);
    this.edges.reserve(tuples);
    this.nodes.reserve(tuples >> 1);
  }

  #trim(): void {
    this.#rows.trim();
    this.nodes.trim();
    this.#tuples.trim();
    if (this.#rows.bytes > LARGE) this.classify();
  }

  /** From now on, remembers which nodes look alike. */
  classify(): void {
    this.classes = new Classes(this.nodes.count);
  }

  /** Replaces everything that the source stated with exactly these tuples. Their own `source` is ignored. */
  replaceSource(source: string, tuples: Iterable<Tuple>): void {
    this.restated = undefined;
    this.#clear(source);
    const reader = new TupleReader(this.model);
    try {
      for (const tuple of tuples) this.#add(source, tuple, reader.read(tuple));
    } finally {
      this.#settle();
    }
    if (this.#emptyEdges > FEW && this.#emptyEdges * 2 > this.edges.count) this.#rebuild();
  }

  /**
   * Lets the tuples of a source hide those of other sources with the same object, relation and user, until the next
   * change. Usersets, parents and everybody are not hidden, as in OpenFGA: it reads them as lists to which contextual
   * tuples are added. If the source itself states something twice, the first counts.
   */
  hideBehind(source: string): void {
    const restated = new Map<number, Map<number, number>>();
    for (const tuple of this.#tuples.of(source)) {
      const edge = this.#tuples.edge(tuple);
      const { relation, wildcard } = this.kind(this.edges.subject(edge));
      // Without a condition, it makes no difference which of two equal tuples counts.
      if (relation !== undefined || wildcard || this.edges.conditional(edge) === 0) continue;
      // The latest tuple of a source comes first, so the earliest remains.
      const byRelation = restated.get(edge) ?? new Map<number, number>();
      restated.set(edge, byRelation.set(this.#tuples.relation(tuple), tuple));
    }
    if (restated.size === 0) return;
    this.restated = new Map([...restated].map(([edge, counting]) => [edge, this.#stateAgain(edge, counting)]));
  }

  #stateAgain(edge: number, counting: ReadonlyMap<number, number>): Statement {
    const relations: number[] = [];
    const conditional: ConditionalTuple[] = [];
    for (let tuple = this.edges.first(edge); tuple !== -1; tuple = this.#tuples.next(tuple)) {
      const relation = this.#tuples.relation(tuple);
      if ((counting.get(relation) ?? tuple) !== tuple) continue;
      const condition = this.#tuples.aside(tuple);
      if (condition === undefined) relations.push(relation);
      else conditional.push(condition);
    }
    return { relations, conditional };
  }

  /**
   * What an edge states to its subject itself. To a caller that is in the subject or inherits from it, it may state
   * more.
   */
  statement(edge: number): Statement {
    return this.restated?.get(edge) ?? { relations: this.edges.relations(edge), conditional: this.conditional(edge) };
  }

  /** All tuples of a source as they were given, except those that the model rejected. */
  *tuplesOf(source: string): IterableIterator<Tuple & { readonly source: string }> {
    for (const tuple of this.#tuples.of(source)) {
      const edge = this.#tuples.edge(tuple);
      const object = this.edges.object(edge);
      const relation = this.kind(object).type.relations[this.#tuples.relation(tuple)]?.name ?? '';
      const conditional = this.#tuples.aside(tuple);
      const condition = conditional && { name: conditional.condition.name, context: conditional.context };
      yield { user: this.text(this.edges.subject(edge)), relation, object: this.text(object), source, condition };
    }
  }

  conditional(edge: number): ConditionalTuple[] {
    const found: ConditionalTuple[] = [];
    for (let tuple = this.edges.first(edge); tuple !== -1; tuple = this.#tuples.next(tuple)) {
      const conditional = this.#tuples.aside(tuple);
      if (conditional !== undefined) found.push(conditional);
    }
    return found;
  }

  kind(node: number): Kind {
    return this.model.kinds[this.nodes.kind(node)] as Kind;
  }

  /** `type:id`, `type:*` or `type:id#relation`. */
  text(node: number): string {
    const { type, relation } = this.kind(node);
    if (relation === undefined) return `${type.name}:${this.nodes.name(node)}`;
    return `${type.name}:${this.nodes.name(this.nodes.base(node))}#${type.relations[relation]?.name}`;
  }

  /**
   * Reads ahead what a walk from this object for this subject will need. In a large graph each of these reads waits for
   * main memory. Here they wait at the same time; in the walk itself they would wait one after the other.
   */
  warm(user: string, subject: Reference, text: string, object: Reference): void {
    const { nodes, edges } = this;
    const left = nodes.guess(subject.kind, user, subject.from, subject.to, subject.number);
    const right = nodes.guess(object.kind, text, object.from, object.to, object.number);
    if (left === -1 || right === -1) return;
    const out = nodes.first(left, REACHES);
    const into = nodes.first(right, LINKS);
    this.warmed = (out === -1 ? 0 : edges.object(out)) + (into === -1 ? 0 : nodes.kind(edges.subject(into)));
  }

  #addLine({ object, subject, source }: LineReader, shape: Shape): void {
    const { nodes } = this;
    const known = nodes.end;
    const into = nodes.internNumber(shape.type.index, object);
    let from = nodes.internNumber(shape.subjectKind, subject);
    if (shape.userset !== -1) from = nodes.internUserset(from, shape.userset);
    // There is no edge yet to or from a node that is new.
    const edge = into >= known || from >= known ? -1 : this.edges.find(from, into);
    this.#enter(edge === -1 ? this.#edge(from, into, shape.type) : edge, shape.relation, source, undefined);
  }

  #add(source: string, given: Tuple, entry: Entry | string): void {
    if (typeof entry === 'string') return;
    const { relation, condition, context } = entry;
    this.#enter(this.#edgeOf(entry, given), relation, source, condition && { relation, condition, context });
  }

  #enter(edge: number, relation: number, source: string, conditional: ConditionalTuple | undefined): void {
    const first = this.edges.first(edge);
    if (first === -1) this.#emptyEdges--;
    this.edges.setFirst(edge, this.#tuples.add(source, edge, relation, first, conditional));
    if (this.edges.touch(edge)) this.#touched.push(edge);
    if (this.#touched.length > MAX_TOUCHED) this.#settle();
  }

  #edgeOf(entry: Entry, given: Tuple): number {
    const { nodes } = this;
    const object = nodes.intern(entry.object.kind, given.object, entry.object.from, entry.object.to);
    let subject = nodes.intern(entry.subject.kind, given.user, entry.subject.from, entry.subject.to);
    if (entry.subject.userset !== -1) subject = nodes.internUserset(subject, entry.subject.userset);
    const found = this.edges.find(subject, object);
    return found === -1 ? this.#edge(subject, object, entry.object.type) : found;
  }

  /** A new edge. */
  #edge(subject: number, object: number, type: TypeDef): number {
    const { nodes, edges, model } = this;
    const into = model.linked[type.index * model.kinds.length + nodes.kind(subject)] === 1 ? LINKS : GRANTS;
    const outOf = model.inClosure[type.index] === 1 ? USES : REACHES;
    const edge = edges.push(subject, object, nodes.first(object, into), nodes.first(subject, outOf));
    nodes.rows.set(object, into, edge);
    nodes.rows.set(subject, outOf, edge);
    this.#emptyEdges++;
    return edge;
  }

  /** Only marks the tuples. They are removed once for each edge, because an edge has a list of all its tuples. */
  #clear(source: string): void {
    for (const tuple of this.#tuples.drop(source)) {
      const edge = this.#tuples.edge(tuple);
      if (this.edges.touch(edge)) this.#touched.push(edge);
    }
  }

  /** Enters on every changed edge what its tuples state now. Another source may state the same as one that is gone. */
  #settle(): void {
    for (const edge of this.#touched) this.#settleEdge(edge);
    this.#touched.length = 0;
    this.revision++;
  }

  #settleEdge(edge: number): void {
    const relations = this.#stated;
    relations.length = 0;
    let conditional = 0;
    let last = -1;
    for (let tuple = this.edges.first(edge); tuple !== -1; ) {
      const next = this.#tuples.next(tuple);
      const relation = this.#tuples.relation(tuple);
      if (relation === GONE) {
        if (last === -1) this.edges.setFirst(edge, next);
        else this.#tuples.setNext(last, next);
        this.#tuples.release(tuple);
      } else {
        if (this.#tuples.aside(tuple) === undefined) relations.push(relation);
        else conditional++;
        last = tuple;
      }
      tuple = next;
    }
    if (last === -1) this.#emptyEdges++;
    this.edges.settle(edge, ascending(relations), conditional);
    this.#declassify(this.edges.subject(edge));
    this.#declassify(this.edges.object(edge));
  }

  /** What a node looks like depends on its edges. */
  #declassify(node: number): void {
    const number = this.nodes.number(node);
    if (number < 0) this.classes?.forget(this.nodes.kind(node), number);
  }

  /** All tuples, with their sources. */
  *tuples(): IterableIterator<Tuple & { readonly source: string }> {
    for (const source of this.#tuples.sources) yield* this.tuplesOf(source);
  }

  #rebuild(): void {
    const fresh = new Graph(this.model);
    fresh.load(this.tuples());
    this.#rows = fresh.#rows;
    this.nodes = fresh.nodes;
    this.edges = fresh.edges;
    this.classes = fresh.classes;
    this.#tuples = fresh.#tuples;
    this.#emptyEdges = fresh.#emptyEdges;
  }
}

/** Sorts the list and removes repetitions, in place. */
function ascending(list: number[]): readonly number[] {
  if (list.length < 2) return list;
  list.sort((a, b) => a - b);
  let kept = 1;
  for (let i = 1; i < list.length; i++) if (list[i] !== list[kept - 1]) list[kept++] = list[i] as number;
  list.length = kept;
  return list;
}

/** Creates a graph of these tuples. Tuples that the model does not admit are left out. */
export function createGraph(model: Model, tuples: Iterable<Tuple> = [], count = 0): Graph {
  const graph = new Graph(model);
  graph.load(tuples, count);
  return graph;
}
