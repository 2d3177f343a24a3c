/** A part of `npm run test:long`. */
export interface Lane {
  readonly name: string;
  readonly what: string;
  readonly files: readonly string[];
  /** On two quiet cores. */
  readonly minutes: number;
  /** It compares times, or starts servers until the machine is busy: nothing else runs meanwhile. */
  readonly isAlone?: true;
  /** Runs only if it is named, and why. */
  readonly onDemand?: string;
}
