import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';

/** Rejects a request whose `If-Match` names a version other than the current one. */
export function requireMatch(request: FastifyRequest, etag: string): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const known = header.split(',').map((one) => one.trim());
  if (!known.includes(etag)) throw new AppError('stale', 'the object has changed since you read it: read it again');
}

export interface Versioned {
  readonly id: bigint;
  readonly version: number;
  /** Part of the response, but stored elsewhere: changing them does not raise the version. */
  readonly roleIds?: readonly bigint[];
}

/** Depends on the object only, so that every caller sees the same tag. */
export function versionEtag({ id, version, roleIds = [] }: Versioned): string {
  const roles = roleIds.length === 0 ? '' : `-${hash('sha256', roleIds.join(), 'base64url').slice(0, 16)}`;
  return `"${id}-${version}${roles}"`;
}

/** The precondition of a request, to be checked while no other request can change the object. */
export function unchanged(request: FastifyRequest): (current: Versioned) => void {
  return (current) => requireMatch(request, versionEtag(current));
}

export function showEtag(reply: FastifyReply, current: Versioned): void {
  reply.header('ETag', versionEtag(current));
}

/** Whether the client has this version already, by its `If-None-Match`. */
export function knowsEtag(request: Pick<FastifyRequest, 'headers'>, etag: string): boolean {
  const header = request.headers['if-none-match'];
  if (header === undefined) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
