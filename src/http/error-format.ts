import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorKind, reasonOf, type ViolatedGuardrail } from '../base/errors.ts';
import { writeJson } from '../base/json.ts';
import { safeText } from '../base/log.ts';
import { principalOf } from '../changes/principal.ts';
import { logOf } from './server.ts';
import { plainId } from './wire/schemas.ts';

export type Statuses = Readonly<Record<ErrorKind, number>>;

export const STATUS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  gone: 410,
  stale: 412,
  tooLarge: 413,
  malformed: 422,
  limited: 429,
  internal: 500,
  upstream: 502,
  unavailable: 503,
} satisfies Statuses;

const OUTCOME_UNKNOWN =
  'the outcome is unknown: the database did not confirm the change, which may or may not have been made; ' +
  'repeat it with the same Idempotency-Key, or look before you try again';

/** How one listener formats its errors. */
export interface ErrorFormat {
  readonly statuses: Statuses;
  /** If the status does not follow from the kind of the error. */
  readonly statusOf?: (error: AppError) => number;
  readonly contentType?: string;
  /** The scheme that clients of the listener send their token with. By default, that of the platform. */
  readonly challenge?: string;
  body(error: AppError, requestId: string): Record<string, unknown>;
}

/** `/api/v1`: `{message, url, reason}`, where url leads to the documentation. */
export function platformFormat(documentationUrl: () => string): ErrorFormat {
  return {
    statuses: STATUS,
    body: (error, requestId) => ({
      message: error.message,
      url: documentationUrl(),
      reason: reasonOf(error),
      ...(error.detail.relation !== undefined && { relation: error.detail.relation }),
      ...(error.detail.requestable && { requestable: true }),
      ...error.detail.members,
      ...(error.detail.secondFactor && { second_factor: { methods: error.detail.secondFactor } }),
      ...(error.detail.guardrail && { guardrail: presentGuardrail(error.detail.guardrail) }),
      ...(error.kind === 'malformed' && { errors: error.detail.errors ?? [{ field: 'body', message: error.message }] }),
      ...(error.kind === 'internal' && { request_id: requestId }),
    }),
  };
}

/** Written by the plain JSON writer. */
export function presentGuardrail({ id, name, sentence, violatedBy, total }: ViolatedGuardrail) {
  const violated_by = violatedBy.map((user) => {
    const { type, id: number } = principalOf(user.id);
    return { user: { id: plainId(number), name: user.name, ...(type === 'robot_ac' && { type }) } };
  });
  return { id: plainId(id), name, sentence, violated_by, total };
}

/** The marketplace listener: `{message}`. Marketplaces do not know 422 and retry only on 500. */
export const marketplaceFormat: ErrorFormat = {
  statuses: { ...STATUS, malformed: 400, unavailable: 500, upstream: 500 },
  body: (error) => ({ message: error.message }),
};

export function sendError(
  format: ErrorFormat,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = isHangUp(thrown, reply) ? hungUp() : toAppError(thrown);
  const status = format.statusOf?.(error) ?? format.statuses[error.kind];
  if (error.kind === 'tooLarge') readOn(request, reply);
  if (status >= 500) {
    const cause = error.detail.cause ?? error;
    request.isCounted = request.server.outages?.countRequest(cause) ?? false;
    const level = request.isCounted ? 'debug' : 'error';
    logOf(request)[level]({ err: cause, kind: error.kind }, safeText(error.message));
  }
  if (error.kind === 'unauthenticated') reply.header('WWW-Authenticate', format.challenge ?? 'token');
  if (error.detail.challenge) reply.header('WWW-Authenticate', error.detail.challenge);
  if (error.detail.retryAfter !== undefined) reply.header('Retry-After', String(Math.ceil(error.detail.retryAfter)));
  if (error.detail.allow) reply.header('Allow', error.detail.allow.join(', '));
  return reply
    .code(status)
    .header('Content-Type', format.contentType ?? 'application/json; charset=utf-8')
    .serializer(writeJson)
    .send(format.body(error, request.id));
}

/** No client reads it, but it ends the work. */
export function hungUp(): AppError {
  return new AppError('invalid', 'the client has hung up', { reason: 'client_gone' });
}

/** A response in pieces is cut off when its client hangs up, before or after the first piece. */
function isHangUp(thrown: unknown, { raw }: FastifyReply): boolean {
  return (thrown as { code?: unknown } | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.destroyed;
}

/** Larger bodies are cut off. */
const MAX_READ_ON = 16 * 1024 * 1024;

/**
 * The framework closes the connection after a body that it does not want. A client that is still sending then loses the
 * response with the connection: a proxy reports 502 and may take this server for broken. So a body that has an end in
 * sight is read, and forgotten.
 */
function readOn(request: FastifyRequest, reply: FastifyReply): void {
  if (!(Number(request.headers['content-length']) <= MAX_READ_ON)) return;
  reply.removeHeader('connection');
  request.raw.resume();
}

/** Translates errors of the framework. Anything else that was thrown is our fault, and its cause goes to the log. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return isOurs(thrown) ? hideCause(thrown) : thrown;
  const { code, statusCode, validation, validationContext } = (thrown ?? {}) as Partial<FastifyError>;
  if (validation) return fromValidation(validation, validationContext ?? 'body');
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError('tooLarge', 'body is larger than 1 MiB');
  if (code === 'FST_ERR_BAD_URL') return new AppError('invalid', 'path is not a valid URL');
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new AppError('malformed', 'body length does not match Content-Length');
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('invalid', 'path is too long');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new AppError('malformed', 'body must be sent as application/json');
  // This is how the framework marks a body that broke off: the client hung up, and nothing is wrong here.
  if (code === 'ECONNRESET' && statusCode === 400) return new AppError('malformed', 'body is not complete');
  return new AppError('internal', 'internal error', { cause: thrown });
}

function isOurs({ kind }: AppError): boolean {
  return kind === 'internal' || kind === 'unavailable';
}

/** Where the database is and what is wrong with it is for the log only. */
function hideCause(cause: AppError): AppError {
  if (cause.kind === 'internal') return new AppError('internal', 'internal error', { cause });
  const retryAfter = cause.detail.retryAfter ?? 1;
  if (cause.detail.reason === 'outcome_unknown') {
    return new AppError('unavailable', OUTCOME_UNKNOWN, { cause, retryAfter, reason: 'outcome_unknown' });
  }
  return new AppError('unavailable', 'the service cannot answer right now, try again later', { cause, retryAfter });
}

type Validation = NonNullable<FastifyError['validation']>;

function fromValidation(faults: Validation, part: string): AppError {
  const errors = faults.map((fault) => {
    const missing = fault.keyword === 'required' ? `/${fault.params.missingProperty}` : '';
    const field = `${fault.instancePath}${missing}`.slice(1).replaceAll('/', '.');
    return { field: field || part, message: `${field || part} ${wording(fault)}` };
  });
  const message = errors.map((error) => error.message).join('; ') || `${part} is invalid`;
  return new AppError(part === 'body' ? 'malformed' : 'invalid', message, { errors });
}

function wording(fault: Validation[number]): string {
  if (fault.keyword === 'required') return 'is required';
  if (fault.keyword === 'enum') return `must be one of ${(fault.params.allowedValues as string[]).join(', ')}`;
  // Null counts as left out, so no message suggests sending it.
  return fault.message?.replace(/,null$/, '') ?? 'is invalid';
}
