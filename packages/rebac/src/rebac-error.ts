/** The errors of the engine, with OpenFGA's codes, so that its public tests apply unchanged. */
export const REBAC_CODES = {
  validation: 2000,
  tooComplex: 2002,
  typeNotFound: 2021,
  relationNotFound: 2022,
  invalidTuple: 2027,
  /** The model itself is invalid. OpenFGA returns this when a model is written. */
  invalidModel: 2056,
} as const;

export type RebacFault = keyof typeof REBAC_CODES;

export class RebacError extends Error {
  readonly fault: RebacFault;
  readonly code: number;

  constructor(fault: RebacFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RebacError';
    this.fault = fault;
    this.code = REBAC_CODES[fault];
  }
}
