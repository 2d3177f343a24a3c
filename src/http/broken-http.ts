import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** The body of a rejection, in the error format of the path. The path is undefined if not even that could be read. */
export type WordRejection = (path: string | undefined, message: string) => object;

interface BrokenHttp extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

const REQUEST_LINE = /^[A-Z-]{1,20} ([^ ?]{1,2000})/;

/** What Node cannot parse as HTTP never reaches a route, but it still gets an answer that a client can read. */
export function createBrokenHttp(word: WordRejection) {
  return { rejectRequest, watch };

  function rejectRequest(error: BrokenHttp, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, message] =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? ([431, 'headers are too large'] as const)
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? ([408, 'request took too long'] as const)
          : ([400, 'request is not valid HTTP'] as const);
    answer(socket, status, word(pathIn(error.rawPacket), message));
  }

  /** Two cases that Node would otherwise answer itself, without a body or not at all. */
  function watch(server: Server): void {
    server.on('connect', (_request, socket) => answer(socket, 400, word(undefined, 'this server is not a proxy')));
    // An unknown expectation may be ignored, and the request is answered like any other.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  }
}

function pathIn(packet: unknown): string | undefined {
  if (!Buffer.isBuffer(packet)) return undefined;
  return REQUEST_LINE.exec(packet.subarray(0, 2048).toString('latin1'))?.[1];
}

function answer(socket: Duplex, status: number, rejection: object): void {
  const body = JSON.stringify(rejection);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${randomUUID()}\r\nCache-Control: no-store\r\n\r\n${body}`,
  );
}
