import { pipeline } from 'node:stream';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { LONG_TEXT, type Scope } from '../server.ts';

/**
 * Compresses JSON for clients that accept it.
 *
 * 1. It is done in the threads of zlib, so other requests are served meanwhile. The figures are in
 *    docs/decisions/http.md.
 * 2. A response with an ETag stays as it is: its ETag names the version for If-Match, and a strong one must not stand
 *    for two different series of bytes.
 * 3. Streams of events and files have types of their own, and stay as they are.
 */
type Encoding = 'br' | 'gzip';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
// Higher qualities take several times as long for a tenth less.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 }, chunkSize: 64 * 1024 };
const GZIP = { level: 4, chunkSize: 64 * 1024 };

export function compressResponses(scope: Scope): void {
  scope.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (!isCompressible(reply, payload)) return done(null, payload);
    addVary(reply);
    const encoding = encodingFor(String(request.headers['accept-encoding'] ?? ''));
    if (encoding === undefined) return done(null, payload);
    if (isStream(payload)) {
      reply.header('Content-Encoding', encoding);
      const compressor = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP);
      // The compressor ends with the error of its source, and the source with the connection.
      return done(
        null,
        pipeline(payload, compressor, () => undefined),
      );
    }
    const finish = (error: Error | null, compressed: Buffer) => {
      if (error) return done(error);
      reply.header('Content-Encoding', encoding).removeHeader('content-length');
      done(null, compressed);
    };
    const bytes = Buffer.from(payload as string);
    if (encoding === 'br') brotliCompress(bytes, BROTLI, finish);
    else gzip(bytes, GZIP, finish);
  });
}

function isCompressible(reply: FastifyReply, payload: unknown): boolean {
  const isLong = (typeof payload === 'string' && payload.length >= LONG_TEXT) || isStream(payload);
  if (!isLong || !JSON_TYPE.test(String(reply.getHeader('content-type') ?? ''))) return false;
  return !reply.hasHeader('etag') && !reply.hasHeader('content-encoding');
}

function isStream(payload: unknown): payload is NodeJS.ReadableStream {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload && typeof payload.pipe === 'function';
}

/** Caches must not give one client what was compressed for another. */
function addVary(reply: FastifyReply): void {
  const before = reply.getHeader('vary');
  reply.header('Vary', before === undefined ? 'Accept-Encoding' : `${before}, Accept-Encoding`);
}

/** The first of ours that the header accepts. */
function encodingFor(header: string): Encoding | undefined {
  if (accepts(header, 'br')) return 'br';
  return accepts(header, 'gzip') ? 'gzip' : undefined;
}

/** `br;q=0` declines it. */
export function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
