import { AppError } from '../base/errors.ts';

/** SQLSTATE codes that report "not now" or "not here" about the server, rather than a problem with our statement. */
const REASONS: Readonly<Record<string, string>> = {
  '08P01': 'it rejects our settings, as PgBouncer does: set DATABASE_POOLER=transaction',
  '25006': 'the server is read-only',
  '25P03': 'a transaction was left open for too long',
  '26000': 'it has forgotten a prepared statement, as behind PgBouncer: set DATABASE_POOLER=transaction',
  '28000': 'the server rejected this user',
  '28P01': 'the server rejected the user name or password',
  '3D000': 'the server has no database with that name',
  '40001': 'two transactions conflicted',
  '40P01': 'two transactions blocked each other',
  '53100': 'the disk of the server is full',
  '53200': 'the server is out of memory',
  '53300': 'the server has no free connections',
  '55P03': 'a lock could not be acquired in time',
  '57014': 'the statement took too long',
};

const UNKNOWN_CA = /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET)_)/;
/** Connection exceptions, insufficient resources, operator intervention, system errors, timeouts of idle sessions. */
const OUT_OF_SERVICE = /^(08|53|57P|58|25P0[34])/;
/**
 * After these errors the connection can still be used. A server that only reads may be a standby by now, and the address
 * may lead to its successor.
 */
const KEEPS_CONNECTION = /^(40|53100|55P03|57014)/;

/** Whether the connection that raised this error must be discarded. An error without SQLSTATE came from the network. */
export function isLost(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined || (speaksOfServer(state) && !KEEPS_CONNECTION.test(state));
}

/**
 * Turns an error of either driver about the server, the disk or the network into "unavailable". An error about our
 * statement stays as it is.
 *
 * @param database names the database in messages: `the database at …`
 */
export function translate(error: unknown, database: string): unknown {
  if (error instanceof AppError) return error;
  const state = stateOf(error);
  if (state !== undefined && !speaksOfServer(state)) return error;
  const reason = state === undefined ? wireReason(error) : (REASONS[state] ?? `the server is unavailable (${state})`);
  const message = `${database} cannot be used: ${reason}`;
  if (isLost(error)) return lostDatabase(message, error);
  return new AppError('unavailable', message, { cause: error, retryAfter: 1 });
}

const LOST = new WeakSet<Error>();

/** The database cannot be reached, or cannot answer anything: not only this statement fails. */
export function lostDatabase(message: string, cause?: unknown): AppError {
  const error = new AppError('unavailable', message, { ...(cause !== undefined && { cause }), retryAfter: 1 });
  LOST.add(error);
  return error;
}

/** Whether this error was caused by a database that cannot be reached. */
export function isDatabaseLost(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (LOST.has(cause)) return true;
  return false;
}

/** The statement was sent, but its answer never came: it may or may not have been carried out. */
export function outcomeUnknown(cause: unknown): AppError {
  return new AppError('unavailable', 'the database did not confirm a change, so its outcome is unknown', {
    reason: 'outcome_unknown',
    retryAfter: 1,
    cause,
  });
}

/** Whether the server only reads, so that it has certainly changed nothing. */
export function isReadOnly(error: unknown): boolean {
  return stateOf(error) === '25006';
}

/** The SQLSTATE. The two drivers have classes of their own for what the server says, with the same fields. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error && 'severity' in error && 'code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the server itself has named an error. A pooler that loses its server says so with a code of class 08. */
export function isOfServer(error: unknown): boolean {
  return !(stateOf(error) ?? '08').startsWith('08');
}

/** Whether our own patience ran out, rather than that of the server. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && stateOf(error) === undefined && /timeout/i.test(error.message);
}

function speaksOfServer(state: string): boolean {
  return state in REASONS || OUT_OF_SERVICE.test(state);
}

function wireReason(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection was lost';
  if (isTimeout(error)) return 'the server did not respond in time';
  if (/^SASL/.test(error.message)) return 'the server requires a password';
  const code = 'code' in error ? error.code : undefined;
  const inTls = tlsReason(String(code), error.message);
  if (inTls !== undefined) return inTls;
  return typeof code === 'string' ? `the connection failed (${code})` : 'the connection was lost';
}

/** Why an encrypted connection was not opened, and what to do about it. */
function tlsReason(code: string, message: string): string | undefined {
  if (UNKNOWN_CA.test(code)) {
    return `its certificate is not signed by a known authority (${code}): name the file of its CA with sslrootcert`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: renew it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'its certificate is for another host name: use the name in the certificate in DATABASE_URL';
  }
  if (/does not support SSL/.test(message)) {
    return 'it does not accept encrypted connections, which sslmode demands: set ssl = on in its postgresql.conf';
  }
  return code === 'ENOENT' ? 'a file that DATABASE_URL names does not exist: correct sslrootcert' : undefined;
}
