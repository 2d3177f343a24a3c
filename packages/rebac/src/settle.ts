import type { Frames } from './frames.ts';
import { CERTAIN, DENYING, FAULT, LIKELY, type Logic, OPEN, runStepsBy } from './steps.ts';

/** Slots of one frame that gain from another frame, through a tuple of the graph. */
export interface Dependency {
  readonly frame: number;
  readonly theirs: readonly number[];
  readonly ours: readonly number[];
  readonly edge: number;
  readonly relation: number;
}

type Dependencies = readonly (readonly Dependency[])[];

/** What is known of frames that depend on each other, possibly in circles. */
export class Settlement {
  /** By cell: the round in which it became certain. A round looks one hop farther than the one before. */
  readonly ranks: Int32Array;
  readonly #frames: Frames;
  readonly #dependencies: Dependencies;
  readonly #dependents: readonly (readonly number[])[];
  readonly #facts: Uint8Array;
  #denied: Uint8Array | undefined;

  /**
   * Finds everything that is certain, in rounds. At first every cell is open. A cell becomes certain once the cells that
   * it depends on are. What is still open in the end depends on itself.
   */
  constructor(frames: Frames, dependencies: Dependencies) {
    this.#frames = frames;
    this.#dependencies = dependencies;
    this.#dependents = invert(dependencies);
    this.#facts = frames.cells.slice(0, frames.size);
    this.ranks = new Int32Array(frames.size);
    frames.cells.fill(OPEN, 0, frames.size);
    this.#solve(CERTAIN, frames.cells, (cell, round) => {
      this.ranks[cell] = round;
    });
  }

  /** Whether OpenFGA would hear a fault in this open cell, instead of denying because of a circle. */
  isFaulty(cell: number): boolean {
    if (this.#denied === undefined) {
      this.#denied = this.#frames.cells.slice(0, this.#frames.size);
      for (const logic of [LIKELY, DENYING]) this.#solve(logic, this.#denied, () => {});
    }
    return this.#denied[cell] === FAULT;
  }

  /** Evaluates frames until no open cell changes. */
  #solve(logic: Logic, cells: Uint8Array, settled: (cell: number, round: number) => void): void {
    const frames = this.#frames;
    const next = new Uint8Array(frames.size);
    let due: readonly number[] = [...Array(frames.count).keys()];
    const queued = new Int32Array(frames.count);
    for (let round = 1; due.length > 0; round++) {
      for (const frame of due) this.#evaluate(logic, frame, cells, next);
      const following: number[] = [];
      // All results of a round are entered at its end, so that a round is exactly one hop.
      for (const frame of due) {
        if (!this.#enter(frame, cells, next, (cell) => settled(cell, round))) continue;
        for (const dependent of this.#dependents[frame] ?? []) {
          if (queued[dependent] === round) continue;
          queued[dependent] = round;
          following.push(dependent);
        }
      }
      due = following;
    }
  }

  /** What a frame says, given the others as they were at the end of the previous round. */
  #evaluate(logic: Logic, frame: number, cells: Uint8Array, next: Uint8Array): void {
    const base = this.#frames.baseOf(frame);
    const plan = this.#frames.planOf(frame);
    next.set(this.#facts.subarray(base, base + plan.slots), base);
    for (const { frame: other, theirs, ours } of this.#dependencies[frame] ?? []) {
      const from = this.#frames.baseOf(other);
      for (let i = 0; i < ours.length; i++) {
        const cell = base + (ours[i] as number);
        next[cell] = logic.or[(next[cell] as number) * 4 + (cells[from + (theirs[i] as number)] as number)] as number;
      }
    }
    runStepsBy(logic, plan, next, base);
  }

  #enter(frame: number, cells: Uint8Array, next: Uint8Array, settled: (cell: number) => void): boolean {
    const base = this.#frames.baseOf(frame);
    const end = base + this.#frames.planOf(frame).slots;
    let changed = false;
    for (let cell = base; cell < end; cell++) {
      if (cells[cell] !== OPEN || next[cell] === OPEN) continue;
      cells[cell] = next[cell] as number;
      settled(cell);
      changed = true;
    }
    return changed;
  }
}

function invert(dependencies: Dependencies): number[][] {
  const dependents: number[][] = dependencies.map(() => []);
  for (const [frame, list] of dependencies.entries())
    for (const { frame: other } of list) dependents[other]?.push(frame);
  return dependents;
}
