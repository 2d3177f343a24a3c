import type { Evaluations } from '../authzen/evaluation.ts';
import type { Scope } from '../http/server.ts';
import { forwardRoutes } from './forward.routes.ts';
import { createForwarding } from './forward.ts';

/** Forward authentication, for proxies in front of applications. */
export function wireForward(evaluations: Evaluations) {
  const forwarding = createForwarding(evaluations);
  return { mount: (scope: Scope) => forwardRoutes(scope, forwarding) };
}
