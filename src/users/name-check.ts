import { judgeName, nameKey } from '../identity/account-names.ts';
import { isAddress } from './email-address.ts';

export type Validation = 'VALID' | 'USER_EXISTS' | 'RESERVED' | 'INVALID' | 'NOT_ALLOWED';

export type AccountKind = 'user' | 'organization';

export interface NameCheckStore {
  takenBy(name: string): Promise<AccountKind | undefined>;
  isAddressTaken(address: string): Promise<boolean>;
}

export type NameCheck = ReturnType<typeof createNameCheck>;

/** Whether a name or an address is available now. The rules are the same as for creating one. */
export function createNameCheck(store: NameCheckStore, isDomainAllowed: (address: string) => boolean) {
  return { username, organization, email };

  async function username(name: string): Promise<Validation> {
    const verdict = judgeName(name);
    if (verdict !== 'VALID') return verdict;
    return (await store.takenBy(name)) === undefined ? 'VALID' : 'USER_EXISTS';
  }

  /** `present` is the organization's own name if it is being renamed; keeping it is not a conflict. */
  async function organization(name: string, present: string | undefined): Promise<Validation> {
    const isKept = present !== undefined && nameKey(present) === name.toLowerCase();
    if (isKept && judgeName(name) !== 'INVALID' && (await store.takenBy(name)) === 'organization') return 'VALID';
    return await username(name);
  }

  async function email(address: string): Promise<Validation> {
    if (!isAddress(address)) return 'INVALID';
    if (!isDomainAllowed(address)) return 'NOT_ALLOWED';
    return (await store.isAddressTaken(address)) ? 'USER_EXISTS' : 'VALID';
  }
}
