import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { networkOf } from '../../base/ip.ts';
import { oversee } from '../../base/scheduling/slices.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import { type Access, levelOf } from '../admission/access.ts';
import { hungUp } from '../error-format.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route may take long, also if it writes. Says what to ask for less of: "name fewer users". A route that only
     * reads has a budget in any case, and without this it has no advice to give.
     */
    costly?: string;
    /**
     * Called before the handler, without a budget. Returns the reply if it has answered, otherwise undefined. For what is
     * usually in memory: it must take microseconds, and throws nothing but what the handler would. The context of a
     * budget takes as long.
     */
    atHand?: (request: FastifyRequest, reply: FastifyReply) => unknown;
  }
}

/** A request that has used more than this is an expensive one, of which a caller can have few at a time. */
const EXPENSIVE_MS = 100;
const MAX_EXPENSIVE = 2;
const RETRY_AFTER = 1;
const ADVICE = 'ask for less';

export interface BudgetRoute {
  readonly method: string;
  readonly access: Access;
  readonly costly: string | undefined;
  /** Requests with `?dry_run=true` change nothing. */
  readonly hasDryRun: boolean;
  readonly atHand?: ((request: FastifyRequest, reply: FastifyReply) => unknown) | undefined;
}

export type Budget = ReturnType<typeof createBudget>;

/**
 * Limits the processor time of requests, so that no caller can keep the server to themselves.
 *
 * 1. A request that exceeds its budget is rejected, with advice. Only its own slices count (base/scheduling/slices.ts).
 * 2. A caller has at most two expensive requests at a time in a process. A third is rejected, and can be repeated. It does
 *    not wait, because it may hold a connection to the database that the other two wait for.
 * 3. Work for a client that has hung up ends with its slice.
 * 4. Requests that change something are finished, unless the route declares that it is costly. Dry runs change nothing.
 */
export function createBudget(budgetMs: number) {
  /** By caller. */
  const expensive = new Map<string, number>();
  return { around };

  function around(route: BudgetRoute, handler: RouteHandlerMethod): RouteHandlerMethod {
    const { method, access, costly, hasDryRun, atHand } = route;
    const isLimited = costly !== undefined || isReading(access, method);
    if (!isLimited && !hasDryRun && !atHand) return handler;
    const advice = costly ?? ADVICE;
    return function within(request, reply) {
      if (atHand?.(request, reply) !== undefined) return undefined;
      if (!isLimited && !(hasDryRun && isDryRun(request))) return handler.call(this, request, reply);
      let isCounted = false;
      const watch = (usedMs: number) => {
        if (reply.raw.destroyed && !reply.raw.writableFinished) throw hungUp();
        if (usedMs > budgetMs) throw tooCostly(budgetMs, advice);
        if (usedMs <= EXPENSIVE_MS || isCounted) return;
        count(request, reply);
        isCounted = true;
      };
      return oversee(watch, () => handler.call(this, request, reply));
    };
  }

  function count(request: FastifyRequest, reply: FastifyReply): void {
    const key = keyOf(request);
    const running = expensive.get(key) ?? 0;
    if (running >= MAX_EXPENSIVE) throw tooManyAtATime();
    expensive.set(key, running + 1);
    reply.raw.once('close', () => {
      const left = (expensive.get(key) ?? 1) - 1;
      if (left === 0) expensive.delete(key);
      else expensive.set(key, left);
    });
  }
}

/** A response that lasts is never done. */
function isReading(access: Access, method: string): boolean {
  if (access.who === 'webhook') return false;
  if (access.who === 'anyone') return method === 'GET';
  return levelOf(access, { method }) === 'read' && access.lasts !== true;
}

function isDryRun({ query }: FastifyRequest): boolean {
  return (query as { readonly dry_run?: unknown }).dry_run === true;
}

/** A user or a robot, whichever token they use. */
function keyOf({ caller, ip }: FastifyRequest): string {
  return caller ? subjectOfPrincipal(caller.person.id) : networkOf(ip);
}

function tooCostly(budgetMs: number, advice: string): AppError {
  const message = `the answer takes more than ${budgetMs / 1000} s of processor time: ${advice}`;
  return new AppError('malformed', message, { reason: 'too_costly', errors: [{ field: 'request', message }] });
}

function tooManyAtATime(): AppError {
  return new AppError('limited', `you have ${MAX_EXPENSIVE} expensive requests running already; wait for one to end`, {
    reason: 'too_many_expensive',
    retryAfter: RETRY_AFTER,
  });
}
