import { judgeName } from '../identity/account-names.ts';
import type { Person } from '../identity/callers.ts';
import { isAddress } from './email-address.ts';

export type Validation = 'VALID' | 'USER_EXISTS' | 'RESERVED' | 'INVALID' | 'NOT_ALLOWED';

export type AccountKind = 'user' | 'organization';

/** The account that has a name, or that it is reserved for. */
export interface NameHolder {
  readonly accountId: bigint;
  /** Absent if the name is only reserved. */
  readonly kind?: AccountKind;
}

export interface NameCheckStore {
  holderOf(name: string): Promise<NameHolder | undefined>;
  isAddressTaken(address: string): Promise<boolean>;
}

export type NameCheck = ReturnType<typeof createNameCheck>;

/** Whether a name or an address is available now. The rules are the same as for creating one. */
export function createNameCheck(store: NameCheckStore, isDomainAllowed: (address: string) => boolean) {
  return { username, organization, email };

  async function username(name: string): Promise<Validation> {
    const verdict = judgeName(name);
    return verdict === 'VALID' ? verdictOn(await store.holderOf(name)) : verdict;
  }

  /**
   * `present` is the organization's own name if it is being renamed; keeping it is not a conflict. Its members also
   * learn that it can take back a name that it had before.
   */
  async function organization(name: string, present: string | undefined, member: Member): Promise<Validation> {
    const renamed = present === undefined ? undefined : await store.holderOf(present);
    if (renamed?.kind !== 'organization' || judgeName(name) === 'INVALID') return await username(name);
    const holder = await store.holderOf(name);
    const isOwn = holder?.accountId === renamed.accountId;
    if (isOwn && (holder.kind !== undefined || isIn(member, renamed.accountId))) return 'VALID';
    return await username(name);
  }

  async function email(address: string): Promise<Validation> {
    if (!isAddress(address)) return 'INVALID';
    if (!isDomainAllowed(address)) return 'NOT_ALLOWED';
    return (await store.isAddressTaken(address)) ? 'USER_EXISTS' : 'VALID';
  }
}

/** The caller, and the organizations that they are in. */
type Member = Pick<Person, 'isAdmin' | 'organizations'>;

function isIn({ isAdmin, organizations }: Member, organizationId: bigint): boolean {
  return isAdmin || organizations.has(organizationId);
}

function verdictOn(holder: NameHolder | undefined): Validation {
  if (holder === undefined) return 'VALID';
  return holder.kind === undefined ? 'RESERVED' : 'USER_EXISTS';
}
