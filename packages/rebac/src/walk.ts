import { Caller } from './caller.ts';
import { closureHeight } from './closure-height.ts';
import type { Context } from './conditions/condition.ts';
import { Frames } from './frames.ts';
import type { ConditionalTuple, Graph } from './graph.ts';
import { LookAlikes } from './look-alikes.ts';
import type { Kind } from './model-types.ts';
import { pathsFrom } from './paths.ts';
import type { Plan } from './plan.ts';
import { RebacError } from './rebac-error.ts';
import { type Dependency, Settlement } from './settle.ts';
import { FAULT, NO, OPEN, runSteps, YES } from './steps.ts';
import { GRANTS, LINKS } from './tables/nodes.ts';
import type { Tuple } from './tuple.ts';
import { type Verdict, Verdicts } from './verdicts.ts';

/** The maximum number of hops from object to object, as in OpenFGA. Beyond it a query counts as too complex. */
export const MAX_HOPS = 25;

/** At least this many edges of an object are scanned before pairs are looked up. Most objects have no more. */
const FEW_EDGES = 2;

/** A quick walk remembers no objects. If it has visited this many, it may be visiting the same ones again and again. */
const MAX_QUICK_VISITS = 64;

/**
 * Answers one query by walking from the object towards the caller's closure. Almost every walk is a plain descent. A
 * walk that meets a circle, or comes near the hop limit, is repeated as a wide walk: it enters every object first, then
 * settles all of them together.
 */
export class Walk {
  readonly graph: Graph;
  readonly caller: Caller;
  readonly frames = new Frames();
  /** What `quick` has found before. */
  readonly lookAlikes: LookAlikes;
  /** Wide walk only: what is still to be read, and from where. */
  dependencies: Dependency[][] = [];
  /** Wide walk only: what all frames together say. */
  settlement: Settlement | undefined;
  /** The first condition that could not be evaluated, in case the answer depends on it. */
  fault: RebacError | undefined;
  /** Why the last condition was a FAULT. */
  lastFault: RebacError | undefined;
  #wide = false;
  #trouble = false;
  /** How many hops there can be beyond the objects that a plain descent visits. */
  #beyond = 0;
  /** By userset kind: whether the model has a path from the caller. */
  #paths: Uint8Array = new Uint8Array(0);
  #context: Context | undefined;
  #rootIsSelf = false;
  #root = '';
  #assumed: readonly Tuple[] = [];
  readonly #verdicts = new Verdicts();
  #visits = 0;

