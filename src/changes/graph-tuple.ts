/** One tuple of the `tuple` view. */
export interface GraphTuple {
  readonly object: string;
  readonly relation: string;
  readonly user: string;
  /** The row that the tuple comes from. A change of the row replaces all its tuples. */
  readonly source: string;
}
