import { type DestinationStream, type Logger, pino } from 'pino';

const SECRET_PARAMETERS = new Set(['token', 'access_token', 'secret', 'password', 'sig', 'key']);
/** Our tokens, and the seeds and signed claims of the message bus. */
const TOKEN_TEXT = /atr_[0-9A-Za-z]{8,}|\bS[AOU][A-Z2-7]{56}\b|\beyJ[\w-]{16,}\.[\w-]+\.[\w-]+/g;
const HIDDEN = '***';

/**
 * Writes JSON lines to standard error. Bodies and headers are never logged. What might slip through is hidden by name.
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
      redact: { paths, censor: HIDDEN },
      hooks: { streamWrite: (line) => line.replace(TOKEN_TEXT, HIDDEN) },
    },
    destination,
  );
}

/** A URL as it may be logged. Parameter names are decoded first: `%74oken=` is a token too. */
export function safeUrl(url: string): string {
  const question = url.indexOf('?');
  if (question < 0) return url.replace(TOKEN_TEXT, HIDDEN);
  const pairs = url.slice(question + 1).split('&');
  const safe = pairs.map((pair) => {
    const name = pair.split('=', 1)[0] ?? '';
    return SECRET_PARAMETERS.has(decode(name).toLowerCase()) ? `${name}=${HIDDEN}` : pair;
  });
  return `${url.slice(0, question)}?${safe.join('&')}`.replace(TOKEN_TEXT, HIDDEN);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
