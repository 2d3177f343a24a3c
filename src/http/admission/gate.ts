import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { RouteDurations } from '../../base/metrics.ts';
import type { Scope } from '../server.ts';
import { timestamp } from '../wire/schemas.ts';
import { type Access, type Caller, callerOf } from './access.ts';
import type { Admit } from './admission.ts';
import type { createRouteBook } from './route-book.ts';

type Count = (request: FastifyRequest, reply: FastifyReply) => void;
/** When the token of the request expires. Only if that is soon. */
export const EXPIRY_HEADER = 'X-Token-Expires-At';

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/**
 * The entry to a route: its caller is identified or rejected, and counted either way. Uses no promise if none is
 * needed. The response to a token that ends within `noticeMs` says so, also if the request is rejected.
 */
export function createGate(access: Access, admit: Admit, count: Count, durations: RouteDurations, noticeMs = 0): Hook {
  // A marketplace takes a 429 as final, so its deliveries are never put off.
  const isCounted = access.who !== 'webhook';
  const hasOwnAllowance = 'hasOwnAllowance' in access && access.hasOwnAllowance === true;
  const isForProxies = 'isForProxies' in access && access.isForProxies === true;
  const isLasting = 'lasts' in access && access.lasts === true;
  return function gate(request, reply, done) {
    request.durations = durations;
    if (isLasting) request.readmit = () => readmit(request);
    admit(request, (rejection) => {
      try {
        // An API server asks about every request of its users, all with the token of one robot. All users of a proxy
        // have its address, so strangers there would use up the allowance of its other users.
        if (isCounted && (isForProxies ? request.caller : !(hasOwnAllowance && request.caller))) count(request, reply);
      } catch (limited) {
        done(limited as Error);
        return;
      }
      const caller = request.caller ?? request.identified;
      if (caller) {
        if (caller.csrf !== undefined && request.caller) reply.header('X-Csrf-Token', caller.csrf);
        if (caller.until !== null && caller.via === 'token') announceEnd(reply, caller.until);
      }
      done(rejection as Error | undefined);
    });
  };

  function announceEnd(reply: FastifyReply, until: Date): void {
    if (until.getTime() - Date.now() <= noticeMs) reply.header(EXPIRY_HEADER, timestamp(until));
  }

  function readmit(request: FastifyRequest): Promise<Caller> {
    return new Promise((resolve, reject) =>
      admit(request, (rejection) => (rejection === undefined ? resolve(callerOf(request)) : reject(rejection))),
    );
  }
}

/** Rejects unknown paths before the body is read. */
export function rejectUnknownPaths(app: Scope, book: ReturnType<typeof createRouteBook>, count: Count): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    try {
      count(request, reply);
      done(book.unknownPath(request.method, request.url));
    } catch (limited) {
      done(limited as Error);
    }
  });
}
