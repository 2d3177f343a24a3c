import type { Plan } from './plan.ts';

/** Above this many frames, a map finds them faster than a scan. */
const FEW = 24;

/** One frame for each object and plan that a walk has reached. Its slots are in `cells`, starting at `base`. */
export class Frames {
  cells = new Uint8Array(1024);
  count = 0;
  node = new Int32Array(64);
  base = new Int32Array(64);
  /** 1 once all of its slots are final. */
  done = new Uint8Array(64);
  plan: Plan[] = [];
  #used = 0;
  readonly #index = new Map<number, number>();

  reset(): void {
    if (this.count > FEW) this.#index.clear();
    this.count = 0;
    this.#used = 0;
  }

  find(node: number, plan: Plan): number {
    if (this.count > FEW) return this.#index.get(node * 65_536 + plan.id) ?? -1;
    for (let frame = 0; frame < this.count; frame++) {
      if (this.node[frame] === node && this.plan[frame] === plan) return frame;
    }
    return -1;
  }

  push(node: number, plan: Plan): number {
    const frame = this.count++;
    if (frame === this.node.length) this.#widen();
    const end = this.#used + plan.slots;
    if (end > this.cells.length) {
      const cells = new Uint8Array(end * 2);
      cells.set(this.cells);
      this.cells = cells;
    }
    this.cells.fill(0, this.#used, end);
    this.node[frame] = node;
    this.base[frame] = this.#used;
    this.done[frame] = 0;
    this.plan[frame] = plan;
    this.#used = end;
    if (this.count === FEW + 1) for (let each = 0; each < frame; each++) this.#enter(each);
    if (this.count > FEW) this.#enter(frame);
    return frame;
  }

  /** How many cells are in use. */
  get size(): number {
    return this.#used;
  }

  baseOf(frame: number): number {
    return this.base[frame] as number;
  }

  planOf(frame: number): Plan {
    return this.plan[frame] as Plan;
  }

  gain(frame: number, slot: number, value: number): void {
    const cell = this.baseOf(frame) + slot;
    if (value > (this.cells[cell] as number)) this.cells[cell] = value;
  }

  #enter(frame: number): void {
    this.#index.set((this.node[frame] as number) * 65_536 + this.planOf(frame).id, frame);
  }

  #widen(): void {
    const [node, base, done] = [this.node, this.base, this.done];
    this.node = new Int32Array(node.length * 2);
    this.base = new Int32Array(node.length * 2);
    this.done = new Uint8Array(node.length * 2);
    this.node.set(node);
    this.base.set(base);
    this.done.set(done);
  }
}
