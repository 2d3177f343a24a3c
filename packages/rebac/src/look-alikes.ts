import type { Caller } from './caller.ts';
import type { Graph } from './graph.ts';
import type { Plan } from './plan.ts';
import { CALLER, type Classes, MAX_EDGES, OBJECT, type Side } from './tables/classes.ts';
import { LINKS, REACHES, USES } from './tables/nodes.ts';
import { MAX_EXCEPTIONS } from './tables/pairs.ts';
import { EMPTY } from './tables/relation-sets.ts';
import type { Reference } from './tuple.ts';
import type { Verdict, Verdicts } from './verdicts.ts';

/**
 * Answers of a large graph that were found before. Two callers with the same edges are in the same usersets, and two
 * objects with the same edges have the same parents. So what a caller may do with an object holds for all others of
 * their classes (tables/classes.ts), unless the caller has an edge to the object itself. Finding that takes one read of
 * main memory for each side, where a walk takes several.
 */
export class LookAlikes {
  readonly #graph: Graph;
  readonly #caller: Caller;
  readonly #verdicts: Verdicts;
  readonly #edges: number[] = [];
  readonly #exceptions: number[] = [];

  constructor(graph: Graph, caller: Caller, verdicts: Verdicts) {
    this.#graph = graph;
    this.#caller = caller;
    this.#verdicts = verdicts;
  }

  /** The verdict for a caller and an object like these, if one is known. */
  recall(user: Reference, object: Reference, plan: Plan): Verdict | undefined {
    const { classes, revision, restated } = this.#graph;
    if (classes === undefined || restated !== undefined) return undefined;
    if (user.userset !== -1 || user.number === 0 || object.number === 0) return undefined;
    const left = classes.lineOf(user.kind, user.number);
    const right = classes.lineOf(object.kind, object.number);
    // Both lines are read at the same time. Otherwise the second would be read only once the first is searched.
    this.#graph.warmed = classes.peek(left) + classes.peek(right);
    const ours = classes.find(left, user.kind, CALLER, user.number);
    const theirs = classes.find(right, object.kind, OBJECT, object.number);
    if (ours === -1 || theirs === -1) return undefined;
    const found = classes.pairs.find(ours, theirs, revision, object.number);
    const verdict = found === -1 ? undefined : this.#verdicts.withId(found);
    return verdict?.plan === plan ? verdict : undefined;
  }

  /** Remembers the verdict that a quick walk has just found for the present caller and this object. */
  learn(user: Reference, object: Reference, node: number, verdict: Verdict): void {
    const { classes, revision } = this.#graph;
    if (classes === undefined || user.number === 0 || object.number === 0) return;
    const exceptions = this.#exceptionsFor(object);
    if (exceptions === undefined) return;
    classes.limit();
    const ours = this.#classOf(classes, CALLER, user, this.#caller.node);
    const theirs = this.#classOf(classes, OBJECT, object, node);
    if (ours !== -1 && theirs !== -1) classes.pairs.enter(ours, theirs, revision, verdict.id, exceptions);
  }

  /** Objects of the same kind to which the closure has edges. Undefined if this is one of them, or if there are many. */
  #exceptionsFor({ kind, number }: Reference): readonly number[] | undefined {
    const { nodes } = this.#graph;
    const { ownCount, ownObjects } = this.#caller;
    const exceptions = this.#exceptions;
    exceptions.length = 0;
    for (let i = 0; i < ownCount; i++) {
      const object = ownObjects[i] as number;
      const other = nodes.number(object);
      if (nodes.kind(object) !== kind || other >= 0) continue;
      if (other === number || exceptions.length === MAX_EXCEPTIONS) return undefined;
      exceptions.push(other);
    }
    return exceptions;
  }

  #classOf(classes: Classes, side: Side, { kind, number }: Reference, node: number): number {
    if (node === -1) return -1;
    const found = classes.find(classes.lineOf(kind, number), kind, side, number);
    if (found !== -1) return found;
    const edges = this.#edges;
    edges.length = 0;
    const isPlain =
      side === OBJECT ? this.#collect(node, LINKS) : this.#collect(node, USES) && this.#collect(node, REACHES);
    return isPlain ? classes.enter(kind, side, number, edges) : -1;
  }

  /** Adds the edges of a list. Returns false if there are too many, or if the walk would have to weigh a condition. */
  #collect(node: number, list: number): boolean {
    const { nodes, edges } = this.#graph;
    for (let edge = nodes.first(node, list); edge !== -1; ) {
      if (edges.conditional(edge) !== 0) return false;
      const set = edges.set(edge);
      if (set !== EMPTY && this.#edges.length === 2 * MAX_EDGES) return false;
      if (set !== EMPTY) this.#edges.push(list === LINKS ? edges.subject(edge) : edges.object(edge), set);
      edge = list === LINKS ? edges.nextIn(edge) : edges.nextOut(edge);
    }
    return true;
  }
}
