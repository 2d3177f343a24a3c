/** The right side of a `define`, with relations as their index within the type. */
export type Rewrite =
  | { readonly op: 'this' }
  | { readonly op: 'computed'; readonly relation: number }
  | { readonly op: 'parent'; readonly tupleset: number; readonly relation: string }
  | { readonly op: 'or' | 'and'; readonly of: readonly Rewrite[] }
  | { readonly op: 'not'; readonly base: Rewrite; readonly subtract: Rewrite };

export interface RelationDef {
  readonly name: string;
  readonly index: number;
  readonly rewrite: Rewrite;
  /** Which kinds of subject may be assigned directly, and under which conditions (`undefined` means no condition). */
  readonly admits: ReadonlyMap<number, ReadonlySet<string | undefined>>;
}

export interface TypeDef {
  readonly name: string;
  readonly index: number;
  /** In the order in which the model defines them. */
  readonly relations: readonly RelationDef[];
  readonly relationIndex: ReadonlyMap<string, number>;
  /** The kind number of the userset of this type's first relation. */
  readonly firstUserset: number;
  /** Relations that are the y of some `x from y` of this type. */
  readonly tuplesets: ReadonlySet<number>;
}

/** What a subject kind number means: an object of a type, everybody of a type, or a userset. */
export interface Kind {
  readonly type: TypeDef;
  readonly relation: number | undefined;
  readonly wildcard: boolean;
}
