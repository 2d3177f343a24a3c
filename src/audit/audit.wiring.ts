import type { FastifyRequest } from 'fastify';
import type { Judge } from '../authz/judge.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { auditRoutes } from './audit.routes.ts';
import { createAuditStore } from './audit.store.ts';
import { createAudit } from './audit.ts';
import { denialOf } from './denials.routes.ts';
import { createDenialStore } from './denials.store.ts';
import { createDenials } from './denials.ts';
import { createObjectNameStore } from './object-names.store.ts';
import { createObjectNames } from './object-names.ts';

export function wireAudit({ db, log, revisions }: Infrastructure, judge: Judge) {
  const denials = createDenials({
    store: createDenialStore(revisions.write),
    onError: (error) => log.warn({ err: error }, 'denied requests were not written to the audit log; retrying'),
  });
  const audit = createAudit(createAuditStore(db), () => denials.flush(new Date()));
  const namesFor = createObjectNames(createObjectNameStore(db), judge);
  return {
    mount: (scope: Scope) => auditRoutes(scope, audit, namesFor),
    denials,
    /** Sees every rejected request of the platform. */
    noteRejection(request: FastifyRequest, error: unknown): void {
      const denial = denialOf(request, error);
      if (denial) denials.note(denial, new Date());
    },
  };
}
