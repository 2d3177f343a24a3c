export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The server answered, and its answer was no. */
export class ApiError extends Error {
  readonly status: number;
  /** Which fields of the body were wrong, on 422. */
  readonly errors: readonly FieldError[];
  /** Finds the request in the server's log. */
  readonly requestId: string;
  /** Seconds to wait, where the server says so. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    message: string,
    detail: { errors?: readonly FieldError[]; requestId?: string; retryAfter?: number | undefined } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.errors = detail.errors ?? [];
    this.requestId = detail.requestId ?? '';
    this.retryAfter = detail.retryAfter;
  }
}

/** No answer came, or none that this API gives: the server is not there, too slow, or another one. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}
