import type { Reason } from './reasons.ts';

/**
 * Every expected failure is an AppError of one of these kinds, in domain words. The error format of a listener decides
 * which status a kind becomes (http/error-format.ts). Each kind has a reason, which an error can make more specific.
 */
export const REASON_OF = {
  invalid: 'invalid_request',
  unauthenticated: 'unauthenticated',
  forbidden: 'forbidden',
  notFound: 'not_found',
  methodNotAllowed: 'method_not_allowed',
  conflict: 'conflict',
  gone: 'gone',
  stale: 'precondition_failed',
  tooLarge: 'body_too_large',
  malformed: 'validation_failed',
  limited: 'rate_limited',
  internal: 'internal_error',
  upstream: 'upstream_failed',
  unavailable: 'unavailable',
} as const satisfies Readonly<Record<string, Reason>>;

export type ErrorKind = keyof typeof REASON_OF;
export const ERROR_KINDS = Object.keys(REASON_OF) as ErrorKind[];

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

export interface ErrorDetail {
  /** More specific than that of the kind. */
  readonly reason?: Reason;
  /** The relation that is missing, as the route names it. */
  readonly relation?: string;
  /** The guardrail that a change would violate, and by whom, as far as the caller may know. */
  readonly guardrail?: ViolatedGuardrail;
  /** What a user can finish signing in with. */
  readonly secondFactor?: readonly string[];
  /** What was wrong with which field. Sent only with `malformed`. */
  readonly errors?: readonly FieldFault[];
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number;
  /** What is wrong, in the closed set of words that SCIM has for it (RFC 7644, table 9). */
  readonly scimType?: ScimType;
  /** What is wrong with a token request, in the words of RFC 6749 and RFC 8693. */
  readonly oauthError?: OAuthError;
  /** What the WWW-Authenticate header says, if it is more than the scheme. */
  readonly challenge?: string;
  /** The methods that a known path answers. */
  readonly allow?: readonly string[];
  /** The caller could ask for what is missing, in an access request. */
  readonly requestable?: boolean;
  /** Further members of the body, in the words of the API. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The object that the caller was kept from, for the audit log only: it is never sent. */
  readonly keptFrom?: KeptFrom;
  readonly cause?: unknown;
}

export type OAuthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'slow_down'
  | 'server_error'
  | 'temporarily_unavailable';

export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

export interface ViolatedGuardrail {
  readonly id: bigint;
  readonly name: string;
  readonly sentence: string;
  /** Users, and robots as the numbers of changes/principal.ts. */
  readonly violatedBy: readonly { readonly id: bigint; readonly name: string }[];
  /** How many violate it, also if the caller may not know who. */
  readonly total: number;
}

/** An object that exists, and the account that owns it. An organization owns itself. */
export interface KeptFrom {
  readonly ownerId: bigint;
  readonly type: string;
  readonly id: bigint;
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

export function reasonOf({ kind, detail }: AppError): Reason {
  return detail.reason ?? REASON_OF[kind];
}

/** One field of the request is invalid. */
export function invalidField(field: string, message: string, reason: Reason = 'validation_failed'): AppError {
  return new AppError('malformed', message, { reason, errors: [{ field, message }] });
}

/** The caller does not hold a relation that the request needs. */
export function missingRelation(relation: string, because = '', keptFrom?: KeptFrom): AppError {
  const detail = { reason: 'missing_relation', relation, ...(keptFrom && { keptFrom }) } as const;
  return new AppError('forbidden', `missing relation ${relation}${because}`, detail);
}
