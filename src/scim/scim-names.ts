import { AppError } from '../base/errors.ts';
import type { Tenant } from './scim-users.ts';

/** An email domain, and the name of the organization that the operator has assigned it to. */
export interface AssignedDomain {
  readonly organization: string;
  /** With it, the operator says which organization of that name is meant. */
  readonly organizationId?: bigint;
  readonly domain: string;
}

export interface ScimNameStore {
  /** Returns the organization that the name belongs to: the first one, unless the operator has confirmed another. */
  bind(name: string, organizationId: bigint, isConfirmed: boolean): Promise<bigint>;
}

export type ScimNames = ReturnType<typeof createScimNames>;

/**
 * Settings can name organizations only, and names change hands. So the first organization that is provisioned under an
 * assigned name keeps what was assigned to it: another one that has the name later is rejected, until the operator
 * writes its ID into the setting.
 */
export function createScimNames(domains: readonly AssignedDomain[], store: ScimNameStore) {
  const byName = Map.groupBy(domains, ({ organization }) => organization);
  const bound = new Map<string, bigint>();
  return { require };

  /** Organizations without a domain can be provisioned too, but own no accounts. */
  async function require({ id, name }: Tenant): Promise<void> {
    const key = name.toLowerCase();
    const assigned = byName.get(key);
    if (assigned === undefined) return;
    const confirmed = assigned.map(({ organizationId }) => organizationId).find((one) => one !== undefined);
    const owner = confirmed ?? bound.get(key) ?? (await store.bind(key, id, false));
    if (owner !== id) throw anotherOne(name, id);
    if (confirmed !== undefined && bound.get(key) !== id) await store.bind(key, id, true);
    bound.set(key, id);
  }
}

function anotherOne(name: string, id: bigint): AppError {
  const message = `SCIM_DOMAINS means another organization that had the name ${name}`;
  const advice = `if this one is meant now, the operator of the server confirms it with ${name}#${id}:DOMAIN`;
  return new AppError('forbidden', `${message}; ${advice}`);
}
