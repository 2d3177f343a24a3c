import { type IncomingMessage, ServerResponse } from 'node:http';

/** Headers of every response, unless a route sets its own. */
const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
const NAMES = Object.keys(SAFE_HEADERS);
const LINES = linesOf(NAMES);

/** The step in which Node turns the first line and the headers into text. */
type StoreHeader = (this: ServerResponse, firstLine: string, headers: unknown) => void;
const storeHeader = (ServerResponse.prototype as unknown as { _storeHeader: StoreHeader })._storeHeader;
// It is not part of Node's public interface: a Node without it must not start without these headers.
if (typeof storeHeader !== 'function') throw new Error(`Node ${process.version} has no ServerResponse._storeHeader`);

/**
 * A response that includes our own headers. Node checks and copies every header of every response, which for these took
 * a fifth of the time of a small response, although their text is the same each time. So they are inserted after the
 * first line as they are; a test checks that each is there once.
 */
export class SafeResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #more = '';

  /** Further headers of this one response. Its ID has been validated, so it cannot end the line. */
  mark(requestId: string, isHttps: boolean): void {
    this.#more = `x-request-id: ${requestId}\r\n`;
    if (isHttps) this.#more += 'strict-transport-security: max-age=31536000\r\n';
  }

  _storeHeader(firstLine: string, headers: unknown): void {
    const own = (headers ?? {}) as Readonly<Record<string, unknown>>;
    const isPlain = NAMES.every((name) => own[name] === undefined);
    const lines = isPlain ? LINES : linesOf(NAMES.filter((name) => own[name] === undefined));
    storeHeader.call(this, firstLine + lines + this.#more, headers);
  }
}

function linesOf(names: readonly string[]): string {
  return names.map((name) => `${name}: ${SAFE_HEADERS[name]}\r\n`).join('');
}
