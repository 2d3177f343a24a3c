import { AppError } from '../base/errors.ts';
import type { Holding } from './wanted-bindings.ts';

export interface Heartbeat {
  readonly phase: 'Active' | 'NotReady';
  readonly reason: string;
  readonly message: string;
  readonly nodeCount?: number;
  readonly orchestratorVersion?: string;
  readonly endpoint?: string;
  readonly caBundle?: string;
}

export interface AtriumClient {
  /** Undefined: they are those of the ETag still. */
  bindings(
    etag: string | undefined,
  ): Promise<{ readonly etag: string; readonly bindings: readonly Holding[] } | undefined>;
  beat(heartbeat: Heartbeat): Promise<void>;
}

interface Place {
  readonly server: URL;
  readonly cluster: string;
  /** Read for each request, so that a rotated token is used without a restart. */
  readonly token: () => string;
}

const CALL_MS = 10_000;
const MAX_ANSWER = 32 * 1024 * 1024;

/** The two calls of Atrium that an agent needs. */
export function createAtriumClient({ server, cluster, token }: Place): AtriumClient {
  const base = new URL(`${server.pathname.replace(/\/$/, '')}/api/v1/clusters/${encodeURIComponent(cluster)}`, server);
  return {
    async bindings(etag) {
      const answer = await send('GET', 'bindings', etag === undefined ? {} : { 'If-None-Match': etag });
      if (answer.status === 304) return undefined;
      const text = await answer.text();
      if (text.length > MAX_ANSWER) throw new AppError('upstream', 'Atrium: the answer is too long');
      if (answer.status !== 200) throw rejected(answer.status, text);
      const { bindings } = JSON.parse(text) as { bindings?: unknown };
      if (!Array.isArray(bindings) || !bindings.every(isHolding)) {
        throw new AppError('upstream', 'Atrium: the answer has no bindings: is the address that of Atrium?');
      }
      return { etag: answer.headers.get('etag') ?? '', bindings };
    },

    async beat(heartbeat) {
      const answer = await send('POST', 'heartbeat', { 'Content-Type': 'application/json' }, JSON.stringify(heartbeat));
      if (answer.status !== 204) throw rejected(answer.status, await answer.text());
    },
  };

  function send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Response> {
    return fetch(`${base}/${path}`, {
      method,
      headers: { Authorization: `token ${token()}`, Accept: 'application/json', ...headers },
      // The token goes to the server that was named, and to no other.
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_MS),
      ...(body !== undefined && { body }),
    });
  }
}

function rejected(status: number, text: string): AppError {
  let message = `status ${status}`;
  try {
    const { message: said } = JSON.parse(text) as { message?: unknown };
    if (typeof said === 'string') message = said.slice(0, 300);
  } catch {
    // A proxy in between may answer with a page.
  }
  return new AppError(status === 401 ? 'unauthenticated' : 'upstream', `Atrium: ${message}`);
}

function isHolding(value: unknown): value is Holding {
  if (typeof value !== 'object' || value === null) return false;
  const { user, relation, namespaces, expires_at: end } = value as Record<string, unknown>;
  const isPlaced =
    namespaces === null || (Array.isArray(namespaces) && namespaces.every((one) => typeof one === 'string'));
  // What cannot be read must not last for ever.
  const isTimed = end === null || (typeof end === 'string' && !Number.isNaN(Date.parse(end)));
  return typeof user === 'string' && user !== '' && typeof relation === 'string' && isPlaced && isTimed;
}
