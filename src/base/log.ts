import { type DestinationStream, type Logger, pino } from 'pino';
import { AppError } from './errors.ts';

/** Our tokens, and the seeds and signed claims of the message bus. */
const TOKEN_TEXT = /atr_[0-9A-Za-z]{8,}|\bS[AOU][A-Z2-7]{56}\b|\beyJ[\w-]{16,}\.[\w-]+\.[\w-]+/g;
/** What stands for everything that may be a secret. */
export const HIDDEN = '***';

/**
 * Writes JSON lines to standard error. Nothing that a client sent is logged unless it is known to be harmless: bodies
 * and headers never are, `http/observe.ts` decides about the rest of a request, and `loggedError` about errors. What
 * might still slip through is hidden by name, and by the shape of our own tokens.
 */
export function createLog(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  const names = [
    'password',
    'adminPassword',
    'secret',
    'token',
    'access_token',
    'authorization',
    'cookie',
    'set-cookie',
  ];
  const paths = names.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: loggedError },
      redact: { paths, censor: HIDDEN },
      hooks: { streamWrite: (line) => line.replace(TOKEN_TEXT, HIDDEN) },
    },
    destination,
  );
}

const MAX_TEXT = 1000;
const MAX_CAUSES = 5;
const WORD = /^[\w.-]{1,80}$/;
/** What errors of Node and of the database say about themselves in words of their own. */
const FACTS = ['code', 'errno', 'syscall', 'severity', 'routine', 'schema', 'table', 'column', 'constraint', 'kind'];

/**
 * An error as it may be logged. Libraries keep whole requests in their errors, and databases whole rows, so of the
 * members only a few are taken, and messages are cleaned.
 */
export function loggedError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const facts = FACTS.flatMap((name) => {
    const value = (error as unknown as Record<string, unknown>)[name];
    return (typeof value === 'string' && WORD.test(value)) || typeof value === 'number' ? [[name, value]] : [];
  });
  const isDeep = depth >= MAX_CAUSES;
  const { cause } = error;
  const others = error instanceof AggregateError && !isDeep ? error.errors.slice(0, MAX_CAUSES) : [];
  return {
    type: WORD.test(error.name) ? error.name : 'Error',
    message: cleanMessage(error),
    ...Object.fromEntries(facts),
    stack: framesOf(error),
    ...(cause !== undefined && !isDeep && { cause: loggedError(cause, depth + 1) }),
    ...(others.length > 0 && { errors: others.map((one) => loggedError(one, depth + 1)) }),
  };
}

/** Where it happened. The first lines of a stack repeat the message. */
function framesOf({ stack }: Error): string {
  const lines = typeof stack === 'string' ? stack.split('\n') : [];
  return lines.filter((line) => /^ {4}at /.test(line)).join('\n');
}

/** Errors that quote the value that they reject: bad JSON, bad arguments of Node, bad data in the database (class 22). */
const QUOTES_VALUES = /^(?:22[0-9A-Z]{3}|ERR_INVALID_\w+|ERR_OUT_OF_RANGE)$/;
const QUOTED = /"[^"]*"|'[^']*'|`[^`]*`/g;
const QUOTED_NAME = /^.[a-z_][a-z0-9_]{0,62}.$/;

function cleanMessage(error: Error): string {
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  const isValue = error instanceof SyntaxError || QUOTES_VALUES.test(code);
  if (error instanceof AppError) return safeText(error.message);
  const text = error.message.replace(QUOTED, (quoted) => (!isValue && QUOTED_NAME.test(quoted) ? quoted : HIDDEN));
  return safeText(text);
}

const URL_TEXT = /([a-z][a-z\d+.-]*:\/\/)(?:[^\s/?#"'<>]*@)?([^\s/?#"'<>@]*)([^\s"'<>]*)/gi;

/** Text that a client has a part in, as it may be logged: of a URL, only where it leads. */
export function safeText(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(URL_TEXT, (_all, scheme: string, host: string, rest: string) =>
      rest === '' ? `${scheme}${host}` : `${scheme}${host}/${HIDDEN}`,
    );
}
