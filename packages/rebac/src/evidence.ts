import type { RelationDef, Rewrite, TypeDef } from './model-types.ts';
import type { Dependency } from './settle.ts';
import { CERTAIN, NO, YES } from './steps.ts';
import { readReference, type Tuple } from './tuple.ts';
import type { Walk } from './walk.ts';

/** A tuple that leads from one frame to a relation of another. */
export interface Lead {
  readonly tuple: Tuple;
  readonly frame: number;
  readonly relation: number;
}

const NONE: readonly Tuple[] = [];

function join(op: 'or' | 'and' | 'not', values: readonly number[]): number {
  return values.reduce((left, right) => CERTAIN[op][left * 4 + right] as number);
}

/** What a finished wide walk knows, in the terms of the model instead of slots. */
export class Evidence {
  readonly user: string;
  readonly #walk: Walk;
  readonly #object: string;
  /** By frame and relation. An organization depends on each of its roles once for each permission. */
  readonly #dependencies = new Map<number, Map<number, Dependency[]>>();

  constructor(walk: Walk, user: string, object: string) {
    this.#walk = walk;
    this.#object = object;
    this.user = user;
  }

  type(frame: number): TypeDef {
    return this.#walk.frames.planOf(frame).type;
  }

  relation(frame: number, relation: number): RelationDef {
    return this.type(frame).relations[relation] as RelationDef;
  }

  object(frame: number): string {
    const node = this.#walk.frames.node[frame] as number;
    return node === -1 ? this.#object : this.#walk.graph.text(node);
  }

  holds(frame: number, relation: number): boolean {
    return this.#value(frame, relation) === YES;
  }

  isRuledOut(frame: number, relation: number): boolean {
    return this.#value(frame, relation) === NO;
  }

  /** What is known about a part of the definition of a relation. */
  valueOf(frame: number, relation: number, rewrite: Rewrite): number {
    const { frames } = this.#walk;
    const { directSlotOf, parents } = frames.planOf(frame);
    const cell = (slot: number): number => frames.cells[frames.baseOf(frame) + slot] as number;
    switch (rewrite.op) {
      case 'this':
        return cell(directSlotOf[relation] as number);
      case 'computed':
        return this.#value(frame, rewrite.relation);
      case 'parent': {
        // The same parents may also be a plain operand of a union, which has no slot of its own and comes earlier.
        const through = parents[rewrite.tupleset] ?? [];
        const step = through.findLast((each) => each.of === relation && each.relation === rewrite.relation);
        return step === undefined ? NO : cell(step.slot);
      }
      case 'not':
        return join(
          'not',
          [rewrite.base, rewrite.subtract].map((part) => this.valueOf(frame, relation, part)),
        );
      default:
        return join(
          rewrite.op,
          rewrite.of.map((part) => this.valueOf(frame, relation, part)),
        );
    }
  }

  /** The round in which the relation became certain. What it rests on in other objects became certain earlier. */
  rank(frame: number, relation: number): number {
    return this.#walk.settlement?.ranks[this.#cell(frame, relation)] ?? 0;
  }

  /** The user is a userset, and this is that userset. */
  isSelf(frame: number, relation: number): boolean {
    return this.user === `${this.object(frame)}#${this.relation(frame, relation).name}`;
  }

  /** A tuple that states the relation for the user, or for everybody of the user's type. */
  stated(frame: number, relation: number): Tuple | undefined {
    return this.statements(frame, relation)[0];
  }

  /** Both such tuples, if there are two. */
  statements(frame: number, relation: number): readonly Tuple[] {
    const { graph, caller, frames } = this.#walk;
    const node = frames.node[frame] as number;
    let found: readonly Tuple[] = NONE;
    for (let i = 0; i < caller.count && node !== -1; i++) {
      const edge = graph.edges.find(caller.nodes[i] as number, node);
      if (edge === -1) continue;
      const { relations, conditional: conditionals } = graph.statement(edge);
      if (relations.includes(relation)) {
        found = [...found, this.#tuple(edge, relation)];
        continue;
      }
      const holding = conditionals.find((one) => one.relation === relation && this.#walk.weigh(one) === YES);
      if (holding) found = [...found, { ...this.#tuple(edge, relation), condition: { name: holding.condition.name } }];
    }
    return found;
  }

  /** Usersets that are assigned the relation. */
  usersets(frame: number, relation: number): Lead[] {
    const { graph } = this.#walk;
    const leads: Lead[] = [];
    for (const { edge, frame: other } of this.#dependenciesOf(frame, relation)) {
      const { type, relation: of } = graph.kind(graph.edges.subject(edge));
      if (of !== undefined && type === this.type(other)) leads.push(this.#lead(edge, relation, other, of));
    }
    return leads;
  }

  /** Parents through a tupleset, if their type has the requested relation. */
  parents(frame: number, tupleset: number, name: string): Lead[] {
    const { graph } = this.#walk;
    const leads: Lead[] = [];
    for (const { edge, frame: other } of this.#dependenciesOf(frame, tupleset)) {
      const { type, relation: of } = graph.kind(graph.edges.subject(edge));
      const theirs = type.relationIndex.get(name);
      if (of === undefined && theirs !== undefined) leads.push(this.#lead(edge, tupleset, other, theirs));
    }
    return leads;
  }

  /** The tuple by which the user would be assigned the relation directly, if the model admits one. */
  assignable(frame: number, relation: number): Tuple | undefined {
    const { model } = this.#walk.graph;
    const { admits, name } = this.relation(frame, relation);
    const read = readReference(model, this.user);
    const conditions =
      typeof read === 'string' ? undefined : admits.get(read.userset === -1 ? read.kind : read.userset);
    if (conditions === undefined) return;
    const tuple = { user: this.user, relation: name, object: this.object(frame) };
    const [condition] = conditions;
    return conditions.has(undefined) || condition === undefined ? tuple : { ...tuple, condition: { name: condition } };
  }

  #dependenciesOf(frame: number, relation: number): readonly Dependency[] {
    let known = this.#dependencies.get(frame);
    if (known === undefined) {
      known = Map.groupBy(this.#walk.dependencies[frame] ?? [], (each) => each.relation);
      this.#dependencies.set(frame, known);
    }
    return known.get(relation) ?? [];
  }

  /** Of thousands of leads few are shown, so the tuple is put into words only then. */
  #lead(edge: number, stated: number, frame: number, relation: number): Lead {
    const tuple = () => this.#tuple(edge, stated);
    return {
      frame,
      relation,
      get tuple() {
        return tuple();
      },
    };
  }

  #cell(frame: number, relation: number): number {
    const { frames } = this.#walk;
    return frames.baseOf(frame) + (frames.planOf(frame).slotOf[relation] as number);
  }

  #value(frame: number, relation: number): number {
    return this.#walk.frames.cells[this.#cell(frame, relation)] as number;
  }

  #tuple(edge: number, relation: number): Tuple {
    const { graph } = this.#walk;
    const object = graph.edges.object(edge);
    const { name } = graph.kind(object).type.relations[relation] as RelationDef;
    return { user: graph.text(graph.edges.subject(edge)), relation: name, object: graph.text(object) };
  }
}
