import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

/** Refuses when the caller says which version they know (`If-Match`) and the present one is another. */
export function requireMatch(request: FastifyRequest, etag: string): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const known = header.split(',').map((one) => one.trim());
  if (!known.includes(etag)) throw new AppError('stale', 'it was changed by somebody else: read it again');
}
