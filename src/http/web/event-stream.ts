import type { FastifyReply, FastifyRequest } from 'fastify';

/** One event of a stream. Without an ID, the position of the client stays where it is. */
export interface StreamEvent {
  readonly event: string;
  readonly id?: string | undefined;
  /** One line of JSON. */
  readonly data: string;
}

/** A response that lasts: events, one after the other, as the browser's EventSource reads them. */
export interface EventStream {
  readonly isOpen: boolean;
  send(event: StreamEvent): void;
  /** A line that clients ignore, so that no proxy takes the connection for dead. */
  comment(): void;
  end(): void;
  /** Calls immediately if the client is gone already. */
  onClose(listener: (isSlow: boolean) => void): void;
}

/** A client that is this many bytes behind is disconnected: it can resume, and memory is not for those who do not read. */
const MAX_BUFFERED = 1024 * 1024;
/** How long a client waits before it connects again. */
const RETRY_MS = 1000;

/**
 * Takes over the response. Neither the timeout of requests nor the rate limit applies from here on. The measurement of
 * durations would be about how long users look at a page, so only the time to the first byte is counted.
 */
export function openEventStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { began, maxBuffered = MAX_BUFFERED }: { readonly began: number; readonly maxBuffered?: number },
): EventStream {
  const { raw } = reply;
  let isSlow = false;
  reply.hijack();
  request.durations?.observe(request.method, 200, (performance.now() - began) / 1000);
  request.durations = { observe: () => undefined };
  raw.setHeaders(new Map(Object.entries({ ...reply.getHeaders(), ...EVENT_STREAM_HEADERS })) as never);
  raw.writeHead(200);
  raw.write(`retry: ${RETRY_MS}\n\n`);

  return {
    get isOpen() {
      return !raw.destroyed && !raw.writableEnded;
    },
    send: ({ event, id, data }) => write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`),
    comment,
    end: () => raw.end(),
    onClose(listener) {
      if (raw.destroyed) listener(isSlow);
      else raw.once('close', () => listener(isSlow));
    },
  };

  /**
   * Thousands of idle streams get one each. With nothing else under way, the bytes of the chunk go to the socket as they
   * are: what Node does for each chunk takes most of the time of an idle stream.
   */
  function comment(): void {
    const isQuiet = raw.chunkedEncoding && raw.writableLength === 0 && !raw.writableEnded;
    if (isQuiet && raw.socket?.writable) raw.socket.write(COMMENT_CHUNK);
    else write(COMMENT);
  }

  function write(text: string): void {
    if (raw.destroyed || raw.writableEnded) return;
    raw.write(text);
    if (raw.writableLength <= maxBuffered) return;
    isSlow = true;
    raw.destroy();
  }
}

const COMMENT = ':\n\n';
const COMMENT_CHUNK = Buffer.from(`${COMMENT.length.toString(16)}\r\n${COMMENT}\r\n`);

/** Proxies must neither collect events nor compress them, which delays them, too. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};
