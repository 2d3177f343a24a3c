import type { Frames } from './frames.ts';
import { runSteps, UNSURE } from './steps.ts';

/** Slots of one frame that gain from another frame, through a tuple of the graph. */
export interface Dependency {
  readonly frame: number;
  readonly theirs: readonly number[];
  readonly ours: readonly number[];
  readonly edge: number;
  readonly relation: number;
}

type Dependencies = readonly (readonly Dependency[])[];

/**
 * Finds what holds in frames that depend on each other in circles. Without negation that is the least solution, found
 * in rounds, each of which looks one hop farther. A negation within a circle is solved by alternating bounds (the
 * well-founded solution): a pass takes its denials from the bounds of the previous pass, until a pass changes nothing.
 * What is still open then is neither yes nor no. Returns, for each cell, the round in which it became certain.
 */
export function settle(frames: Frames, dependencies: Dependencies): Int32Array {
  const facts = frames.cells.slice(0, frames.size);
  const dependents = invert(dependencies);
  const negates = frames.plan.slice(0, frames.count).some((plan) => plan.negates);
  let denied: Uint8Array = new Uint8Array(facts.length).fill(UNSURE);
  for (;;) {
    const ranks = new Int32Array(facts.length);
    frames.cells.set(facts);
    leastSolution(frames, dependencies, dependents, denied, ranks);
    const found = frames.cells.slice(0, facts.length);
    if (!negates || Buffer.compare(found, denied) === 0) return ranks;
    denied = found;
  }
}

function leastSolution(
  frames: Frames,
  dependencies: Dependencies,
  dependents: readonly (readonly number[])[],
  denied: Uint8Array,
  ranks: Int32Array,
): void {
  const next = frames.cells.slice(0, frames.size);
  let due: readonly number[] = [...Array(frames.count).keys()];
  const queued = new Int32Array(frames.count);
  for (let round = 1; due.length > 0; round++) {
    for (const frame of due) advance(frames, frame, round === 1 ? [] : (dependencies[frame] ?? []), next, denied);
    const following: number[] = [];
    // All results of a round are entered at its end, so that a round is exactly one hop. The facts of the first round
    // are news to every frame that depends on them.
    for (const frame of due) {
      if (!commit(frames, frame, next, ranks, round) && round > 1) continue;
      for (const dependent of dependents[frame] ?? []) {
        if (queued[dependent] === round) continue;
        queued[dependent] = round;
        following.push(dependent);
      }
    }
    due = following;
  }
}

/** What one frame gains from the others as they were at the end of the previous round. */
function advance(
  frames: Frames,
  frame: number,
  gains: readonly Dependency[],
  next: Uint8Array,
  denied: Uint8Array,
): void {
  const base = frames.baseOf(frame);
  const plan = frames.planOf(frame);
  for (let i = 0; i < gains.length; i++) {
    const { frame: other, theirs, ours } = gains[i] as Dependency;
    const from = frames.baseOf(other);
    for (let j = 0; j < ours.length; j++) {
      const cell = base + (ours[j] as number);
      next[cell] = (next[cell] as number) | (frames.cells[from + (theirs[j] as number)] as number);
    }
  }
  runSteps(plan, next, base, denied, base);
  // Relations that refer to each other in a circle gain at most once each from every further pass.
  for (let pass = 0; plan.circular && pass < plan.slots; pass++) runSteps(plan, next, base, denied, base);
}

function commit(frames: Frames, frame: number, next: Uint8Array, ranks: Int32Array, round: number): boolean {
  const { cells } = frames;
  const base = frames.baseOf(frame);
  const end = base + frames.planOf(frame).slots;
  let changed = false;
  for (let cell = base; cell < end; cell++) {
    const value = next[cell] as number;
    if ((value & 1) === 1 && ranks[cell] === 0) ranks[cell] = round;
    if (value === cells[cell]) continue;
    cells[cell] = value;
    changed = true;
  }
  return changed;
}

function invert(dependencies: Dependencies): number[][] {
  const dependents: number[][] = dependencies.map(() => []);
  for (const [frame, list] of dependencies.entries())
    for (const { frame: other } of list) dependents[other]?.push(frame);
  return dependents;
}
