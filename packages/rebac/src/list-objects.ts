import { contextually, type QueryContext } from './contextual.ts';
import type { Graph } from './graph.ts';
import type { Kind, TypeDef } from './model-types.ts';
import { validUser, walkOf } from './query.ts';
import { type Reach, reachOf } from './reach.ts';
import { RebacError } from './rebac-error.ts';
import { FAULT, YES } from './steps.ts';
import { REACHES, USES } from './tables/nodes.ts';
import type { Walk } from './walk.ts';

export interface ObjectsQuery extends QueryContext {
  readonly user: string;
  readonly relation: string;
  readonly type: string;
}

/**
 * Every object of the type to which the user has the relation, sorted. Candidates are found from the user outwards, as
 * if every operator were a union and nothing were excluded. Then each candidate is checked.
 */
export function listObjects(graph: Graph, question: ObjectsQuery): string[] {
  const [type, relation] = goalOf(graph, question);
  return contextually(graph, question, () => {
    const walk = walkOf(graph);
    const search = new Search(graph, walk, type.firstUserset + relation);
    search.start(question);
    const plan = graph.model.plans.forOne(type, relation);
    const found: string[] = [];
    for (const object of search.candidates()) {
      const node = graph.nodes.find(type.index, object, type.name.length + 1, object.length);
      walk.run(question.user, object, node, plan, question.context);
      const answer = walk.answer(plan.slotOf[relation] as number);
      if (answer instanceof RebacError) throw answer;
      if (answer) found.push(object);
    }
    // OpenFGA rejects the whole list if a condition on the way could not be evaluated.
    if (search.fault !== undefined) throw search.fault;
    return found.sort();
  });
}

/**
 * The candidates alone, in no particular order, for callers who check them a few at a time. To any other object of the
 * type, the user does not have the relation.
 */
export function possibleObjects(graph: Graph, question: ObjectsQuery): string[] {
  const [type, relation] = goalOf(graph, question);
  return contextually(graph, question, () => {
    const search = new Search(graph, walkOf(graph), type.firstUserset + relation);
    search.start(question);
    return [...search.candidates()];
  });
}

function goalOf(graph: Graph, question: ObjectsQuery): [type: TypeDef, relation: number] {
  const type = graph.model.typeIndex.get(question.type);
  if (type === undefined) throw new RebacError('typeNotFound', `type ${question.type} is not in the model`);
  const relation = type.relationIndex.get(question.relation);
  if (relation === undefined)
    throw new RebacError('relationNotFound', `${type.name} has no relation ${question.relation}`);
  validUser(graph.model, question.user);
  return [type, relation];
}

/** Searches outwards over pairs of an object and a relation that the user might have to it. */
class Search {
  fault: RebacError | undefined;
  readonly #graph: Graph;
  readonly #walk: Walk;
  readonly #goal: number;
  readonly #reach: Reach;
  /** By userset kind: whether it can lead to the goal. */
  readonly #useful: Uint8Array;
  /** By userset kind: the objects that the user might have it to, in the order in which they were found. */
  readonly #found = new Map<number, Set<number>>();
  readonly #queue: (readonly [node: number, kind: number])[] = [];
  #outside: string | undefined;

  constructor(graph: Graph, walk: Walk, goal: number) {
    this.#graph = graph;
    this.#walk = walk;
    this.#goal = goal;
    this.#reach = reachOf(graph.model);
    this.#useful = this.#reach.below(goal);
  }

  start({ user, context }: ObjectsQuery): void {
    const { caller } = this.#walk;
    this.#walk.surround(user, context);
    if (caller.selfKind !== -1) this.#startFromUserset();
    for (let i = 0; i < caller.count; i++) this.#outOf(caller.nodes[i] as number);
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) this.#visit(...next);
  }

  candidates(): string[] {
    const inside = [...(this.#found.get(this.#goal) ?? [])].map((node) => this.#graph.text(node));
    return this.#outside === undefined ? inside : [...inside, this.#outside];
  }

  /** A userset has itself, even on an object that no tuple names. */
  #startFromUserset(): void {
    const { self, selfKind, selfText } = this.#walk.caller;
    if (self >= 0) this.#add(self, selfKind);
    else if ((this.#graph.model.kinds[selfKind] as Kind).type === this.#graph.model.kinds[this.#goal]?.type) {
      this.#outside = selfText;
    }
  }

  #visit(node: number, kind: number): void {
    const { type, relation = -1 } = this.#graph.model.kinds[kind] as Kind;
    for (const other of this.#reach.computedFrom(kind)) this.#add(node, type.firstUserset + other);
    if (!this.#reach.leadsOn(kind)) return;
    const userset = this.#graph.nodes.findUserset(node, kind);
    if (userset !== -1) this.#outOf(userset);
    this.#outOf(node, type.relations[relation]?.name);
  }

  /**
   * Goes to all objects that the subject is assigned to or, with `inherited`, to all objects that take this relation
   * from the subject as their parent.
   */
  #outOf(subject: number, inherited?: string): void {
    const { nodes, edges } = this.#graph;
    // Most neighbors are alike: thousands of clusters have the same parent.
    let last:
      | { readonly type: TypeDef; readonly relations: readonly number[]; readonly kinds: readonly number[] }
      | undefined;
    for (const list of [USES, REACHES]) {
      for (let edge = nodes.first(subject, list); edge !== -1; edge = edges.nextOut(edge)) {
        const object = edges.object(edge);
        const { type } = this.#graph.kind(object);
        const restated = inherited === undefined ? this.#graph.restated?.get(edge) : undefined;
        const relations = restated?.relations ?? edges.relations(edge);
        if (last?.type !== type || last.relations !== relations) {
          last = { type, relations, kinds: relations.flatMap((relation) => this.#targets(type, relation, inherited)) };
        }
        for (const kind of last.kinds) this.#add(object, kind);
        if (edges.conditional(edge) === 0) continue;
        for (const conditional of restated?.conditional ?? this.#graph.conditional(edge)) {
          const kinds = this.#targets(type, conditional.relation, inherited);
          if (kinds.length === 0) continue;
          const value = this.#walk.weigh(conditional);
          if (value === FAULT) this.fault ??= this.#walk.lastFault;
          if (value === YES) for (const kind of kinds) this.#add(object, kind);
        }
      }
    }
  }

  /** The relations of the object that a tuple of this relation contributes to, if they can lead to the goal. */
  #targets(type: TypeDef, relation: number, inherited: string | undefined): number[] {
    return this.#contributions(type, relation, inherited)
      .map((target) => type.firstUserset + target)
      .filter((kind) => this.#useful[kind] === 1);
  }

  #contributions(type: TypeDef, relation: number, inherited: string | undefined): readonly number[] {
    if (inherited !== undefined) return this.#reach.inheriting(type, relation, inherited);
    return this.#reach.takesDirect(type.firstUserset + relation) ? [relation] : [];
  }

  #add(node: number, kind: number): void {
    if (this.#useful[kind] === 0) return;
    const nodes = this.#found.get(kind) ?? new Set();
    if (nodes.has(node)) return;
    this.#found.set(kind, nodes.add(node));
    this.#queue.push([node, kind]);
  }
}
