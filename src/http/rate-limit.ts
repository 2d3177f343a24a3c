import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { bareAddress } from '../base/ip.ts';
import { createAllowance } from './allowance.ts';

const WINDOW_SECONDS = 60;

/** Counts requests by credential, or by address if there is none, and reports in each response what is left. */
export function createRateLimit(perMinute: number) {
  if (perMinute === 0) return () => undefined;
  const allowance = createAllowance(perMinute, WINDOW_SECONDS * 1000);
  const policy = `"default";q=${perMinute};w=${WINDOW_SECONDS}`;

  return function count(request: FastifyRequest, reply: FastifyReply): void {
    const key = request.caller?.credentialKey ?? bareAddress(request.ip);
    const now = performance.now();
    const granted = allowance.take(key, now);
    const wait = granted ? WINDOW_SECONDS : allowance.wait(key, now);
    reply.header('RateLimit-Policy', policy);
    reply.header('RateLimit', `"default";r=${allowance.left(key, now)};t=${wait}`);
    if (!granted) throw new AppError('limited', 'too many requests, try again later', { retryAfter: wait });
  };
}