  constructor(graph: Graph) {
    this.graph = graph;
    this.caller = new Caller(graph);
    this.lookAlikes = new LookAlikes(graph, this.caller, this.#verdicts);
  }

  /**
   * The same answer without frames, for the callers and objects that are by far the most frequent: those without
   * conditions, circles and long chains. Undefined for all others.
   */
  quick(user: string, node: number, plan: Plan): Verdict | undefined {
    const { caller, graph } = this;
    caller.become(user, false);
    if (!caller.ownComplete || caller.selfKind !== -1) return undefined;
    if (this.#assumed.length > 0 || graph.restated !== undefined) return undefined;
    this.#beyond = plan.guarded ? Math.max(caller.levels, closureHeight(graph)) : caller.levels;
    this.#visits = 0;
    if (this.#verdicts.limit()) graph.classes?.pairs.clear();
    return this.#visit(node, plan, 0);
  }

  #visit(node: number, plan: Plan, hops: number): Verdict | undefined {
    const verdicts = this.#verdicts;
    let verdict = verdicts.first(plan);
    if (hops + this.#beyond >= MAX_HOPS || this.#visits++ > MAX_QUICK_VISITS) return undefined;
    if (node === -1) return verdicts.finalOf(verdict);
    const { edges, nodes } = this.graph;
    const { ownCount, ownObjects, ownSets } = this.caller;
    for (let i = 0; i < ownCount; i++) {
      if (ownObjects[i] !== node) continue;
      const set = ownSets[i] as number;
      if (set === -1) return undefined;
      verdict = verdicts.withSet(verdict, set, edges.relationsOf(set));
    }
    for (let edge = nodes.first(node, LINKS); edge !== -1; edge = edges.nextIn(edge)) {
      if (edges.conditional(edge) !== 0) return undefined;
      const relations = edges.relations(edge);
      for (let i = 0; i < relations.length; i++) {
        const next = this.#through(verdict, edges.subject(edge), relations[i] as number, hops);
        if (next === undefined) return undefined;
        verdict = next;
      }
    }
    return verdicts.finalOf(verdict);
  }

  /** What a parent, or a userset that must be looked at, adds. */
  #through(verdict: Verdict, subject: number, relation: number, hops: number): Verdict | undefined {
    const { nodes, model } = this.graph;
    const { plan } = verdict;
    const kind = nodes.kind(subject);
    const { type, relation: of } = model.kinds[kind] as Kind;
    if (of === undefined) {
      const parent = plan.parents[relation] === undefined ? null : model.plans.forParent(plan, relation, type);
      if (parent === null) return verdict;
      const theirs = this.#visit(subject, parent.plan, hops + 1);
      return theirs && this.#verdicts.withParent(verdict, relation, parent, theirs);
    }
    if (plan.directSlotOf[relation] === -1) return verdict;
    if (model.closable[kind] !== 1) return undefined;
    return this.caller.includes(subject) ? this.#verdicts.withRelation(verdict, relation) : verdict;
  }

  /** Fills the first frame with what the plan needs of the object. `node` is -1 for an object that no tuple names. */
  run(user: string, object: string, node: number, plan: Plan, context: Context | undefined, wide = false): void {
    this.caller.become(user, wide);
    this.frames.reset();
    this.fault = undefined;
    this.settlement = undefined;
    this.#context = context;
    this.#trouble = false;
    this.#wide = wide;
    this.#root = object;
    this.#rootIsSelf = node === -1 && object === this.caller.selfText;
    this.#paths = pathsFrom(this.graph.model, this.caller.kind);
    if (!wide) {
      this.#beyond = plan.guarded ? Math.max(this.caller.levels, closureHeight(this.graph)) : this.caller.levels;
      this.#descend(node, plan, 0);
      if (this.#trouble) this.run(user, object, node, plan, context, true);
      return;
    }
    this.dependencies = [];
    this.frames.push(node, plan);
    for (let frame = 0; frame < this.frames.count; frame++) {
      this.dependencies.push([]);
      this.#fill(frame, 0);
    }
    this.settlement = new Settlement(this.frames, this.dependencies);
  }

  /** Until further notice, walks as if the caller had these tuples, with conditions that hold. */
  assume(tuples: readonly Tuple[]): void {
    this.#assumed = tuples;
  }

  /** Prepares for evaluating conditions and, unless the user is empty, for following the edges out of that user. */
  surround(user: string, context: Context | undefined): void {
    if (user !== '') this.caller.become(user, true);
    this.#context = context;
  }

  /** What the first frame says about a slot. A grant over too many hops is an error. */
  answer(slot: number): boolean | RebacError {
    const value = this.frames.cells[slot] as number;
    if (value === YES) return this.tooDeep(slot) ? tooComplex() : true;
    if (this.fault === undefined || value === NO) return false;
    return value === OPEN && !this.settlement?.isFaulty(slot) ? false : this.fault;
  }

  tooDeep(slot: number): boolean {
    return this.settlement !== undefined && (this.settlement.ranks[slot] as number) > MAX_HOPS;
  }

  /** The result of a condition. FAULT if it cannot be evaluated. */
  weigh({ condition, context }: ConditionalTuple): number {
    try {
      return condition.holds(context, this.#context) ? YES : NO;
    } catch (error) {
      if (!(error instanceof RebacError)) throw error;
      this.lastFault = error;
      return FAULT;
    }
  }

  #descend(node: number, plan: Plan, hops: number): number {
    const known = this.frames.find(node, plan);
    if (known !== -1) {
      if (this.frames.done[known] === 0) this.#trouble = true;
      return known;
    }
    const frame = this.frames.push(node, plan);
    if (hops + this.#beyond >= MAX_HOPS) this.#trouble = true;
    if (this.#trouble) return frame;
    this.#fill(frame, hops);
    const { cells } = this.frames;
    const base = this.frames.baseOf(frame);
    runSteps(plan, cells, base);
    this.frames.done[frame] = 1;
    return frame;
  }

  /** Enters everything that the tuples of one object state, before the steps of its plan run. */
  #fill(frame: number, hops: number): void {
    const { caller, frames, graph } = this;
    const node = frames.node[frame] as number;
    const plan = frames.planOf(frame);
    if (caller.selfKind !== -1) this.#define(frame, node, plan);
    if (this.#assumed.length > 0) this.#fillAssumed(frame, node, plan);
    if (node === -1) return;
    if (caller.ownComplete) this.#grantedByOwn(frame, node, plan);
    else if (!this.#grantedByList(frame, node, plan)) this.#grantedByPairs(frame, node, plan);
    for (let edge = graph.nodes.first(node, LINKS); edge !== -1; edge = graph.edges.nextIn(edge)) {
      this.#follow(frame, plan, edge, hops);
    }
    if (!this.#wide) return;
    for (let edge = graph.nodes.first(node, GRANTS); edge !== -1; edge = graph.edges.nextIn(edge)) {
      this.#follow(frame, plan, edge, hops);
    }
  }

  /** A caller that is a userset is in that userset. */
  #define(frame: number, node: number, plan: Plan): void {
    if (node !== this.caller.self && !(node === -1 && this.#rootIsSelf)) return;
    const { type, relation = -1 } = this.graph.model.kinds[this.caller.selfKind] as Kind;
    const slot = type === plan.type ? (plan.slotOf[relation] as number) : -1;
    if (slot !== -1) this.frames.gain(frame, slot, YES);
  }

  #fillAssumed(frame: number, node: number, plan: Plan): void {
    const text = node === -1 ? this.#root : this.graph.text(node);
    for (const { object, relation } of this.#assumed) {
      const slot = object === text ? plan.directSlotOf[plan.type.relationIndex.get(relation) ?? -1] : undefined;
      if (slot !== undefined && slot !== -1) this.frames.gain(frame, slot, YES);
    }
  }

  #grantedByOwn(frame: number, node: number, plan: Plan): void {
    const { ownCount, ownObjects, ownEdges } = this.caller;
    for (let i = 0; i < ownCount; i++) {
      if (ownObjects[i] === node) this.#grant(frame, plan, ownEdges[i] as number);
    }
  }

  #grantedByPairs(frame: number, node: number, plan: Plan): void {
    const { caller, graph } = this;
    const { admitted, kinds } = graph.model;
    const row = plan.type.index * kinds.length;
    for (let i = 0; i < caller.count; i++) {
      if (admitted[row + (caller.kinds[i] as number)] === 0) continue;
      const edge = graph.edges.find(caller.nodes[i] as number, node);
      if (edge !== -1) this.#grant(frame, plan, edge);
    }
  }

  /** Returns false if the object has more edges than the closure has members: then looking up pairs is cheaper. */
  #grantedByList(frame: number, node: number, plan: Plan): boolean {
    const { caller, graph } = this;
    let left = Math.max(caller.count, FEW_EDGES);
    for (let edge = graph.nodes.first(node, GRANTS); edge !== -1; edge = graph.edges.nextIn(edge)) {
      if (left-- === 0) return false;
      if (caller.includes(graph.edges.subject(edge))) this.#grant(frame, plan, edge);
    }
    for (let edge = graph.nodes.first(node, LINKS); edge !== -1; edge = graph.edges.nextIn(edge)) {
      if (left-- === 0) return false;
      if (caller.includes(graph.edges.subject(edge))) this.#grant(frame, plan, edge);
    }
    return true;
  }

  /** The caller is the subject of this edge. */
  #grant(frame: number, plan: Plan, edge: number): void {
    const { graph, frames } = this;
    const restated = graph.restated?.get(edge);
    const relations = restated?.relations ?? graph.edges.relations(edge);
    const base = frames.baseOf(frame);
    for (let i = 0; i < relations.length; i++) {
      const slot = plan.directSlotOf[relations[i] as number] as number;
      if (slot !== -1) frames.cells[base + slot] = YES;
    }
    if (graph.edges.conditional(edge) === 0 || graph.kind(graph.edges.subject(edge)).relation !== undefined) return;
    for (const conditional of restated?.conditional ?? graph.conditional(edge)) {
      const slot = plan.directSlotOf[conditional.relation] as number;
      if (slot === -1) continue;
      const value = this.weigh(conditional);
      if (value === FAULT) this.fault ??= this.lastFault;
      frames.gain(frame, slot, value);
    }
  }

  /** The subject of this edge is a parent, or a userset that must be opened. */
  #follow(frame: number, plan: Plan, edge: number, hops: number): void {
    const { graph } = this;
    const relations = graph.edges.relations(edge);
    for (let i = 0; i < relations.length; i++) this.#open(frame, plan, edge, relations[i] as number, hops);
    if (graph.edges.conditional(edge) === 0) return;
    for (const conditional of graph.conditional(edge)) {
      const { relation } = conditional;
      const userset = graph.kind(graph.edges.subject(edge)).relation !== undefined;
      const slots = this.#slotsFrom(plan, relation, userset);
      if (slots.length === 0) continue;
      const value = this.weigh(conditional);
      if (value === YES) this.#open(frame, plan, edge, relation, hops);
      if (value !== FAULT || this.#anotherHolds(graph.edges.object(edge), relation, userset)) continue;
      this.fault ??= this.lastFault;
      for (const slot of slots) this.frames.gain(frame, slot, FAULT);
    }
  }

  /** The slots that gain from a userset or parent through this relation. A relation without a path reads no tuple. */
  #slotsFrom(plan: Plan, relation: number, userset: boolean): readonly number[] {
    const first = plan.type.firstUserset;
    if (!userset) {
      return (plan.parents[relation] ?? []).filter(({ of }) => this.#paths[first + of] === 1).map(({ slot }) => slot);
    }
    const slot = plan.directSlotOf[relation] as number;
    return slot === -1 || this.#paths[first + relation] === 0 ? [] : [slot];
  }

  #open(frame: number, plan: Plan, edge: number, relation: number, hops: number): void {
    const { graph, caller, frames } = this;
    const subject = graph.edges.subject(edge);
    const kind = graph.nodes.kind(subject);
    const { type, relation: of } = graph.model.kinds[kind] as Kind;
    if (of === undefined) {
      if (plan.parents[relation] === undefined) return;
      const parent = graph.model.plans.forParent(plan, relation, type);
      if (parent === null) return;
      const { plan: theirPlan, relations, theirs, ours } = parent;
      this.#take(frame, edge, relation, subject, theirPlan, relations, theirs, ours, hops);
      return;
    }
    const slot = plan.directSlotOf[relation] as number;
    if (slot === -1) return;
    if (graph.model.closable[kind] === 1 && !this.#wide) {
      if (caller.includes(subject)) frames.gain(frame, slot, YES);
      return;
    }
    const theirs = graph.model.plans.forOne(type, of);
    const theirSlots = [theirs.slotOf[of] as number];
    this.#take(frame, edge, relation, graph.nodes.base(subject), theirs, [of], theirSlots, [slot], hops);
  }

  /** Continues to another object and merges some of its slots into ours. */
  #take(
    frame: number,
    edge: number,
    relation: number,
    node: number,
    plan: Plan,
    relations: readonly number[],
    theirs: readonly number[],
    ours: readonly number[],
    hops: number,
  ): void {
    const { frames } = this;
    if (this.#wide) {
      const known = frames.find(node, plan);
      const other = known === -1 ? frames.push(node, plan) : known;
      const leads = (at: number) => this.#paths[plan.type.firstUserset + (relations[at] as number)] === 1;
      // Usually all of them do, and there may be tens of thousands of such lists.
      const some = (slots: readonly number[]) =>
        theirs.every((_, at) => leads(at)) ? slots : slots.filter((_, at) => leads(at));
      this.dependencies[frame]?.push({ frame: other, theirs: some(theirs), ours: some(ours), edge, relation });
      return;
    }
    const other = frames.baseOf(this.#descend(node, plan, hops + 1));
    const base = frames.baseOf(frame);
    const { cells } = frames;
    for (let i = 0; i < theirs.length; i++) {
      const cell = base + (ours[i] as number);
      const value = cells[other + (theirs[i] as number)] as number;
      if (value > (cells[cell] as number)) cells[cell] = value;
    }
  }

  /** OpenFGA drops a condition's error if another tuple of the same list can be used. So does this engine. */
  #anotherHolds(object: number, relation: number, userset: boolean): boolean {
    const { graph } = this;
    for (const list of [LINKS, GRANTS]) {
      for (let edge = graph.nodes.first(object, list); edge !== -1; edge = graph.edges.nextIn(edge)) {
        if ((graph.kind(graph.edges.subject(edge)).relation !== undefined) !== userset) continue;
        if (graph.edges.relations(edge).includes(relation)) return true;
        const others = graph.conditional(edge).filter((other) => other.relation === relation);
        if (others.some((other) => this.weigh(other) === YES)) return true;
      }
    }
    return false;
  }
}

export function tooComplex(): RebacError {
  return new RebacError('tooComplex', `the answer depends on a chain of more than ${MAX_HOPS} relations`);
}
