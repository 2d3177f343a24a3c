import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireMatch } from './etag.ts';

interface Versioned {
  readonly id: bigint;
  readonly version: number;
}

/** Depends on the thing and its version only, so that every caller sees the same. */
function etagOf({ id, version }: Versioned): string {
  return `"${id}-${version}"`;
}

/** Refuses when the thing is not the one that the caller last saw. */
export function unchanged(request: FastifyRequest): (current: Versioned) => void {
  return (current) => requireMatch(request, etagOf(current));
}

export function showVersion(reply: FastifyReply, thing: Versioned): void {
  reply.header('ETag', etagOf(thing));
}
