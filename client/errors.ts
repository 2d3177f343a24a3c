export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The server answered with an error. */
export class ApiError extends Error {
  readonly status: number;
  /** Why, for programs; empty if the server does not say. */
  readonly reason: string;
  /** The missing relation, if that is the reason. */
  readonly relation: string;
  /** Whether the caller could ask for what they lack. */
  readonly isRequestable: boolean;
  /** What the user can finish signing in with, if a second factor is needed. */
  readonly secondFactor: readonly string[];
  /** Which fields of the body are wrong, on 422. */
  readonly errors: readonly FieldError[];
  /** Finds the request in the server's log. */
  readonly requestId: string;
  /** Seconds to wait, if the server specifies them. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    message: string,
    detail: {
      reason?: string;
      relation?: string;
      isRequestable?: boolean;
      secondFactor?: readonly string[];
      errors?: readonly FieldError[];
      requestId?: string;
      retryAfter?: number | undefined;
    } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = detail.reason ?? '';
    this.relation = detail.relation ?? '';
    this.isRequestable = detail.isRequestable ?? false;
    this.secondFactor = detail.secondFactor ?? [];
    this.errors = detail.errors ?? [];
    this.requestId = detail.requestId ?? '';
    this.retryAfter = detail.retryAfter;
  }
}

/** No answer from this API: the server is down, too slow, or not an Atrium server. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}
