import type { Directory } from '../directory/directory.group.ts';
import type { Ground } from '../ground.ts';
import type { Scope } from '../http/server.ts';
import { auditRoutes } from './audit.routes.ts';
import { createAuditStore } from './audit.store.ts';
import { createAudit } from './audit.ts';

/** What the rules of this group ask the engine: whether a person holds a relation in an organization. */
export interface Judge {
  holds(
    personId: bigint,
    organizationId: bigint,
    relation: string,
    object: { readonly type: 'organization' | 'team'; readonly id: bigint },
  ): Promise<boolean>;
}

/** Group 4, put together: running the platform. */
export function createAdministration({ db }: Ground, _directory: Directory, _judge: Judge) {
  const audit = createAudit(createAuditStore(db));
  return { mount };

  function mount(scope: Scope): void {
    auditRoutes(scope, audit);
  }
}
