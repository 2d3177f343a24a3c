import type { FastifyReply, FastifyRequest } from 'fastify';
import { knowsEtag } from './etag.ts';

const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * Sends bytes that are completely in memory: all, the one requested range, or nothing if the client has them already.
 */
export function sendBytes(request: FastifyRequest, reply: FastifyReply, bytes: Buffer, etag: string): FastifyReply {
  reply.header('ETag', etag).header('Accept-Ranges', 'bytes');
  if (knowsEtag(request, etag)) return reply.code(304).send();
  const { range, 'if-range': ifRange } = request.headers;
  if (range === undefined || request.method === 'HEAD' || (ifRange !== undefined && ifRange !== etag)) {
    return reply.send(bytes);
  }
  const asked = RANGE.exec(range);
  // Several ranges, or another unit: sending everything is also a correct response.
  if (!asked) return reply.send(bytes);
  const [first, last] = resolve(asked, bytes.length);
  if (first > last) return reply.code(416).header('Content-Range', `bytes */${bytes.length}`).send(Buffer.alloc(0));
  return reply
    .code(206)
    .header('Content-Range', `bytes ${first}-${last}/${bytes.length}`)
    .send(bytes.subarray(first, last + 1));
}

function resolve([, from, to, suffix]: RegExpExecArray, length: number): [number, number] {
  if (suffix !== undefined) return [Math.max(0, length - Number(suffix)), Number(suffix) === 0 ? -1 : length - 1];
  const last = to === undefined ? length - 1 : Math.min(Number(to), length - 1);
  const first = Number(from);
  return first < length ? [first, last] : [1, 0];
}
