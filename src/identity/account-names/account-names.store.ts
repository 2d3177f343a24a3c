import { isUniqueViolation, isViolationAbout } from '../../db/db.ts';
import type { NameConflict } from './account-names.ts';

/** The conflict that the database reported, if it is one. A trigger of `account` reports names that are reserved. */
export function nameConflictIn(error: unknown): NameConflict | undefined {
  if (!isUniqueViolation(error, 'account_name')) return undefined;
  return isViolationAbout(error, 'reserved_name') ? 'name reserved' : 'name taken';
}

export async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | NameConflict> {
  try {
    return await work();
  } catch (error) {
    const conflict = nameConflictIn(error);
    if (conflict === undefined) throw error;
    return conflict;
  }
}
