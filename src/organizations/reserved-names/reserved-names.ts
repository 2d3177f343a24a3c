import { AppError } from '../../base/errors.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import type { Actor } from '../../changes/audit-entry.ts';

/** A name that an account gave up, and that no other account can have yet. */
export interface ReservedName {
  readonly name: string;
  readonly kind: 'user' | 'organization';
  readonly accountId: bigint;
  /** What the account is called now; empty if it was deleted. */
  readonly accountName: string;
  readonly reservedAt: Date;
  readonly expiresAt: Date;
}

export interface ReservedNameStore {
  /** Those that have not expired, ordered by name. */
  list(request: PageRequest): Promise<Page<ReservedName>>;
  /** Returns false if the name is not reserved. */
  release(name: string, actor: Actor): Promise<boolean>;
}

export type ReservedNames = ReturnType<typeof createReservedNames>;

/** The names of accounts that were renamed or deleted, as site administrators manage them. */
export function createReservedNames(store: ReservedNameStore) {
  return { list: store.list, release };

  async function release(name: string, actor: Actor): Promise<void> {
    if (!(await store.release(name, actor))) throw new AppError('notFound', 'name is not reserved');
  }
}
