import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';

/** Refuses when the caller says which version they know (`If-Match`) and the present one is another. */
export function requireMatch(request: FastifyRequest, etag: string): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const known = header.split(',').map((one) => one.trim());
  if (!known.includes(etag)) throw new AppError('stale', 'it was changed by somebody else: read it again');
}

export interface Versioned {
  readonly id: bigint;
  readonly version: number;
  /** Shown with the thing, but stored with others, whose changes do not raise its version. */
  readonly roleIds?: readonly bigint[];
}

/** Depends on the thing alone, so that every caller sees the same. */
export function versionTag({ id, version, roleIds = [] }: Versioned): string {
  const roles = roleIds.length === 0 ? '' : `-${hash('sha256', roleIds.join(), 'base64url').slice(0, 16)}`;
  return `"${id}-${version}${roles}"`;
}

/** The precondition of a request, for whoever sees the thing while nobody else can change it. */
export function unchanged(request: FastifyRequest): (current: Versioned) => void {
  return (current) => requireMatch(request, versionTag(current));
}
