import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { networkOf, siteOf } from '../../base/ip.ts';
import { SafeResponse } from '../safe-response.ts';
import { type Allowance, createAllowance } from './allowance.ts';
import { NETWORKS_A_SITE } from './brake.ts';

const WINDOW_SECONDS = 60;

/** Makes an allowance common to all workers of a server, by its name. */
export type Share = (name: string, allowance: Allowance) => Allowance;

/** For a server that is one process. */
export const unshared: Share = (_name, allowance) => allowance;

/**
 * Counts requests by credential, or by network if there is none, and reports in each response what is left. Requests
 * without a credential are also counted by site, so that an IPv6 site cannot use the allowance of each of its networks.
 */
export function createRateLimit(perMinute: number, share: Share = unshared) {
  if (perMinute === 0) return () => undefined;
  const allowance = share('callers', createAllowance(perMinute, WINDOW_SECONDS * 1000));
  const sites = share('sites', createAllowance(perMinute * NETWORKS_A_SITE, WINDOW_SECONDS * 1000));
  const policy = `"default";q=${perMinute};w=${WINDOW_SECONDS}`;

  return function count(request: FastifyRequest, reply: FastifyReply): void {
    const credential = request.caller?.credentialKey;
    const key = credential ?? networkOf(request.ip);
    const now = performance.now();
    const site = credential === undefined ? siteOf(request.ip) : undefined;
    const isSiteFree = site === undefined || sites.take(site, now);
    const granted = isSiteFree && allowance.take(key, now);
    const wait = granted ? WINDOW_SECONDS : isSiteFree ? allowance.wait(key, now) : sites.wait(site, now);
    if (!granted && isSiteFree && site !== undefined) sites.give(site);
    const left = `"default";r=${allowance.left(key, now)};t=${wait}`;
    if (reply.raw instanceof SafeResponse) {
      reply.raw.addLine('ratelimit-policy', policy);
      reply.raw.addLine('ratelimit', left);
    } else reply.header('RateLimit-Policy', policy).header('RateLimit', left);
    if (!granted) throw new AppError('limited', 'too many requests, try again later', { retryAfter: wait });
  };
}
