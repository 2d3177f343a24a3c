/** Sets of relations of one object, interned: a role that grants thirty permissions is one integer on an edge. */
export class RelationSets {
  /** By set number: its relations in ascending order. Set 0 is empty. */
  readonly members: (readonly number[])[] = [[]];
  readonly #byKey = new Map<string, number>([['', 0]]);
  /** By set number: which set results from adding a relation. */
  readonly #next: (number[] | undefined)[] = [];

  plus(set: number, relation: number): number {
    const known = this.#next[set]?.[relation];
    if (known !== undefined) return known;
    const members = this.members[set] as readonly number[];
    const grown = members.includes(relation) ? members : [...members, relation].sort((a, b) => a - b);
    const key = grown.join();
    let found = this.#byKey.get(key);
    if (found === undefined) {
      found = this.members.length;
      this.members.push(grown);
      this.#byKey.set(key, found);
    }
    const row = this.#next[set] ?? [];
    row[relation] = found;
    this.#next[set] = row;
    return found;
  }

  get bytes(): number {
    return this.members.reduce((sum, members) => sum + 160 + members.length * 24, 0);
  }
}
