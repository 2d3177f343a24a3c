/** A part of `npm run test:long`. */
export interface Lane {
  readonly name: string;
  readonly what: string;
  readonly files: readonly string[];
  /** On two quiet cores. */
  readonly minutes: number;
  /** Runs only if it is named, and why. */
  readonly onDemand?: string;
}
