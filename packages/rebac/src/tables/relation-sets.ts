/** What a set takes besides its members, and what each member takes, in bytes. */
const SET_BYTES = 160;
const MEMBER_BYTES = 24;

const NOTHING: readonly number[] = [];

/** The set without relations. */
export const EMPTY = 0;

/**
 * Sets of relations of one object, interned: a role that grants thirty permissions is one integer on an edge. Edges are
 * counted per set. A set that no edge uses any more is dropped and its number is used again, so a role that is edited a
 * hundred thousand times leaves nothing behind.
 */
export class RelationSets {
  /** By set number: its relations in ascending order. */
  readonly members: (readonly number[])[] = [NOTHING];
  /** Most edges have one relation. Its number is the key, so that no text is needed. */
  readonly #byKey = new Map<string | number, number>();
  readonly #uses: number[] = [0];
  readonly #free: number[] = [];
  #bytes = SET_BYTES;

  /** How many sets there are, including the empty one. */
  get count(): number {
    return this.members.length - this.#free.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The set of these relations, which are ascending and distinct, for one more edge. */
  acquire(relations: readonly number[]): number {
    if (relations.length === 0) return EMPTY;
    const key = keyOf(relations);
    let set = this.#byKey.get(key);
    if (set === undefined) {
      set = this.#free.pop() ?? this.members.length;
      this.members[set] = relations.slice();
      this.#uses[set] = 0;
      this.#byKey.set(key, set);
      this.#bytes += SET_BYTES + relations.length * MEMBER_BYTES;
    }
    this.#uses[set] = (this.#uses[set] as number) + 1;
    return set;
  }

  /** One edge less uses the set. */
  release(set: number): void {
    if (set === EMPTY) return;
    const left = (this.#uses[set] as number) - 1;
    this.#uses[set] = left;
    if (left > 0) return;
    const relations = this.members[set] as readonly number[];
    this.#byKey.delete(keyOf(relations));
    this.members[set] = NOTHING;
    this.#free.push(set);
    this.#bytes -= SET_BYTES + relations.length * MEMBER_BYTES;
  }
}

function keyOf(relations: readonly number[]): string | number {
  return relations.length === 1 ? (relations[0] as number) : relations.join();
}
