/** A part of a list, and how long the whole list is. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  /** There are more than `total - 1`, and they were not counted to the end. */
  readonly isBounded?: boolean;
}

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}
