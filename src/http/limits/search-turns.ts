import type { FastifyRequest } from 'fastify';
import { networkOf } from '../../base/ip.ts';
import { createTurns } from '../../base/scheduling/turns.ts';
import { subjectOfPrincipal } from '../../changes/principal.ts';
import type { Scope } from '../server.ts';

/** Three of the ten connections to the database, and the other seven are for everything else. */
const LIMITS = { concurrency: 3, perCaller: 2, waiting: 100 };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Searches the whole deployment, so its requests take turns: see `takeSearchTurns`. */
    isSearch?: boolean;
  }
}

/** Few searches run at the same time, and callers take turns. For the routes that are mounted after this. */
export function takeSearchTurns(app: Scope): void {
  const turns = createTurns(LIMITS);
  app.addHook('onRoute', (route) => {
    if (route.config?.isSearch !== true) return;
    const { handler } = route;
    route.handler = async function search(request, reply) {
      return await turns(callerKey(request), async () => await handler.call(this, request, reply));
    };
  });
}

function callerKey({ caller, ip }: FastifyRequest): string {
  return caller ? subjectOfPrincipal(caller.person.id) : networkOf(ip);
}
