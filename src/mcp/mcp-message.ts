/**
 * Messages of the Model Context Protocol, of its stateless revision and of the ones before it. No revision needs a
 * session here: every message is answered by itself, on any replica.
 */

export const STATELESS = '2026-07-28';
export const WITH_INITIALIZE = ['2025-11-25', '2025-06-18'] as const;
export const VERSIONS: readonly string[] = [STATELESS, ...WITH_INITIALIZE];

export interface Message {
  /** Undefined for a notification, which has no answer. */
  readonly id: string | number | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Headers that repeat what is in the message, for proxies. */
export interface MessageHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

export type Fault = 'request' | 'params' | 'headers' | 'version';
export type Read =
  | { readonly message: Message; readonly isStateless: boolean }
  | { readonly fault: Fault; readonly why: string; readonly id: Message['id'] };

const VERSION = 'io.modelcontextprotocol/protocolVersion';
/** In every request of the stateless revision, because no earlier request has told. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const NO_MESSAGE = 'the body must be one JSON-RPC 2.0 message';

export function readMessage(body: unknown, headers: MessageHeaders): Read {
  if (!isObject(body)) return { fault: 'request', why: NO_MESSAGE, id: undefined };
  const { id: given, method, params = {} } = body;
  const id = typeof given === 'string' || typeof given === 'number' ? given : undefined;
  const wrong = (fault: Fault, why: string): Read => ({ fault, why, id });
  if (body.jsonrpc !== '2.0') return wrong('request', NO_MESSAGE);
  if (typeof method !== 'string' || id !== given || !isObject(params)) {
    return wrong('request', 'the message needs a method, and may have an id and params');
  }
  const message: Message = { id, method, params };
  const meta = isObject(params._meta) ? params._meta : {};
  const said = meta[VERSION];
  const isStateless = headers.version === STATELESS || said !== undefined;
  if (!isStateless) {
    const { version } = headers;
    // Clients of the revision before all of these do not send it.
    const isKnown = version === undefined || version === '2025-03-26' || VERSIONS.includes(version);
    return isKnown ? { message, isStateless } : wrong('version', `unknown protocol version: ${version.slice(0, 40)}`);
  }
  if (said === undefined) return wrong('params', `params._meta needs "${VERSION}"`);
  const mismatch = mismatchOf(message, said, headers);
  if (mismatch !== undefined) return wrong('headers', mismatch);
  if (said !== STATELESS) return wrong('version', `unknown protocol version: ${String(said).slice(0, 40)}`);
  if (!isObject(meta[CAPABILITIES])) return wrong('params', `params._meta needs "${CAPABILITIES}", an object`);
  return { message, isStateless };
}

function mismatchOf({ method, params }: Message, said: unknown, headers: MessageHeaders): string | undefined {
  if (headers.version !== said) return `MCP-Protocol-Version must be the version in params._meta["${VERSION}"]`;
  if (headers.method !== method) return 'Mcp-Method must be the method of the message';
  if (method !== 'tools/call') return undefined;
  return decoded(headers.name) === params.name ? undefined : 'Mcp-Name must be the name of the tool';
}

/** Names beyond ASCII are sent as `=?base64?…?=`. */
function decoded(text: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([\w+/=]*)\?=$/.exec(text ?? '') ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString('utf8');
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
