/** A part of a list, and how long the whole list is. */
export interface Listed<T> {
  readonly entries: readonly T[];
  readonly total: number;
}

export interface Slice {
  readonly offset: number;
  readonly limit: number;
}
