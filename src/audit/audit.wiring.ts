import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { auditRoutes } from './audit.routes.ts';
import { createAuditStore } from './audit.store.ts';
import { createAudit } from './audit.ts';

export function wireAudit({ db }: Infrastructure) {
  const audit = createAudit(createAuditStore(db));
  return { mount: (scope: Scope) => auditRoutes(scope, audit) };
}
