import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Thrown for a response that is too large, or whose size cannot be told while it is read. */
export class UnacceptableResponse extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnacceptableResponse';
  }
}

export interface ResponseLimits {
  /** Of one response, with its headers. */
  readonly maxBytes: number;
  /** Of all responses together. */
  readonly maxTotalBytes: number;
}

/**
 * A body can be sent one byte at a time, and each piece costs as much as a long one. A server that sends what it has sends
 * far fewer.
 */
export const MAX_PIECES = 10_000;

/**
 * Counts what arrives on the connections of an agent, and ends a connection that delivers too much. Libraries gather a
 * whole response before they parse it, so nothing behind the connection can stop in time.
 *
 * Compressed responses are not asked for and not accepted: a small one could become one of any size.
 */
export function createResponseMeter({ maxBytes, maxTotalBytes }: ResponseLimits) {
  const read = new WeakMap<Duplex, number>();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  let total = 0;
  return {
    watchConnection,
    watchRequest,
    /** Rejects when a connection is ended. Most libraries report only that it was, and some never do. */
    failed,
  };

  /** Counts where data enters the stream: some libraries take another listener for a response that is not complete. */
  function watchConnection(connection: Duplex): void {
    const push = connection.push.bind(connection);
    connection.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      const max = chunk === null ? undefined : exceeded(connection, chunk.length);
      if (max === undefined) return push(chunk, encoding);
      end(connection, `the response is larger than ${sizeText(max)}`);
      return false;
    };
  }

  function end(stream: Duplex | IncomingMessage, why: string): void {
    const fault = new UnacceptableResponse(why);
    reject(fault);
    stream.destroy(fault);
  }

  /** The limit that is exceeded with this many more bytes, if one is. */
  function exceeded(connection: Duplex, more: number): number | undefined {
    const bytes = (read.get(connection) ?? 0) + more;
    read.set(connection, bytes);
    total += more;
    if (bytes > maxBytes) return maxBytes;
    return total > maxTotalBytes ? maxTotalBytes : undefined;
  }

  function watchRequest(request: ClientRequest): void {
    if (!request.headersSent) request.setHeader('Accept-Encoding', 'identity');
    // A connection that is used again starts from zero.
    request.once('socket', (connection) => read.set(connection, 0));
    request.prependOnceListener('response', (response: IncomingMessage) => {
      const encoding = response.headers['content-encoding'] ?? 'identity';
      if (!/^(identity)?$/i.test(encoding.trim())) end(response, 'the response is compressed');
      else watchPieces(response);
    });
  }

  /** Counts where they enter, as for connections: all of them may arrive before anything is read. */
  function watchPieces(response: IncomingMessage): void {
    const push = response.push.bind(response);
    let pieces = 0;
    response.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk === null || ++pieces <= MAX_PIECES) return push(chunk, encoding);
      if (!response.destroyed) end(response, 'the response comes in too many pieces');
      return false;
    };
  }
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / (1024 * 1024)} MiB`;
}
