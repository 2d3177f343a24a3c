import type { Directory } from '../directory/directory.group.ts';
import type { Ground } from '../ground.ts';
import type { Scope } from '../http/server.ts';
import { auditRoutes } from './audit.routes.ts';
import { createAuditStore } from './audit.store.ts';
import { createAudit } from './audit.ts';
import type { Judge as Engine } from './holdings.ts';
import { createRegisters } from './registers.group.ts';
import type { RolePort } from './team-roles.ts';
import { mountThings } from './things.group.ts';

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
export function createAdministration(ground: Ground, directory: Directory, judge: Judge & Engine, roles: RolePort) {
  const registers = createRegisters(ground, directory, judge, roles);
  const audit = createAudit(createAuditStore(ground.db));
  return { mount };

  function mount(scope: Scope): void {
    registers.mount(scope);
    mountThings(scope, ground, directory, judge);
    auditRoutes(scope, audit);
  }
}
