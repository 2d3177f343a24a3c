import { contextually, type QueryContext } from './contextual.ts';
import type { Graph } from './graph.ts';
import type { Model } from './model.ts';
import type { Kind, RelationDef, Rewrite } from './model-types.ts';
import { sourcesOf } from './paths.ts';
import { validObject, walkOf } from './query.ts';
import { type Leaf, leaves } from './reach.ts';
import { RebacError } from './rebac-error.ts';
import { FAULT, YES } from './steps.ts';
import { GRANTS, LINKS } from './tables/nodes.ts';
import type { Reference } from './tuple.ts';
import type { Walk } from './walk.ts';

export interface UsersQuery extends QueryContext {
  readonly object: string;
  readonly relation: string;
  /** What to look for: `user`, or a userset such as `team#member`. */
  readonly filter: string;
}

/**
 * All subjects of one kind that have the relation to the object, sorted. `user:*` means everybody; besides `user:*`,
 * only subjects that a tuple on the way names are listed. All subjects on the way are candidates; then each is checked.
 */
export function listUsers(graph: Graph, question: UsersQuery): string[] {
  const goal = goalOf(graph, question);
  return contextually(graph, question, () => {
    const walk = walkOf(graph);
    const { node, relation, survey } = surveyed(graph, walk, question, goal);
    const plan = graph.model.plans.forOne(goal.object.type, relation);
    const found: string[] = [];
    for (const user of survey.users) {
      walk.run(user, question.object, node, plan, question.context);
      const answer = walk.answer(plan.slotOf[relation] as number);
      if (answer instanceof RebacError) throw answer;
      if (answer) found.push(user);
    }
    if (survey.fault !== undefined) throw survey.fault;
    return found.sort();
  });
}

/**
 * The candidates alone, in no particular order, for callers who check them a few at a time. No other subject has the
 * relation, unless everybody has.
 */
export function possibleUsers(graph: Graph, question: UsersQuery): string[] {
  const goal = goalOf(graph, question);
  return contextually(graph, question, () => [...surveyed(graph, walkOf(graph), question, goal).survey.users]);
}

interface Goal {
  readonly object: Reference;
  readonly relation: number;
  readonly wanted: ReadonlySet<number>;
}

function goalOf({ model }: Graph, question: UsersQuery): Goal {
  const [typeName = ''] = question.object.split(':', 1);
  if (!model.typeIndex.has(typeName)) throw new RebacError('typeNotFound', `type ${typeName} is not in the model`);
  const object = validObject(model, question.object);
  const relation = object.type.relationIndex.get(question.relation);
  if (relation === undefined)
    throw new RebacError('relationNotFound', `${object.type.name} has no relation ${question.relation}`);
  return { object, relation, wanted: readFilter(model, question.filter) };
}

function surveyed(graph: Graph, walk: Walk, question: UsersQuery, { object, relation, wanted }: Goal) {
  const node = graph.nodes.find(object.kind, question.object, object.from, object.to);
  const survey = new Survey(graph, walk, wanted, question);
  survey.from(node, object.type.firstUserset + relation);
  return { node, relation, survey };
}

/** The kinds that a filter accepts. */
function readFilter(model: Model, filter: string): ReadonlySet<number> {
  const [name = '', relation] = filter.split('#', 2);
  const type = model.typeIndex.get(name);
  if (type === undefined) throw new RebacError('typeNotFound', `type ${name} is not in the model`);
  if (relation === undefined) return new Set([type.index, model.types.length + type.index]);
  const index = type.relationIndex.get(relation);
  if (index === undefined) throw new RebacError('relationNotFound', `${name} has no relation ${relation}`);
  return new Set([type.firstUserset + index]);
}

/** Collects all subjects of the wanted kinds that tuples lead to from an object and relation. */
class Survey {
  readonly users = new Set<string>();
  fault: RebacError | undefined;
  readonly #graph: Graph;
  readonly #walk: Walk;
  readonly #wanted: ReadonlySet<number>;
  readonly #question: UsersQuery;
  readonly #seen = new Map<number, Set<number>>();
  /** Many lead to the same subject, and its text is made once. */
  readonly #met = new Set<number>();
  readonly #queue: Visit[] = [];

  constructor(graph: Graph, walk: Walk, wanted: ReadonlySet<number>, question: UsersQuery) {
    this.#graph = graph;
    this.#walk = walk;
    this.#wanted = wanted;
    this.#question = question;
  }

