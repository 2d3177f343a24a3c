import type { Historian, TimeMachine } from '../authz/time-machine.ts';
import type { Past, PastRole } from '../history/past.ts';
import { findPermission, inCatalogOrder } from './catalog.ts';
import type { StoredRole } from './role-plan.ts';
import { type Role, roleNotFound } from './roles.ts';

export type PastRoles = ReturnType<typeof createPastRoles>;

/** Custom roles as they were, for readers of the audit log, with what has changed since. */
export function createPastRoles(
  past: Pick<Past, 'rolesAt'>,
  timeMachine: Pick<TimeMachine, 'requireReader' | 'changesSince'>,
) {
  return { list, get };

  async function list(historian: Historian, at: Date) {
    await timeMachine.requireReader(historian);
    const { organizationId } = historian;
    const roles = (await past.rolesAt(organizationId, at)).map((role) => toRole(organizationId, role));
    return { roles, since: await timeMachine.changesSince(historian, at) };
  }

  async function get(historian: Historian, at: Date, id: bigint) {
    const { roles, since } = await list(historian, at);
    const role = roles.find((one) => one.id === id);
    if (!role) throw roleNotFound();
    return { role, since };
  }
}

/** Its version of then is not known, nor when assignments were to end. A role of the past cannot be changed. */
function toRole(organizationId: bigint, { permissions, ...role }: PastRole): Role & StoredRole {
  const found = inCatalogOrder(permissions.flatMap((pair) => findPermission(pair) ?? []));
  return { ...role, organizationId, permissions: found, version: 0, teamEnds: new Map() };
}
