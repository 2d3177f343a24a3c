/**
 * Every refusal of the house is an AppError of one of these kinds, in domain words.
 * Which status a kind becomes is decided by the voice that speaks it (http/errors.ts).
 */
export const ERROR_KINDS = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'notFound',
  'methodNotAllowed',
  'conflict',
  'gone',
  'stale',
  'tooLarge',
  'malformed',
  'limited',
  'internal',
  'upstream',
  'unavailable',
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

export interface ErrorDetail {
  /** What was wrong with which field; spoken only with `malformed`. */
  readonly errors?: readonly FieldFault[];
  /** Seconds after which trying again makes sense. */
  readonly retryAfter?: number;
  /** The methods that a known path does answer. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly detail: ErrorDetail;

  constructor(kind: ErrorKind, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.detail = detail;
  }
}

/** One field of the request is not acceptable. */
export function invalidField(field: string, message: string): AppError {
  return new AppError('malformed', message, { errors: [{ field, message }] });
}