  from(node: number, kind: number): void {
    if (!this.#leadsThere(kind)) return;
    this.#walk.surround('', this.#question.context);
    this.#add(node, kind, 0);
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) this.#visit(next);
  }

  /** If the model rules the filter out, OpenFGA reads no tuple and so meets no faulty condition. */
  #leadsThere(goal: number): boolean {
    const { kinds, types } = this.#graph.model;
    const seen = new Set<number>();
    const queue = [goal];
    for (let kind = queue.pop(); kind !== undefined; kind = queue.pop()) {
      if (seen.has(kind)) continue;
      seen.add(kind);
      if (this.#wanted.has(kind)) return true;
      const { type, relation } = kinds[kind] as Kind;
      if (relation === undefined) continue;
      const definition = type.relations[relation] as RelationDef;
      for (const leaf of leaves(definition.rewrite)) queue.push(...sourcesOf(types, type, definition, leaf));
    }
    return false;
  }

  #visit({ node, kind, denials }: Visit): void {
    const { type, relation = -1 } = this.#graph.model.kinds[kind] as Kind;
    if (this.#wanted.has(kind) && denials < 2) {
      const text = node === -1 ? this.#question.object : this.#graph.text(node);
      this.users.add(`${text}#${type.relations[relation]?.name}`);
    }
    for (const [leaf, behind] of deniedLeaves((type.relations[relation] as RelationDef).rewrite, denials)) {
      if (leaf.op === 'computed') this.#add(node, type.firstUserset + leaf.relation, behind);
      else if (node !== -1 && leaf.op === 'this') this.#into(node, relation, behind);
      else if (node !== -1 && leaf.op === 'parent') this.#into(node, leaf.tupleset, behind, leaf.relation);
    }
  }

  /** Visits the subjects of one relation of the object or, with `ofParents`, that relation of its parents. */
  #into(object: number, relation: number, denials: number, ofParents?: string): void {
    const { nodes, edges } = this.#graph;
    for (const list of [LINKS, GRANTS]) {
      for (let edge = nodes.first(object, list); edge !== -1; edge = edges.nextIn(edge)) {
        // A user who is assigned directly takes the contextual tuple instead of the stored one; a parent takes both.
        const restated = ofParents === undefined ? this.#graph.restated?.get(edge) : undefined;
        let holds = (restated?.relations ?? edges.relations(edge)).includes(relation);
        const conditionals = edges.conditional(edge) > 0 ? this.#graph.conditional(edge) : [];
        for (const conditional of restated?.conditional ?? conditionals) {
          if (conditional.relation !== relation) continue;
          const value = this.#walk.weigh(conditional);
          if (value === FAULT) this.fault ??= this.#walk.lastFault;
          if (value === YES) holds = true;
        }
        if (holds) this.#meet(edges.subject(edge), denials, ofParents);
      }
    }
  }

  #meet(subject: number, denials: number, ofParents: string | undefined): void {
    const { nodes } = this.#graph;
    const kind = nodes.kind(subject);
    const { type, relation } = this.#graph.kind(subject);
    if (ofParents !== undefined) {
      const theirs = type.relationIndex.get(ofParents);
      if (theirs !== undefined) this.#add(subject, type.firstUserset + theirs, denials);
    } else if (relation !== undefined) this.#add(nodes.base(subject), kind, denials);
    else if (this.#wanted.has(kind) && denials < 2 && !this.#met.has(subject)) {
      this.#met.add(subject);
      this.users.add(this.#graph.text(subject));
    }
  }

  #add(node: number, kind: number, denials: number): void {
    const key = kind * 3 + denials;
    const nodes = this.#seen.get(key) ?? new Set();
    if (nodes.has(node)) return;
    this.#seen.set(key, nodes.add(node));
    this.#queue.push({ node, kind, denials });
  }
}

interface Visit {
  readonly node: number;
  readonly kind: number;
  /** How many `but not` this is behind. From two on, it is visited for faulty conditions only, as in OpenFGA. */
  readonly denials: number;
}

function* deniedLeaves(rewrite: Rewrite, denials: number): IterableIterator<readonly [leaf: Leaf, denials: number]> {
  if (rewrite.op === 'not') {
    yield* deniedLeaves(rewrite.base, denials);
    yield* deniedLeaves(rewrite.subtract, Math.min(denials + 1, 2));
  } else if ('of' in rewrite) for (const operand of rewrite.of) yield* deniedLeaves(operand, denials);
  else yield [rewrite, denials];
}
