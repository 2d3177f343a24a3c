import { judgeName } from '../../identity/account-names/account-names.ts';
import type { IsAssigned } from '../../identity/account-names/assigned-names.ts';
import type { Person } from '../../identity/callers.ts';
import { isAddress } from '../emails/email-address.ts';

export type Validation = 'VALID' | 'USER_EXISTS' | 'RESERVED' | 'INVALID' | 'NOT_ALLOWED';

export type AccountKind = 'user' | 'organization';

/** The account that has a name, or had it until recently. */
export interface NameHolder {
  readonly accountId: bigint;
  readonly kind: AccountKind;
  readonly isFormer: boolean;
  /** A user who was erased from the audit log. */
  readonly isErased: boolean;
}

export interface NameCheckStore {
  holderOf(name: string): Promise<NameHolder | undefined>;
  isAddressTaken(address: string): Promise<boolean>;
}

export type NameCheck = ReturnType<typeof createNameCheck>;

/** Whether a name or an address is available now. The rules are the same as for creating one. */
export function createNameCheck(
  store: NameCheckStore,
  isDomainAllowed: (address: string) => boolean,
  isAssigned: IsAssigned = () => false,
) {
  return { username, organization, email };

  /** Site administrators can give the name of a deleted user to another one, but not that of an erased user. */
  async function username(name: string, caller: NameAsker): Promise<Validation> {
    const verdict = judgeName(name);
    if (verdict !== 'VALID') return verdict;
    const holder = await store.holderOf(name);
    const isFree = holder?.isFormer && !holder.isErased && holder.kind === 'user';
    return caller.isAdmin && isFree ? 'VALID' : verdictOn(holder);
  }

  async function anyName(name: string): Promise<Validation> {
    const verdict = judgeName(name);
    return verdict === 'VALID' ? verdictOn(await store.holderOf(name)) : verdict;
  }

  /**
   * `present` is the organization's own name if it is being renamed; keeping it is not a conflict. Its members also
   * learn that it can take back a name that it had before.
   */
  async function organization(name: string, present: string | undefined, caller: NameAsker): Promise<Validation> {
    const renamed = present === undefined ? undefined : await store.holderOf(present);
    if (renamed?.kind !== 'organization' || renamed.isFormer || judgeName(name) === 'INVALID')
      return await newName(name, caller);
    const holder = await store.holderOf(name);
    const isOwn = holder?.accountId === renamed.accountId;
    const isRejected = holder?.isFormer && !caller.isAdmin && isAssigned(name);
    if (isOwn && !isRejected && (!holder.isFormer || isIn(caller, renamed.accountId))) return 'VALID';
    return await newName(name, caller);
  }

  /** Only site administrators give organizations the names that settings refer to. */
  async function newName(name: string, { isAdmin }: NameAsker): Promise<Validation> {
    const verdict = await anyName(name);
    return verdict === 'VALID' && !isAdmin && isAssigned(name) ? 'RESERVED' : verdict;
  }

  async function email(address: string): Promise<Validation> {
    if (!isAddress(address)) return 'INVALID';
    if (!isDomainAllowed(address)) return 'NOT_ALLOWED';
    return (await store.isAddressTaken(address)) ? 'USER_EXISTS' : 'VALID';
  }
}

/** Who asks, and the organizations that they are in. */
type NameAsker = Pick<Person, 'isAdmin' | 'organizations'>;

function isIn({ isAdmin, organizations }: NameAsker, organizationId: bigint): boolean {
  return isAdmin || organizations.has(organizationId);
}

function verdictOn(holder: NameHolder | undefined): Validation {
  if (holder === undefined) return 'VALID';
  return holder.isFormer ? 'RESERVED' : 'USER_EXISTS';
}
